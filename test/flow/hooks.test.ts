/** Hooks of an agent over a real store: what a session is told, and how its transcript becomes episodes. */

import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { asOwner } from "../../src/engine/memory/tenancy.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { readRecords } from "../../src/hosts/sessions/read-sessions.ts";
import { atHome, contextOf as context, hookHost } from "../support/hook-host.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

function host(g: Guest, invoke = (request: ToolRequest): Promise<Outcome> => ask(g, request)) {
  return hookHost({ tenant: g.tenant, invoke: (_, request) => invoke(request) });
}

const ask = (g: Guest, { tool, input, ...more }: ToolRequest) => g.outcome(tool, input, more);
const stored = async (g: Guest) =>
  asOwner(g.memory, "lab").query<{ content: string; session_id: string; butler: string; tags: string[] }>(
    "select content, session_id, butler, tags from episodes where tenant_id = $1 order by occurred_at, id",
    [g.tenant],
  );

onOneRig("hooks", (guest) => {
  it("what session 1 is told, session 2 knows, each memory once, and again after a compaction", async () => {
    const g = guest();
    const h = host(g);
    expect(await h.event("SessionStart", "one", { source: "startup" })).toBeUndefined();
    const said = h.transcript("one");
    const prompt = "The staging database listens on port 5433, remember that.";
    expect(await h.event("UserPromptSubmit", "one", { prompt })).toBeUndefined();
    said.user(prompt);
    said.agent("Noted: staging is on port 5433.");
    expect(await h.event("Stop", "one")).toBeUndefined();
    expect(await h.event("SessionEnd", "one")).toBeUndefined();
    await h.sweep();
    const [episode, ...more] = await stored(g);
    expect(more).toEqual([]);
    expect(episode?.content).toBe(`User: ${prompt}\nAgent: Noted: staging is on port 5433.`);
    expect(episode).toMatchObject({ session_id: "one", butler: expect.stringMatching(/^general\/folder:project-/) });

    const start = await h.event("SessionStart", "two", { source: "startup" });
    expect(start?.hookSpecificOutput?.hookEventName).toBe("SessionStart");
    expect(context(start)).toMatch(/^<butler-memory>\n[\s\S]*port 5433[\s\S]*<\/butler-memory>\n$/);
    const asked = { prompt: "On which port does the staging database listen?" };
    expect(context(await h.event("UserPromptSubmit", "two", asked))).toBe("");
    expect(context(await h.event("SessionStart", "two", { source: "resume" }))).toBe("");
    expect(context(await h.event("SessionStart", "two", { source: "compact" }))).toContain("port 5433");
    const [two, one] = readRecords(h.home);
    expect([two?.session.prompt, one?.session.prompt]).toEqual([asked.prompt, prompt]);
    expect([one?.session.id, one?.told]).toEqual(["one", []]);
    const [row] = await asOwner(g.memory, "lab").query<{ id: string }>("select id from episodes where tenant_id = $1", [
      g.tenant,
    ]);
    expect(two?.told.map(({ ids }) => ids)).toEqual([[row?.id], [row?.id]]);
    expect(two?.told.every(({ tokens }) => tokens > 0)).toBe(true);
  });

  it("a prompt gets what fits it and is new in its session, and nothing else", async () => {
    const g = guest();
    const h = host(g);
    await h.event("SessionStart", "s");
    await g.call("memory_store_fact", { subject: "user", predicate: "editor", content: "Writes code in Helix" });
    await g.call("memory_store_fact", { subject: "user", predicate: "bicycle", content: "Rides a red bicycle" });
    const tell = async (prompt: string) => context(await h.event("UserPromptSubmit", "s", { prompt }));
    expect(await tell("Compile the parser and show me the warnings")).toBe("");
    const first = await tell("Which editor do I use to write code?");
    expect(first).toContain("Helix");
    expect(first).not.toContain("bicycle");
    expect(await tell("Open the editor I write code with, please")).toBe("");
    await h.restart();
    expect(await tell("Which editor do I use to write code, again?")).toBe("");
    expect(await tell("yes please")).toBe("");
    await g.call("memory_store_episode", { content: "Thanks, see you tomorrow, have a good weekend!" });
    expect(await tell("thanks, see you tomorrow, have a good weekend")).toBe("");
    expect(await tell("/compact bicycle red ride")).toBe("");
  });

  it("a session whose start had no answer gets it with its first prompt", async () => {
    const g = guest();
    const h = host(g);
    await g.call("memory_store_fact", {
      subject: "user",
      predicate: "tea",
      content: "Drinks green tea",
      importance: 8,
    });
    const late = await h.event("UserPromptSubmit", "s", { prompt: "Compile the parser for me" });
    expect(context(late)).toContain("green tea");
    expect(context(await h.event("UserPromptSubmit", "s", { prompt: "Compile the lexer for me" }))).toBe("");
  });

  it("a block is never longer than its agent takes, and is whole", async () => {
    const g = guest();
    const h = host(g);
    const words = "a rather long statement about how this house is run from day to day ".repeat(4);
    for (let n = 0; n < 60; n++)
      await g.call("memory_store_fact", { subject: `thing ${n}`, predicate: "note", content: `${n} ${words}` });
    const text = context(await h.event("SessionStart", "s"));
    // The opening's own budget is smaller than what any agent takes.
    expect(text.length).toBeGreaterThan(1_000);
    expect(text.length).toBeLessThanOrEqual(9_500);
    expect(text.endsWith("</butler-memory>\n")).toBe(true);
  });

  it("each exchange is one episode, however often and by whomever it is announced", async () => {
    const g = guest();
    const h = host(g);
    const said = h.transcript("s");
    await h.event("SessionStart", "s");
    for (const n of [1, 2, 3]) {
      await h.event("UserPromptSubmit", "s", { prompt: `Write chapter ${n} of the manual` });
      said.user(`Write chapter ${n} of the manual`);
      said.agent(`Chapter ${n} is written.`);
      await h.event("Stop", "s");
      await h.event("Stop", "s");
      await h.sweep();
      await h.restart();
    }
    await h.event("SessionEnd", "s");
    await h.sweep();
    expect((await stored(g)).map(({ content }) => content)).toEqual(
      [1, 2, 3].map((n) => `User: Write chapter ${n} of the manual\nAgent: Chapter ${n} is written.`),
    );
    // The notes of how far it was read are lost: the keys of the exchanges still hold.
    rmSync(join(h.root, "home", "spool"), { recursive: true });
    await h.event("SessionEnd", "s");
    await h.sweep();
    expect(await stored(g)).toHaveLength(3);
  });

  it("a session that goes on from another's copy does not tell it again", async () => {
    const g = guest();
    const h = host(g);
    const uuid = "6e875d8a-9223-4192-9d3e-929ff20acae5";
    const told = (session: string) => {
      const said = h.transcript(session);
      said.line({ type: "user", uuid, message: { role: "user", content: "Rename the harbour to Port Blue" } });
      said.agent("It is called Port Blue now.");
      return said;
    };
    told("first");
    await h.event("SessionEnd", "first");
    await h.sweep();
    const second = told("second");
    second.user("And paint the sign of the harbour");
    second.agent("Painted.");
    await h.event("SessionEnd", "second");
    await h.sweep();
    expect((await stored(g)).map(({ content }) => content.split("\n")[0])).toEqual([
      "User: Rename the harbour to Port Blue",
      "User: And paint the sign of the harbour",
    ]);
  });

  it("what is being worked on is not read; a session that goes without a word is, when it has been quiet", async () => {
    const g = guest();
    const h = host(g);
    const said = h.transcript("s");
    said.user("Rename the release branch to stable");
    await h.event("UserPromptSubmit", "s", { prompt: "Rename the release branch to stable" });
    said.agent("Renamed it to stable.");
    await h.sweep();
    expect(await stored(g)).toEqual([]);
    h.later(11);
    await h.restart();
    await h.sweep();
    expect(await stored(g)).toHaveLength(1);
    said.user("Rename it to trunk after all, stable is taken");
    said.agent("It is called trunk now.");
    const future = new Date(Date.now() + 20 * 60_000);
    utimesSync(said.path, future, future);
    await h.sweep();
    expect(await stored(g)).toHaveLength(1);
    h.later(60);
    await h.sweep();
    expect((await stored(g)).map(({ content }) => content.split("\n")[1])).toEqual([
      "Agent: Renamed it to stable.",
      "Agent: It is called trunk now.",
    ]);
  });

  it.each([
    ["a prompt", "UserPromptSubmit"],
    ["a start", "SessionStart"],
  ])("%s that comes after the end of its own turn does not hide it", async (_what, event) => {
    const g = guest();
    const h = host(g);
    const said = h.transcript("s");
    const before = Date.now() - 2_000;
    said.user("Rename the release branch to stable");
    said.agent("Renamed it to stable.");
    await h.event("SessionEnd", "s");
    // Nobody listened when it happened, and its hook did not wait.
    await h.event(event, "s", { prompt: "Rename the release branch to stable" }, { gone: before });
    await h.sweep();
    expect(await stored(g)).toHaveLength(1);
    // The next one is of a new turn.
    said.user("Rename it to trunk after all, stable is taken");
    await h.event(event, "s", { prompt: "Rename it to trunk" }, { gone: Date.now() + 1_000 });
    said.agent("It is called");
    await h.sweep();
    expect(await stored(g)).toHaveLength(1);
  });

  it("an exchange that was left because it was being worked on is read when its session has been quiet", async () => {
    const g = guest();
    const h = host(g);
    const said = h.transcript("s");
    said.user("Rename the release branch to stable");
    said.agent("Renamed it to stable.");
    await h.event("Stop", "s");
    // The session goes on before its turn is read, and is killed.
    said.user("Rename it to trunk after all, stable is taken");
    said.agent("It is called trunk now.");
    await h.event("UserPromptSubmit", "s", { prompt: "Rename it to trunk after all, stable is taken" });
    await h.read();
    expect(await stored(g)).toHaveLength(1);
    h.later(11);
    await h.sweep();
    expect(await stored(g)).toHaveLength(2);
  });

  it("our own block in a transcript does not come back, nor what is private or secret", async () => {
    const g = guest();
    const h = host(g);
    const said = h.transcript("s");
    const block = "<butler-memory>\n- user / likes: purple elephants\n</butler-memory>";
    said.line({ type: "attachment", attachment: { type: "hook_additional_context", content: [block] } });
    said.user(`${block}\nDeploy with key AKIAIOSFODNN7EXAMPLE <private>my diary says hush</private> to the cluster`);
    said.agent("Deployed to the cluster. You like purple elephants? <butler-memory>purple elephants</butler-memory>");
    await h.event("SessionEnd", "s");
    await h.sweep();
    const [episode] = await stored(g);
    expect(episode?.content).toMatch(/^User: Deploy with key \[redacted:[\w-]+\] +to the cluster\nAgent: Deployed/);
    expect(episode?.content).not.toMatch(/diary|hush|AKIA|user \/ likes/);
  });

  it("while memory fails every hook answers, one of them says so, and what was announced is stored later", async () => {
    const g = guest();
    let down = true;
    const gone: Outcome = { ok: false, error: { code: "unavailable", message: "the database cannot be reached." } };
    const h = host(g, async (request) => (down ? gone : ask(g, request)));
    expect(await h.event("SessionStart", "s")).toEqual({
      systemMessage: "Butler Memory is unavailable (the database cannot be reached); this session runs without it.",
    });
    const said = h.transcript("s");
    expect(await h.event("UserPromptSubmit", "s", { prompt: "Paint the shed green, please" })).toBeUndefined();
    said.user("Paint the shed green, please");
    said.agent("The shed is green.");
    expect(await h.event("Stop", "s")).toBeUndefined();
    expect(await h.event("SessionEnd", "s")).toBeUndefined();
    await h.sweep();
    expect(await stored(g)).toEqual([]);
    down = false;
    await h.sweep();
    expect(await stored(g)).toHaveLength(1);
  });

  it("an agent without a transcript tells its prompt and its answer", async () => {
    const g = guest();
    const h = host(g);
    const more = { transcript_path: undefined };
    await h.event(
      "BeforeAgent",
      "s",
      { ...more, prompt: "Which port is free? <private>not 22</private>" },
      { agent: "gemini" },
    );
    await h.event(
      "AfterAgent",
      "s",
      { ...more, prompt_response: "Port 8080 is free, not 22 of course." },
      { agent: "gemini" },
    );
    await h.sweep();
    expect((await stored(g)).map(({ content }) => content)).toEqual([
      "User: Which port is free?\nAgent: Port 8080 is free, [private] of course.",
    ]);
  });

  it("whoever comes with a token cannot have a file of this machine read, whatever the token is for", async () => {
    const g = guest();
    const h = host(g);
    const said = h.transcript("s");
    said.user("The vault opens with three turns to the left");
    said.agent("Noted.");
    await h.event("SessionEnd", "s", {}, { token: { ...atHome(g.tenant), admin: true, butler: "*", voice: "agent" } });
    await h.sweep();
    expect(await stored(g)).toEqual([]);
  });

  it("events it does not know, and inputs it cannot read, are let pass", async () => {
    const g = guest();
    const h = host(g);
    expect(await h.event("PreToolUse", "s")).toBeUndefined();
    expect(await h.event("SessionStart", "s", { session_id: 7 })).toBeUndefined();
    await expect(h.event("SessionStart", "s", {}, { agent: "emacs" })).rejects.toThrow(/no hooks for "emacs"/);
  });
});
