/** What a session is told counts as told when it has reached the session, and what is said about memory is true afterwards too. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { describe, expect, it } from "vitest";
import type { Backend, HookAnswer, Principal } from "../../src/doors/backend.ts";
import { httpApp } from "../../src/doors/http/http.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { type Answer, contextOf, hookHost } from "../support/hook-host.ts";
import { everyone } from "../support/owner-fakes.ts";

/** A memory that knows one thing for every session and one for a prompt about lamps, and leaves out what it is told to. */
function memory() {
  const asked: ToolRequest[] = [];
  const known = [
    { id: "start", text: "Drinks green tea" },
    { id: "lamps", text: "Lamps are from Oslo" },
  ];
  let gate: Promise<unknown> = Promise.resolve();
  let failure: string | undefined;
  return {
    asked,
    /** Nothing is answered until then. */
    hold(until: Promise<unknown>) {
      gate = until;
    },
    fail(reason: string | undefined) {
      failure = reason;
    },
    async invoke(_: Principal, asking: ToolRequest): Promise<Outcome> {
      asked.push(asking);
      await gate;
      if (failure !== undefined) return { ok: false, error: { code: "unavailable", message: failure } };
      const { except, lasting, trigger_prompt } = asking.input as {
        except: string[];
        lasting?: boolean;
        trigger_prompt: string;
      };
      const fits = known.filter(({ id }) =>
        lasting === false ? id === "lamps" && /lamp/.test(trigger_prompt) : id === "start",
      );
      const items = fits.filter(({ id }) => !except.includes(id));
      const text = items.map((item) => `${item.text}\n`).join("");
      return { ok: true, answer: { text, tokens: items.length, sections: [{ items }] } };
    },
  };
}

const PROMPT = { prompt: "Where do our lamps come from?" };
const messageOf = (answer: Answer | undefined) => answer?.systemMessage;

describe("what has been told", () => {
  it("is told again with the next prompt when the start's answer came too late for its hook", async () => {
    const h = hookHost(memory());
    expect(contextOf(await h.event("SessionStart", "s", {}, { delivered: false }))).toContain("green tea");
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBe("Drinks green tea\nLamps are from Oslo\n");
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBe("");
  });

  it("is told again when a prompt's answer was lost, and only that", async () => {
    const h = hookHost(memory());
    await h.event("SessionStart", "s");
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT, { delivered: false }))).toBe(
      "Lamps are from Oslo\n",
    );
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBe("Lamps are from Oslo\n");
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBe("");
  });

  it("waits for the answer before it: a prompt that does not wait for its start gets nothing twice", async () => {
    const m = memory();
    const h = hookHost(m);
    let open: () => void = () => undefined;
    m.hold(new Promise<void>((done) => (open = done)));
    const start = h.event("SessionStart", "s");
    const prompt = h.event("UserPromptSubmit", "s", PROMPT);
    open();
    expect(contextOf(await start)).toBe("Drinks green tea\n");
    expect(contextOf(await prompt)).toBe("Lamps are from Oslo\n");
  });

  it("holds nobody up when nobody says whether it arrived", async () => {
    const h = hookHost(memory());
    await h.patience(500);
    let start: Answer | undefined;
    // On a machine that is busy the first answers may be late themselves.
    for (let n = 0; n < 20 && contextOf(start) === ""; n++)
      start = await h.event("SessionStart", "s", {}, { delivered: "never" });
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBe("");
    await h.patience(600_000);
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toContain("green tea");
  });

  it("of what was too long for one answer is not counted", async () => {
    const m = memory();
    const long = "x".repeat(9_490);
    const h = hookHost({
      async invoke(principal, asking) {
        const outcome = await m.invoke(principal, asking);
        if (outcome.ok && outcome.answer.text === "Drinks green tea\n") outcome.answer.text = long;
        return outcome;
      },
    });
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBe(long);
    expect(contextOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBe("Lamps are from Oslo\n");
  });
});

