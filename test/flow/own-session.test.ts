/** A session is never told what stems from itself: neither when it is taken up again nor after a compaction. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { ToolRequest } from "../../src/engine/tools/outcome.ts";
import { hookAnswerer } from "../../src/hosts/hooks/answer-hook.ts";
import { createPickup } from "../../src/hosts/hooks/spool/pickup.ts";
import { everyone } from "../support/owner-fakes.ts";
import { PATIENCE } from "../support/patience.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function desk(g: Guest, agent: "claude-code" | "codex") {
  const root = mkdtempSync(join(tmpdir(), "own-session-"));
  folders.push(root);
  const home = homeAt(join(root, "home"));
  const clock = { now: () => new Date(), fixed: true };
  const invoke = ({ tool, input, ...more }: ToolRequest) => g.outcome(tool, input, more);
  const pickup = createPickup({ home, clock, log: silentLog, settleMs: 60_000, ingest: () => Promise.reject() });
  const hook = hookAnswerer({
    ...{ home, clock, log: silentLog, pickup, limitMs: PATIENCE.timeout },
    remembers: () => true,
    invoke: (_, __, request) => invoke(request),
  });
  return async (event: string, session: string, more: object): Promise<string> => {
    const input = { session_id: session, cwd: "/nowhere", ...more };
    const told = await hook(everyone, { agent, event, butler: "general", input, project: "p" }, true);
    if (!told.ok) throw new Error(told.error.message);
    told.settled?.(true);
    const answer = told.answer as { hookSpecificOutput?: { additionalContext: string } } | undefined;
    return answer?.hookSpecificOutput?.additionalContext ?? "";
  };
}

const episode = (g: Guest, session_id: string, content: string) =>
  g.call("memory_store_episode", { content, session_id }, { project: "p" }) as Promise<{ id: string }>;
const PROMPT = { prompt: "On which port does the staging database listen, please?" };

onOneRig("a session and its own words", (guest) => {
  it.each(["claude-code", "codex"] as const)("%s is not told them when it goes on", async (agent) => {
    const g = guest();
    const hook = desk(g, agent);
    await episode(g, "earlier", "User: Mrs Olsen keeps the lighthouse near the staging port.");
    const start = await hook("SessionStart", "this", { source: "startup" });
    expect(start).toContain("Mrs Olsen");
    await episode(g, "this", "User: The staging database listens on port 5433.");
    expect(await hook("UserPromptSubmit", "this", PROMPT)).toBe("");
    expect(await hook("SessionStart", "this", { source: "resume" })).toBe("");
    for (const source of ["compact", "clear"]) {
      const again = await hook("SessionStart", "this", { source });
      expect(again).toContain("Mrs Olsen");
      expect(again).not.toContain("5433");
    }
    expect(await hook("SessionStart", "another", { source: "startup" })).toContain("5433");
  });

  it("nor what was learned from them alone", async () => {
    const g = guest();
    const hook = desk(g, "claude-code");
    const own = await episode(g, "this", "User: Our staging database listens on port 5433.");
    const other = await episode(g, "earlier", "User: We deploy on Fridays.");
    const fact = (predicate: string, content: string, source_episode_id: string) =>
      g.call(
        "memory_store_fact",
        { subject: "staging", predicate, content, source_episode_id, importance: 9, permanence: "stable" },
        { project: "p" },
      );
    await fact("database port", "5433", own.id);
    await fact("deploy day", "Friday", other.id);
    const rule = (content: string, more: object = {}) =>
      g.call("memory_store_rule", { content, ...more }, { project: "p" });
    await rule("Never restart staging at noon", { source_episode_id: own.id });
    await rule("Ask before staging is wiped");
    const start = await hook("SessionStart", "this", { source: "compact" });
    expect(start).toContain("Friday");
    expect(start).toContain("Ask before staging is wiped");
    expect(start).not.toContain("5433");
    expect(start).not.toContain("noon");
    const elsewhere = await hook("SessionStart", "another", { source: "startup" });
    for (const words of ["Friday", "5433", "noon"]) expect(elsewhere).toContain(words);
    // Somebody else has said it too: it is no longer the session's alone.
    const again = await episode(g, "earlier", "User: Staging: the database listens on port 5433.");
    await fact("database port", "5433", again.id);
    expect(await hook("SessionStart", "this", { source: "compact" })).toContain("5433");
  });

  it("a long session's own words leave room for those of others", async () => {
    const g = guest();
    await episode(g, "earlier", "User: The database for staging has a port that Mrs Olsen chose.");
    for (let turn = 0; turn < 45; turn++)
      await episode(g, "this", `User: On which port does the staging database listen, please? Turn ${turn}.`);
    const told = async (more: object) => {
      const input = { trigger_prompt: PROMPT.prompt, ...more };
      return (await g.call("memory_context", input, { project: "p" })).text;
    };
    expect(await told({})).toContain("Turn");
    const own = await told({ except_session: "this" });
    expect(own).toContain("Mrs Olsen");
    expect(own).not.toContain("Turn");
  });
});
