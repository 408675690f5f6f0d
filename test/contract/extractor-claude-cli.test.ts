import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type ClaudeCliOptions,
  claudeCliExtractor,
} from "../../src/engine/adapters/extractor/claude-cli/claude-cli.ts";
import { knownPrice } from "../../src/engine/adapters/extractor/pricing.ts";
import { Answer } from "../../src/engine/domain/learning/answer.ts";
import { askedOf, type FakeClaude, flagOf, type Printed, startFakeClaude } from "../support/fake-claude.ts";
import { fail, say } from "../support/fake-model.ts";
import { TEA } from "../support/material.ts";
import { PATIENCE } from "../support/patience.ts";
import { ANSWER, extractorContract } from "./extractor.ts";

const KEY = "an invented key 789";
const ALWAYS = new AbortController().signal;
const SETTINGS = { timeoutMs: 30_000, maxOutputTokens: 4_000, price: { input: 3, output: 15 } };

extractorContract("claude-cli", async () => {
  const claude = await startFakeClaude();
  const env = { PATH: claude.bin, ANTHROPIC_API_KEY: KEY };
  return {
    plan: claude.plan,
    asked: () => claude.calls().map(askedOf),
    close: claude.close,
    key: KEY,
    extractor: (settings) => claudeCliExtractor({ model: "haiku", env, ...settings }),
  };
});