describe("what a session hears about its memory", () => {
  it("a slow start says that what is known follows, and it does", async () => {
    const m = memory();
    const h = hookHost(m);
    let open: () => void = () => undefined;
    m.hold(new Promise<void>((done) => (open = done)));
    await h.patience(20);
    const said = messageOf(await h.event("SessionStart", "s"));
    await h.patience(600_000);
    expect(said).toMatch(/unavailable for now .*follows with a later prompt/);
    expect(said).not.toMatch(/runs without/);
    open();
    const answer = await h.event("UserPromptSubmit", "s", PROMPT);
    expect(contextOf(answer)).toContain("green tea");
    expect(messageOf(answer)).toBeUndefined();
  });

  it("an agent that hears nothing with its prompts runs without it", async () => {
    const m = memory();
    const h = hookHost(m);
    m.hold(new Promise(() => undefined));
    await h.patience(20);
    const answer = await h.event("sessionStart", "s", { conversation_id: "s" }, { agent: "cursor" });
    expect(JSON.stringify(answer)).toMatch(/this session runs without it/);
  });

  it("a session that was told it runs without memory is told when it does not any more, once", async () => {
    const m = memory();
    const h = hookHost(m);
    m.fail("the database cannot be reached.");
    expect(messageOf(await h.event("SessionStart", "s"))).toMatch(/this session runs without it/);
    expect(messageOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBeUndefined();
    m.fail(undefined);
    const lost = await h.event("UserPromptSubmit", "s", PROMPT, { delivered: false });
    expect(messageOf(lost)).toMatch(/is back/);
    const back = await h.event("UserPromptSubmit", "s", PROMPT);
    expect(messageOf(back)).toMatch(/is back/);
    expect(contextOf(back)).toContain("green tea");
    expect(messageOf(await h.event("UserPromptSubmit", "s", PROMPT))).toBeUndefined();
  });

  it("one that has its block does not hear that it runs without memory when a prompt fails", async () => {
    const m = memory();
    const h = hookHost(m);
    await h.event("SessionStart", "s");
    m.fail("the database cannot be reached.");
    expect(messageOf(await h.event("UserPromptSubmit", "s", PROMPT))).toMatch(/unavailable for now/);
  });
});

describe("over a connection", () => {
  async function listening(hook: NonNullable<Backend["hook"]>) {
    const host: Backend = {
      butlers: async () => [{ name: "general", role: "butler", description: "" }],
      invoke: async () => ({ ok: true, answer: {} }),
      health: async () => ({ ok: true, version: "1", model: "", butlers: [] }),
      hook,
    };
    const app = httpApp({
      ...{ backend: host, tools: [], log: silentLog, version: "1", local: everyone, allowedHosts: [] },
      authenticate: async () => undefined,
    });
    const server = createServer(getRequestListener(app.fetch));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const ask = () => {
      const asking = request({
        port,
        method: "POST",
        path: "/hooks/codex/SessionStart",
        headers: { "content-type": "application/json" },
      });
      asking.end("{}");
      return asking;
    };
    return { ask, close: () => new Promise((done) => server.close(done)) };
  }

  it.each([{ context: "x" }, undefined])("an answer that was read is delivered: %j", async (answer) => {
    let told: (delivered: boolean) => void = () => undefined;
    const delivered = new Promise<boolean>((done) => (told = done));
    const door = await listening(async () => ({ ok: true, answer, settled: told }));
    const asking = door.ask();
    asking.on("response", (response) => response.resume());
    expect(await delivered).toBe(true);
    await door.close();
  });

  it("a hook that has gone when its answer comes was not told", async () => {
    let told: (delivered: boolean) => void = () => undefined;
    let asked: () => void = () => undefined;
    const [delivered, arrived] = [
      new Promise<boolean>((done) => (told = done)),
      new Promise<void>((done) => (asked = done)),
    ];
    let gone: () => void = () => undefined;
    const closed = new Promise<void>((done) => (gone = done));
    const door = await listening(async (): Promise<HookAnswer> => {
      asked();
      await closed;
      return { ok: true, answer: { context: "x" }, settled: told };
    });
    const asking = door.ask();
    asking.on("error", () => undefined);
    await arrived;
    asking.once("close", gone);
    asking.destroy();
    expect(await delivered).toBe(false);
    await door.close();
  });
});
