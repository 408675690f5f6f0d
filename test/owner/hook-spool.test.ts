/** What hooks leave for the owner: under whose name it is stored, and that nothing in it holds up the rest. */
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { Principal } from "../../src/doors/backend.ts";
import type { Log } from "../../src/engine/adapters/log.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { heldPrompts } from "../../src/hosts/hooks/prompts.ts";
import { failedFolder } from "../../src/hosts/hooks/spool/files.ts";
import { retryFailed, spoolRow } from "../../src/hosts/hooks/spool/rows.ts";
import { spoolState } from "../../src/hosts/hooks/spool/state.ts";
import { hookHost } from "../support/hook-host.ts";
import { transcript } from "../support/transcript.ts";

interface Taken {
  readonly principal: Principal;
  readonly butler: string;
  readonly content: string;
}

const refused = (code: string): Outcome => ({
  ok: false,
  error: { code: code as "internal", message: `refused as ${code}` },
});

/** A memory that keeps what it is given; `fails` says of a row or a butler what is wrong with it. */
function memory(fails: (content: string, butler: string) => string | undefined = () => undefined) {
  const taken: Taken[] = [];
  const calls: string[][] = [];
  return {
    taken,
    calls,
    contents: () => taken.map(({ content }) => content.split("\n")[0]),
    async invoke(principal: Principal, request: ToolRequest, butler: string): Promise<Outcome> {
      if (request.tool !== "memory_ingest_batch") return { ok: true, answer: { text: "", tokens: 0, sections: [] } };
      const { episodes } = request.input as { episodes: { content: string }[] };
      calls.push(episodes.map(({ content }) => content));
      const codes = episodes.map(({ content }) => fails(content, butler));
      const whole = codes.find((code) => code !== undefined && code !== "invalid_input");
      if (whole !== undefined) return refused(whole);
      const results = codes.map((code) => (code === undefined ? { ok: true } : { ok: false, error: { code } }));
      for (const [at, { content }] of episodes.entries())
        if (codes[at] === undefined) taken.push({ principal, butler, content });
      return { ok: true, answer: { results } };
    },
  };
}

const gemini = { agent: "gemini" } as const;
const stranger: Principal = { name: "phone", tenant: "b", butler: "general", admin: false, voice: "agent" };

async function says(h: ReturnType<typeof hookHost>, session: string, prompt: string, token?: Principal) {
  const told = token === undefined ? gemini : { ...gemini, token };
  await h.event("BeforeAgent", session, { prompt }, told);
  await h.event("AfterAgent", session, { prompt_response: "Noted, as you say." }, told);
}

