/** Claude Code's transcripts: what becomes an exchange, and what does not. */
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import { episodeOf } from "../../src/hosts/transcripts/episodes.ts";
import { readHead } from "../../src/hosts/transcripts/read.ts";
import { ASK, CASES, DONE, PLAIN } from "./transcripts-cases.ts";
import { all, claude, contents, inFile, jsonl, read } from "./transcripts-material.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/transcripts/${name}`, import.meta.url));
const SESSION = fixture("claude-code-2.1.325-session.jsonl");

describe("a recorded session", () => {
  it("is one exchange, without what hooks put into it", async () => {
    const found = await all("claude-code", SESSION);
    expect(found).toEqual([
      {
        key: "20275bcb-6ab7-4d21-b48b-b6c8e758a038",
        at: "2026-11-15T06:58:08.786Z",
        content: "User: call noop\nAgent: All done.",
        tags: ["plugin_tiny-memory_mem.noop"],
        next: 8026,
      },
    ]);
    expect(JSON.stringify(found)).not.toContain("MEMCTX");
  });

  it("is not over before its turn is", async () => {
    expect(await all("claude-code", SESSION, { final: false })).toEqual([]);
  });

  it("says in its first lines whose it is", async () => {
    expect(await readHead("claude-code", SESSION)).toEqual({
      ...{ session: "aab89a7b-0175-4ccd-95b5-60ddd6165310", folder: "/home/dev/project" },
      ...{ started: "2026-11-15T06:58:08.564Z", agent: "claude-code" },
    });
    expect(await readHead("codex", SESSION)).toBeUndefined();
  });

  it("of a sub-agent gives nothing", async () => {
    expect(await all("claude-code", fixture("claude-code-2.1.325-subagent.jsonl"))).toEqual([]);
  });
});

describe("Claude Code", () => {
  test.each(CASES)("%s", async (_name, rows, expected) => {
    expect(await contents("claude-code", rows)).toEqual(expected);
  });

  it("keeps no secret, wherever it stands", async () => {
    const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const rows = [
      claude.user(`Use ${token} to push.`),
      claude.uses("t1", "Bash", { command: `git push https://me:${token}@forge.example/x` }),
      claude.uses("t2", "Write", { file_path: `/home/dev/shop/${token}.txt` }),
      claude.uses("t3", token, {}),
      claude.result("t3", `error: ${token} is not allowed`, { is_error: true }),
      claude.says(`Pushed with ${token}.`),
    ];
    const found = await read("claude-code", jsonl(rows));
    expect(found).toHaveLength(1);
    expect(found[0]?.content).toMatch(/^User: Use \[redacted:\w+\] to push\.\nAgent: Pushed with/);
    expect(found[0]?.content).toContain("Failed:");
    expect(JSON.stringify(found)).not.toContain("abcdefghijklmnop");
  });

  it("tags what was used and how it went", async () => {
    const rows = [
      claude.user("No, use pnpm, not npm."),
      claude.uses("t1", "Bash", { command: "npm i" }),
      claude.result("t1", "error: nope", { is_error: true }),
      claude.uses("t2", "mcp__tracker__create_issue", {}),
      claude.uses("t3", "mcp__butler-memory__memory_recall", {}),
      claude.uses("t4", "AskUserQuestion", {}),
      claude.result("t4", "The user responded: later"),
      DONE,
    ];
    const [only] = await read("claude-code", jsonl(rows));
    expect(only?.tags).toEqual([
      "correction",
      "bash",
      "failure",
      "tracker.create_issue",
      "askuserquestion",
      "decision",
    ]);
  });

  it("reads whatever stands around its lines", async () => {
    const [ask, done] = [JSON.stringify(ASK), JSON.stringify(DONE)];
    const odd = `\ufeff${ask}\r\n\r\nnot json\n{"type":"user","mess\n[1,2]\nnull\n\0\0\0\0${done}\0\r\n{"type":"assistant","message":{"content":[{"type":"text","te`;
    expect((await read("claude-code", odd)).map(({ content }) => content)).toEqual([PLAIN]);
  });

  it("goes on where it was, and starts again when the file is another one", async () => {
    const first = jsonl([ASK, DONE]);
    const second = jsonl([claude.user("Now the docs."), claude.says("Wrote them.")]);
    await inFile(first + second, async (path) => {
      const [one, two] = await all("claude-code", path);
      expect(one?.next).toBe(Buffer.byteLength(first));
      expect(two?.next).toBe(Buffer.byteLength(first + second));
      expect(await all("claude-code", path, { from: one?.next ?? 0 })).toEqual([two]);
      expect(await all("claude-code", path, { from: two?.next ?? 0 })).toEqual([]);
      expect(await all("claude-code", path, { from: 10_000_000 })).toEqual([one, two]);
    });
  });

  it("ends early when it is told to, with nothing half read", async () => {
    expect(await read("claude-code", jsonl([ASK, DONE]), { signal: AbortSignal.abort() })).toEqual([]);
  });

  it("fails for a file that is not there", async () => {
    await expect(all("claude-code", "/nowhere/at/all.jsonl")).rejects.toThrow("ENOENT");
  });
});

describe("an episode", () => {
  const exchange = { key: "u1", at: "2026-05-01T09:00:00.000Z", content: "User: a\nAgent: b", tags: ["bash"], next: 1 };

  it("is known by its session and prompt", () => {
    expect(episodeOf(exchange, { agent: "codex", session: "s1", folder: "/p", project: "k" })).toEqual({
      ...{ content: exchange.content, session_id: "s1", importance: 5, tags: ["bash"], occurred_at: exchange.at },
      metadata: { format: "exchange", agent: "codex", folder: "/p", project: "k" },
      idempotency_key: "transcript:codex:s1:u1",
    });
  });

  test.each([["correction"], ["decision"]])("with a %s matters more", (tag) => {
    expect(episodeOf({ ...exchange, tags: [tag] }, { agent: "codex", session: "s1" })).toMatchObject({ importance: 7 });
  });

  it("has a key that fits, whatever the session is called", () => {
    const keys = ["a", "b"].map(
      (end) => episodeOf(exchange, { agent: "codex", session: "s".repeat(500) + end }).idempotency_key as string,
    );
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key.length).toBeLessThanOrEqual(200);
  });
});