describe("the program claude", () => {
  let claude: FakeClaude;
  beforeAll(async () => {
    claude = await startFakeClaude();
  });
  afterAll(() => claude.close());

  const extract = (more: Partial<ClaudeCliOptions> = {}) =>
    claudeCliExtractor({ model: "haiku", env: { PATH: claude.bin }, ...SETTINGS, ...more }).extract(TEA, ALWAYS);
  const callOf = async (more: Partial<ClaudeCliOptions>) => {
    await claude.plan(say(JSON.stringify(ANSWER)));
    await extract(more);
    return claude.calls()[0]!;
  };
  const printed = (json: unknown, code: number, stderr = ""): Printed => ({ raw: JSON.stringify(json), stderr, code });
  const alive = (pid: number) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  it("is given the material on stdin and nothing of it among its arguments", async () => {
    const { argv, stdin } = await callOf({ env: { PATH: claude.bin, ANTHROPIC_API_KEY: KEY } });
    expect(argv.slice(0, 2)).toEqual(["-p", "--bare"]);
    expect(flagOf(argv, "--output-format")).toBe("json");
    expect(flagOf(argv, "--model")).toBe("haiku");
    expect(flagOf(argv, "--tools")).toBe("");
    expect(argv).toEqual(expect.arrayContaining(["--strict-mcp-config", "--no-session-persistence"]));
    expect(stdin).toContain("I only drink green tea");
    for (const words of ["green tea last", "I only drink", "Linz", KEY]) expect(argv.join(" ")).not.toContain(words);
  });

  it("keeps the login of somebody who has no key, and still runs no hooks", async () => {
    const { argv } = await callOf({});
    expect(argv).not.toContain("--bare");
    expect(argv).toContain("--setting-sources=");
    expect(JSON.parse(flagOf(argv, "--settings") ?? "{}")).toEqual({ disableAllHooks: true });
    expect((await callOf({ bare: true })).argv).toContain("--bare");
  });

  it("is told that this is a consolidation, and none of our secrets", async () => {
    const ours = { BUTLER_DATABASE_URL: "postgres://u:p@h/d", BUTLER_HOME: "/x", CLAUDECODE: "1", HOME: "/y" };
    const { env } = await callOf({ env: { PATH: claude.bin, ...ours } });
    expect(env).toMatchObject({ BUTLER_CONSOLIDATION: "1", HOME: "/y", CLAUDE_CODE_MAX_OUTPUT_TOKENS: "4000" });
    for (const name of ["BUTLER_DATABASE_URL", "BUTLER_HOME", "CLAUDECODE"]) expect(env).not.toHaveProperty(name);
  });

  it("may spend half of the ceiling in each of two calls, and needs no budget when it is free", async () => {
    await claude.plan(say("{"), say(JSON.stringify(ANSWER)));
    await extract();
    const ceiling = claudeCliExtractor({ model: "haiku", env: {}, ...SETTINGS }).ceiling(TEA);
    const budgets = claude.calls().map(({ argv }) => Number(flagOf(argv, "--max-budget-usd")));
    expect(budgets).toEqual([expect.closeTo(ceiling / 2, 3), expect.closeTo(ceiling / 2, 3)]);
    expect((await callOf({ price: { input: 0, output: 0 } })).argv).not.toContain("--max-budget-usd");
  });

  it("works in an empty folder that is gone afterwards", async () => {
    const { cwd } = await callOf({});
    expect(cwd).toContain("butler-claude-");
    expect(existsSync(cwd)).toBe(false);
  });

  it("that is not there is asked for in words", async () => {
    for (const command of ["claude", "no-such-program"]) {
      await expect(extract({ command, env: { PATH: "/nowhere" } })).rejects.toMatchObject({
        kind: "misconfigured",
        message: expect.stringMatching(/no program ".*" on the PATH\. Install Claude Code/),
      });
    }
  });

  it("dies with everything it has started", async () => {
    await claude.plan({ kind: "hang" });
    const one = claudeCliExtractor({ model: "haiku", env: { PATH: claude.bin }, ...SETTINGS });
    const control = new AbortController();
    const pending = one.extract(TEA, control.signal).catch((error: unknown) => error);
    await vi.waitFor(() => expect(claude.calls()).toHaveLength(1), PATIENCE);
    const { pid, child, cwd } = claude.calls()[0]!;
    expect([alive(pid), alive(child!)]).toEqual([true, true]);
    control.abort();
    expect(await pending).toMatchObject({ kind: "timeout" });
    await vi.waitFor(() => expect([alive(pid), alive(child!)]).toEqual([false, false]), PATIENCE);
    expect(existsSync(cwd)).toBe(false);
  });

  it("may print its answer as text, or as the last of many messages", async () => {
    const result = { type: "result", subtype: "success", is_error: false, result: JSON.stringify(ANSWER) };
    await claude.plan(printed(result, 0));
    expect((await extract()).answer).toEqual(ANSWER);
    await claude.plan(printed([{ type: "system" }, { ...result, structured_output: ANSWER, result: "Done." }], 0));
    expect(await extract()).toMatchObject({ answer: ANSWER, usage: { input_tokens: 0, cost_usd: 0 } });
    await claude.plan({ raw: `a warning\n${JSON.stringify(result)}\n`, stderr: "", code: 0 });
    expect((await extract()).answer).toEqual(ANSWER);
  });

  const ended = (more: object) => ({ type: "result", subtype: "success", is_error: true, result: "", ...more });
  it.each([
    ["misconfigured", printed(ended({ result: "Not logged in · Please run /login" }), 1)],
    ["misconfigured", printed("", 1, "error: unknown option '--json-schema'")],
    ["misconfigured", printed(ended({ result: "There's an issue with the selected model (x)." }), 1)],
    ["rate_limited", printed(ended({ result: "Claude AI usage limit reached|1760000000" }), 1)],
    ["rate_limited", printed(ended({ api_error_status: 429, result: "slow down" }), 1)],
    ["unavailable", printed(ended({ result: "API Error: Repeated 529 Overloaded errors" }), 1)],
    ["unavailable", printed(ended({ result: "API Error: Connection error." }), 1)],
    ["unavailable", printed(ended({ result: "API Error: connect ECONNREFUSED 127.0.0.1:1" }), 1, "oauth warning")],
    ["unavailable", printed("", 1)],
    ["too_large", printed(ended({ result: "Prompt is too long" }), 1)],
    ["refused", printed(ended({ stop_reason: "refusal" }), 1)],
    ["invalid_answer", printed(ended({ subtype: "error_max_structured_output_retries" }), 1)],
    ["invalid_answer", printed(ended({ subtype: "error_max_budget_usd", total_cost_usd: 0.1 }), 1)],
  ] as const)("has failed as %s when it says so (%#)", async (kind, said) => {
    await claude.plan(said);
    await expect(extract()).rejects.toMatchObject({ kind });
    expect(claude.calls()).toHaveLength(1);
  });

  it("tells somebody who has not logged in what to do", async () => {
    await claude.plan(printed(ended({ result: "Not logged in · Please run /login" }), 1));
    await expect(extract()).rejects.toThrow('Run "claude" and log in, or set ANTHROPIC_API_KEY');
  });

  it("has spent what it says even when it fails", async () => {
    await claude.plan(printed(ended({ subtype: "error_max_turns", total_cost_usd: 0.25 }), 1));
    await expect(extract()).rejects.toMatchObject({ usage: { cost_usd: 0.25 } });
  });

  it("that ends before it has read its input is not waited for", async () => {
    await claude.plan(fail(500));
    const long = { ...TEA, episodes: TEA.episodes.map((one) => ({ ...one, text: "tea ".repeat(500_000) })) };
    const one = claudeCliExtractor({ model: "haiku", command: "false", env: { PATH: process.env.PATH }, ...SETTINGS });
    await expect(one.extract(long, ALWAYS)).rejects.toMatchObject({ kind: "unavailable" });
  });
});

const real = process.env.BUTLER_TEST_CLAUDE === "1";
describe("the real program", () => {
  it.skipIf(!real)(
    "answers (skipped unless BUTLER_TEST_CLAUDE=1: it needs Claude Code, a login and a little money)",
    async () => {
      const price = knownPrice("haiku")!;
      const settings = { model: "haiku", env: process.env, timeoutMs: 120_000, maxOutputTokens: 8_000, price };
      const { answer, usage } = await claudeCliExtractor(settings).extract(TEA, ALWAYS);
      expect(Answer.parse(answer).facts.some((fact) => /graz/i.test(fact.content))).toBe(true);
      expect(usage.output_tokens).toBeGreaterThan(0);
    },
    180_000,
  );
});