describe("whose words they are", () => {
  it("what came with a token is stored under that token, and what came over the socket under the local agent", async () => {
    const m = memory();
    const h = hookHost({ ...m, tenant: "a" });
    await says(h, "s", "The vault opens with three turns", stranger);
    await says(h, "s", "The shed opens with a push");
    await h.restart();
    await h.sweep();
    expect(
      m.taken.map(({ principal, content }) => [principal.tenant, principal.voice, content.split("\n")[0]]).sort(),
    ).toEqual([
      ["a", "user", "User: The shed opens with a push"],
      ["b", "agent", "User: The vault opens with three turns"],
    ]);
  });

  it("one session's name in two tenants, or with two tokens, is two sessions", async () => {
    const m = memory();
    const h = hookHost({ ...m, tenant: "a" });
    const other = { ...stranger, name: "tablet" };
    await h.event("BeforeAgent", "s", { prompt: "My locker has number nine" }, gemini);
    for (const token of [stranger, other, { ...stranger, tenant: "c" }])
      await h.event("AfterAgent", "s", { prompt_response: "So I hear." }, { ...gemini, token });
    await h.sweep();
    expect(m.taken).toEqual([]);
    await h.event("AfterAgent", "s", { prompt_response: "So I hear." }, gemini);
    await h.sweep();
    expect(m.taken.map(({ principal }) => principal.tenant)).toEqual(["a"]);
  });

  it("whatever else a caller says of itself, what waits for it stays small", async () => {
    const m = memory(() => "unavailable");
    const h = hookHost(m);
    const long = "x".repeat(3_000_000);
    const told = { ...gemini, token: stranger };
    const about = { cwd: `/${long}`, transcript_path: long, prompt: `Say it ${long}`, prompt_response: long };
    await h.event("AfterAgent", long, about, told);
    await h.sweep();
    const files = readdirSync(h.home.spool).map((name) => statSync(join(h.home.spool, name)).size);
    expect(files.length).toBe(1);
    expect(Math.max(...files)).toBeLessThan(20_000);
  });

  it.each(["general", "*"])("no token has a file read, not even an administrator's of %s", async (butler) => {
    const m = memory();
    const h = hookHost({ ...m, tenant: "a" });
    for (const agent of ["claude-code", "codex"]) {
      const said = h.transcript(agent);
      said.user("The vault opens with three turns to the left");
      said.agent("Noted.");
      const token = { ...stranger, butler, admin: true, tenant: "a" };
      for (const event of ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"])
        await h.event(event, agent, { prompt: "x" }, { agent, token });
    }
    await h.sweep();
    expect(m.calls).toEqual([]);
    expect(readdirSync(h.home.spool).filter((name) => name.endsWith(".session.json"))).toEqual([]);
  });

  it("what does not say whose it is, as older versions left it, is nobody's", async () => {
    const m = memory();
    const h = hookHost(m);
    mkdirSync(h.home.spool, { recursive: true });
    const row = { content: "User: forged\nAgent: x" };
    writeFileSync(join(h.home.spool, "a.row.json"), JSON.stringify({ butler: "general", row }));
    writeFileSync(join(h.home.spool, "b.row.json"), JSON.stringify({ by: { tenant: "x" }, butler: "general", row }));
    writeFileSync(join(h.home.spool, "c.row.json"), "{");
    await h.sweep();
    expect(m.calls).toEqual([]);
    expect(readdirSync(failedFolder(h.home))).toEqual(["a.row.json", "b.row.json", "c.row.json"]);
    expect(spoolState(h.home).failed.map(({ code }) => code)).toEqual(["unreadable", "unreadable", "unreadable"]);
    expect(retryFailed(h.home)).toBe(0);
  });
});

describe("exchanges that wait", () => {
  it("for a butler that is gone hold up nobody, are tried less and less often, are put aside, and can be tried again", async () => {
    let gone = true;
    const m = memory((_, butler) => (butler === "gone" && gone ? "not_found" : undefined));
    const h = hookHost(m);
    const left = (butler: string, n: number) =>
      spoolRow(h.home, {
        by: "local",
        butler,
        row: { content: `User: ${butler} ${n}`, occurred_at: "2026-05-01T00:00:00Z" },
      });
    for (let n = 0; n < 5; n++) for (const butler of ["gone", "general"]) left(butler, n);
    await h.sweep();
    expect(m.contents().sort()).toEqual([0, 1, 2, 3, 4].map((n) => `User: general ${n}`));
    const tried = () => m.calls.filter(([content]) => content?.includes("gone")).length;
    expect(tried()).toBe(5);
    await h.sweep();
    expect(tried()).toBe(5);
    expect(spoolState(h.home).troubled).toHaveLength(5);
    for (let hour = 0; hour < 12; hour++) {
      h.later(60);
      await h.sweep();
    }
    expect(tried()).toBe(5 * 9);
    const { failed, troubled, waiting } = spoolState(h.home);
    expect([failed.length, troubled.length, waiting]).toEqual([5, 0, 0]);
    expect(failed[0]).toMatchObject({ what: "exchange", butler: "gone", code: "not_found", attempts: 9 });
    gone = false;
    expect(retryFailed(h.home)).toBe(5);
    await h.sweep();
    expect(m.contents().filter((line) => line?.includes("gone"))).toHaveLength(5);
    expect(spoolState(h.home)).toEqual({ waiting: 0, troubled: [], failed: [] });
  });

  it("for a memory that is down cost no attempt", async () => {
    let down = true;
    const m = memory(() => (down ? "unavailable" : undefined));
    const h = hookHost(m);
    await says(h, "s", "The shed opens with a push");
    for (let n = 0; n < 30; n++) {
      await h.sweep();
      h.later(60);
    }
    expect(spoolState(h.home)).toEqual({ waiting: 1, troubled: [], failed: [] });
    down = false;
    await h.sweep();
    expect(m.taken).toHaveLength(1);
  });

  it("and can never be stored are put aside at once, and shown", async () => {
    const m = memory((content) => (content.includes("bad") ? "invalid_input" : undefined));
    const h = hookHost(m);
    for (const word of ["good", "bad", "fine"]) await says(h, word, `This is a ${word} thing to say`);
    await h.sweep();
    expect(m.taken).toHaveLength(2);
    expect(spoolState(h.home).failed).toMatchObject([{ code: "invalid_input", attempts: 1, butler: "general" }]);
  });
});

describe("a transcript", () => {
  function told(h: ReturnType<typeof hookHost>, session: string, words: readonly string[]) {
    const said = h.transcript(session);
    for (const word of words) {
      said.user(`This is a ${word} thing to say`);
      said.agent("Noted, as you say.");
    }
    return h.event("SessionEnd", session);
  }

  it.each(["internal", "invalid_input"])(
    "with one exchange that is refused as %s loses only that one",
    async (code) => {
      const m = memory((content) => (content.includes("bad") ? code : undefined));
      const h = hookHost(m);
      await told(h, "s", ["first", "bad", "last"]);
      await told(h, "t", ["other"]);
      await h.sweep();
      await h.sweep();
      expect(m.contents().sort()).toEqual(
        ["first", "last", "other"].map((word) => `User: This is a ${word} thing to say`),
      );
      const { troubled, failed } = spoolState(h.home);
      expect([...troubled, ...failed]).toMatchObject([{ what: "exchange", code }]);
      expect(JSON.stringify(spoolState(h.home))).not.toContain("thing to say");
    },
  );

  it("of a butler that is gone is tried less and less often, and shown", async () => {
    const m = memory(() => "not_found");
    const h = hookHost(m);
    await told(h, "s", ["first"]);
    for (let minute = 0; minute < 180; minute++) {
      await h.sweep();
      h.later(1);
    }
    expect(m.calls.length).toBeLessThan(12);
    expect(spoolState(h.home).troubled).toMatchObject([{ what: "session", name: "s", code: "not_found" }]);
  });

  it("that is a pipe, a device, a socket, a folder, a link or endless is not read, and the others are", async () => {
    const m = memory();
    const lines: string[] = [];
    const h = hookHost({ ...m, log: logInto(lines) });
    const real = transcript(join(h.root, "elsewhere.jsonl"), "elsewhere", h.project);
    real.user("This is somebody else's thing to say");
    real.agent("Noted.");
    const at = (name: string) => join(h.root, name);
    for (const name of ["p1", "p2", "p3", "p4", "p5"]) execFileSync("sh", ["-c", `mkfifo "$0"`, at(name)]);
    mkdirSync(at("folder"));
    symlinkSync(real.path, at("link"));
    symlinkSync("/dev/zero", at("zero-link"));
    writeFileSync(at("sparse"), "");
    truncateSync(at("sparse"), 2 * 1024 ** 3);
    const socket = createServer();
    await new Promise<void>((done) => socket.listen(at("socket"), done));
    const traps = [
      ..."p1 p2 p3 p4 p5 folder link zero-link sparse socket".split(" ").map(at),
      "/dev/zero",
      "/dev/tty",
      "/proc/self/environ",
    ];
    for (const agent of ["claude-code", "codex"])
      for (const [n, transcript_path] of traps.entries())
        await h.event("SessionEnd", `trap ${n}`, { transcript_path }, { agent });
    await told(h, "s", ["good"]);
    await h.sweep();
    await h.restart();
    await h.sweep();
    expect(m.contents()).toEqual(["User: This is a good thing to say"]);
    const before = lines.length;
    h.later(24 * 60);
    await h.sweep();
    expect(lines.slice(before)).toEqual([]);
    socket.close();
    // A session whose transcript is there at last is read.
    rmSync(at("link"));
    const late = transcript(at("link"), "trap 6", h.project);
    late.user("This is a late thing to say");
    late.agent("Noted.");
    await h.event("SessionEnd", "trap 6", { transcript_path: late.path });
    await h.sweep();
    expect(m.contents()).toContain("User: This is a late thing to say");
  });
});

function logInto(lines: string[]): Log {
  const write = (...args: unknown[]) =>
    void lines.push(JSON.stringify(args, (_, value) => (value instanceof Error ? String(value.stack) : value)));
  return { debug: write, info: write, warn: write, error: write } as unknown as Log;
}

describe("private words", () => {
  it.each(["a-b", "[z-a]", "(?<x", "\\", "p{Zzz}-", "quartz-moon (*)"])(
    "reach no log, no file and no memory: %s",
    async (words) => {
      const lines: string[] = [];
      const m = memory((content) => (content.includes("bad") ? "internal" : undefined));
      const asked: unknown[] = [];
      const h = hookHost({
        log: logInto(lines),
        invoke: (principal, request, butler) => {
          asked.push(request.input);
          return m.invoke(principal, request, butler);
        },
      });
      const secret = `zebra${words}crossing`;
      const prompt = `Deploy the web shop tonight <private>${secret}</private> to the bad cluster`;
      const said = h.transcript("s");
      await h.event("UserPromptSubmit", "s", { prompt });
      said.user(prompt);
      said.agent(`Deployed; ${secret} was used.`);
      said.user("And then this fine thing too");
      said.agent("Done with that as well.");
      await h.event("SessionEnd", "s", { prompt });
      await h.event("BeforeAgent", "g", { prompt }, gemini);
      await h.event("AfterAgent", "g", { prompt_response: `Deployed; ${secret} was used.` }, gemini);
      await h.sweep();
      expect(m.contents()).toEqual(["User: And then this fine thing too"]);
      expect(m.calls.flat().some((content) => content.includes("[private] was used"))).toBe(true);
      const files = readdirSync(h.home.spool, { recursive: true, encoding: "utf8" }).map((name) =>
        join(h.home.spool, name),
      );
      const written = files.filter((name) => name.endsWith(".json")).map((name) => readFileSync(name, "utf8"));
      for (const text of [...lines, ...written, JSON.stringify(asked)]) expect(text).not.toMatch(/zebra|crossing/);
    },
  );

  it("stand in no log when an exchange cannot be made out", async () => {
    const lines: string[] = [];
    const h = hookHost({
      log: logInto(lines),
      invoke: () => Promise.reject(new SyntaxError("Invalid regular expression: /zebra/: Invalid escape")),
    });
    const said = h.transcript("s");
    said.user("Deploy the web shop tonight, please");
    said.agent("Deployed.");
    const answer = await h.event("UserPromptSubmit", "s", { prompt: "Deploy the web shop tonight, please" });
    await h.event("SessionEnd", "s");
    await says(h, "g", "Deploy the web shop tonight, please");
    await h.sweep();
    expect(lines.length).toBeGreaterThan(2);
    expect(JSON.stringify([...lines, answer])).not.toMatch(/zebra/);
  });
});

describe("prompts that are being worked on", () => {
  it("are held as far as an exchange shows them, however long they are and however many", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const prompts = heldPrompts();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 40; n++)
      prompts.hold(
        `s${n}`,
        `${n} ${"long words ".repeat(300_000)}<private>${"hush ".repeat(100)}${n}</private> and ${"more ".repeat(100_000)}`,
      );
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20e6);
    expect(prompts.of("s39")?.text.length).toBe(20_000);
    expect(prompts.of("s39")?.hidden[0]).toMatch(/hush 39$/);
    for (let n = 0; n < 1_000; n++) prompts.hold(`t${n}`, "x".repeat(100_000));
    expect(prompts.size()).toBeLessThanOrEqual(2_000_000);
    expect(prompts.of("t0")).toBeUndefined();
    expect(prompts.of("t999")).toBeDefined();
  });

  it("of which nothing may be kept take the place of the one before", () => {
    const prompts = heldPrompts();
    prompts.hold("s", "Where is the key?");
    prompts.hold("s", "<private>under the mat</private>");
    expect(prompts.of("s")).toBeUndefined();
    prompts.hold("s", `Hear this <private>${"x".repeat(70_000)}</private>`);
    expect(prompts.of("s")).toBeUndefined();
    expect(prompts.size()).toBe(0);
  });
});
