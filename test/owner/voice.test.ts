/** Whose word a memory is depends on the door it came in by, and not on what is said there. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, expect, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { requestOwner as ask } from "../../src/daemon/line/request.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { openMemory } from "../../src/main/library.ts";
import { TEST_MODEL_CACHE } from "../support/model.ts";
import { agent, butler, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { PatientClient } from "../support/patient-client.ts";
import { transcript } from "../support/transcript.ts";

afterAll(cleanUp);

const claim = (door: string) => ({ content: `told by ${door}`, speaker: "user" });
const exchange = (door: string) => ({ content: `User: told by ${door}`, metadata: { format: "exchange" } });
const TOOL = "/api/butlers/general/tools/memory_store_episode";

async function trusts(dir: string): Promise<Record<string, string>> {
  const db = await openPglite({ dir });
  const rows = await db.query<{ content: string; trust: string }>("select content, trust from episodes");
  await db.close();
  const nameOf = (content: string) => /told by ([a-z ]+)/.exec(content)?.[1]?.trim() ?? content;
  return Object.fromEntries(rows.map(({ content, trust }) => [nameOf(content), trust]));
}

test("only the command line and the transcripts of this machine speak for the user", async () => {
  const home = emptyHome();
  const rig = await up(home);
  const token = readFileSync(join(home, "token"), "utf8").trim();
  const authorization = { authorization: `Bearer ${token}` };
  const post = async (path: string, body: object) => {
    const headers = { ...authorization, "content-type": "application/json" };
    const response = await fetch(`${rig.address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status, await response.text()).toBeLessThan(300);
  };
  await post(TOOL, claim("http"));
  await post(TOOL, exchange("an exchange over http"));
  const client = new PatientClient({ name: "test", version: "1" });
  const url = new URL(`${rig.address}/butlers/general/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: authorization } }));
  await client.callTool({ name: "memory_store_episode", arguments: claim("mcp") });
  await client.close();
  const stdio = await agent(home);
  await stdio.call("memory_store_episode", claim("stdio"));
  await stdio.close();
  await overSocket(homeAt(home).socket, TOOL, claim("http on the socket"));
  expect((await butler(home, ["remember", "told by the command line"])).code).toBe(0);
  const called = await butler(home, ["call", "memory_store_episode", "--json", JSON.stringify(claim("a call"))]);
  expect(called.code, called.stderr).toBe(0);

  const folder = join(home, "project");
  const said = transcript(join(home, "t.jsonl"), "s1", folder);
  said.user("Please note what is told by a transcript");
  said.agent("Noted.");
  const input = { session_id: "s1", cwd: folder, transcript_path: said.path };
  await overSocket(homeAt(home).socket, "/hooks/claude-code/SessionEnd?butler=general", input);
  const words = (door: string) => ({
    ...{ session_id: door, prompt: `Please note what is told by ${door}`, prompt_response: "Noted.", cwd: folder },
  });
  await overSocket(homeAt(home).socket, "/hooks/gemini/AfterAgent?butler=general", words("a hook"));
  await post("/hooks/gemini/AfterAgent?butler=general", words("a hook with a token"));
  for (const door of ["a transcript", "a hook", "a hook with a token"])
    await vi.waitFor(
      async () => {
        const { stdout } = await butler(home, ["search", "Please note", "--scope", "*", "--limit", "50"]);
        expect(stdout).toMatch(new RegExp(`told by ${door}\\b(?! with)`));
      },
      { ...PATIENCE, interval: 500 },
    );
  expect((await butler(home, ["stop"])).code).toBe(0);

  expect(await trusts(join(home, "butlers", "general", "store"))).toEqual({
    ...{ http: "agent", "an exchange over http": "agent", mcp: "agent", stdio: "agent", "http on the socket": "agent" },
    ...{ "the command line": "user", "a call": "user" },
    ...{ "a transcript": "user", "a hook": "user", "a hook with a token": "agent" },
  });
});

test("the library speaks as an agent, unless its program says that it takes down a person's words", async () => {
  for (const [voice, trust] of [
    [undefined, "agent"],
    ["user", "user"],
  ] as const) {
    const folder = join(emptyHome(), "library");
    const own = voice === undefined ? {} : { voice };
    const memory = await openMemory({ folder, modelDir: TEST_MODEL_CACHE, fetchModel: false, ...own });
    expect(await memory.call("memory_store_episode", claim("the library"))).toMatchObject({ ok: true });
    await memory.close();
    expect(await trusts(join(folder, "store"))).toEqual({ "the library": trust });
  }
});

async function overSocket(socket: string, path: string, body: object): Promise<void> {
  const { status } = await ask({ socket, method: "POST", path, body, timeoutMs: PATIENCE.timeout });
  expect(status).toBeLessThan(300);
}
