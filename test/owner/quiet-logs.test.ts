/** What a daemon logs at its most talkative: every call, and no word of a memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { agent, butler, cleanUp, seededHome, up } from "../support/owner-processes.ts";

afterAll(cleanUp);

const MARK = "zanzibarine";

test("at the level debug each call has a line, and none has a word of what was said, stored, asked or refused", async () => {
  const home = await seededHome();
  const log = { BUTLER_LOG: "debug" };
  const daemon = await up(home, [], log);
  const token = readFileSync(join(home, "token"), "utf8").trim();
  const post = (path: string, body: unknown) =>
    fetch(`${daemon.address}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "x-butler-session": MARK },
      body: JSON.stringify(body),
    });
  const tool = (name: string, input: unknown) => post(`/api/butlers/general/tools/${name}`, input);

  expect((await tool("memory_store_fact", { subject: MARK, predicate: "is", content: `a ${MARK}` })).status).toBe(200);
  expect((await tool("memory_store_rule", { content: `Always ask about ${MARK}.` })).status).toBe(200);
  await tool("memory_store_episode", { content: `I moved to ${MARK} yesterday.`, butler: "general" });
  expect((await tool("memory_search", { query: `where is ${MARK}` })).status).toBe(200);
  expect((await tool("memory_context", { trigger_prompt: MARK, butler: "general" })).status).toBe(200);
  expect((await tool("memory_search", { query: MARK, [MARK]: true })).status).toBe(400);
  expect((await tool("memory_forget", { id: MARK })).status).toBe(400);
  await post(`/api/butlers/general/tools/memory_search?x=${MARK}`, `{ "query": "${MARK}`);
  await post("/butlers/general/mcp", {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: `memory_${MARK}`, arguments: { query: MARK } },
  });
  await post("/hooks/claude-code/UserPromptSubmit?butler=general", {
    ...{ session_id: MARK, cwd: `/${MARK}`, hook_event_name: "UserPromptSubmit", prompt: `Tell me of ${MARK}.` },
  });
  const line = await agent(home, log);
  await line.call("memory_search", { query: MARK });
  await line.close();
  expect((await butler(home, ["job", "run", "consolidate"], log)).code).toBe(0);
  expect((await butler(home, ["job", "run", "hygiene"], log)).code).toBe(0);

  daemon.child.kill("SIGTERM");
  const { stderr } = await daemon.ended;
  const lines = stderr.trim().split("\n");
  const calls = lines.flatMap((text) => (text.includes('"a tool was called"') ? [JSON.parse(text)] : []));
  expect(calls).toContainEqual(
    expect.objectContaining({ butler: "general", tool: "memory_search", door: "mcp", ms: expect.any(Number) }),
  );
  expect(calls).toContainEqual(
    expect.objectContaining({ tool: "memory_search", door: "http", error: "invalid_input" }),
  );
  expect(lines.some((text) => text.includes('"a job ran"'))).toBe(true);
  expect(lines.filter((text) => text.includes(MARK))).toEqual([]);
});
