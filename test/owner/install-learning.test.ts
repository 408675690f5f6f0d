/** Who may be asked when sessions are learned from: asked in words, once, and never decided silently. */
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { readEnvironment } from "../../src/main/environment.ts";
import type { World } from "../pure/install-world.ts";
import { atInstallWorld } from "../support/install-session.ts";

const current = atInstallWorld(["PATH", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"]);
let world: World;
beforeEach(() => {
  world = current();
  process.env.PATH = "";
});

const settings = () => join(world.user, ".butler", "butler.toml");
const read = (file = settings()) => readFileSync(file, "utf8");

/** The claude program, as far as it is looked for. */
function withClaude(): void {
  const folder = join(world.user, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "claude"), "#!/bin/sh\n");
  chmodSync(join(folder, "claude"), 0o700);
  process.env.PATH = folder;
}

interface Told {
  readonly said: string;
  readonly noted: string;
  readonly asked: readonly string[];
}

/** `answers` is what is typed, one after the other; undefined: Ctrl-C. Without any there is no terminal. */
async function butler(
  command: "install" | "uninstall" | "config",
  args: readonly string[],
  answers?: readonly (string | undefined)[],
): Promise<Told> {
  const { run } = await (command === "install"
    ? import("../../src/main/commands/install.ts")
    : command === "uninstall"
      ? import("../../src/main/commands/uninstall.ts")
      : import("../../src/main/commands/config.ts"));
  const said: string[] = [];
  const noted: string[] = [];
  const asked: string[] = [];
  const typed = [...(answers ?? [])];
  const ask = async (question: string) => {
    asked.push(question);
    return answers === undefined ? undefined : typed.shift();
  };
  const say = (line: string) => void said.push(line);
  const note = (line: string) => void noted.push(line);
  expect(await run(args, { environment: readEnvironment(), say, note, ask })).toBe(0);
  return { said: said.join("\n"), noted: noted.join("\n"), asked };
}

describe("butler install", () => {
  test("asks in words, with what is sent to whom and the daily cap; Enter is no model, and that is an answer", async () => {
    withClaude();
    const first = await butler("install", ["claude-code"], [""]);
    expect(first.asked).toHaveLength(1);
    expect(first.asked[0]).toContain("May a language model help to learn from your sessions?");
    expect(first.asked[0]).toContain("what you asked, what the agent answered");
    expect(first.asked[0]).toContain("at most $1.00 a day");
    expect(first.asked[0]).toContain("1  no model");
    expect(first.asked[0]).toContain("2  your own Claude login: the claude program sends it to Anthropic");
    expect(first.asked[0]).not.toContain("ANTHROPIC_API_KEY");
    expect(first.said).toContain("It learns without a language model (~/.butler/butler.toml:6).");
    expect(read()).toContain('[modules.memory.extractor]\nprovider = "local"\n');
    expect(statSync(settings()).mode & 0o777).toBe(0o600);

    const second = await butler("install", ["codex"], ["2"]);
    expect(second.asked).toEqual([]);
    expect(second.said).toContain("It learns without a language model");
    expect(second.said).toContain("To change that: butler install codex --learn-with");
  });

  test("takes the login, a key or a server when that is chosen, and shows where it stands", async () => {
    withClaude();
    process.env.ANTHROPIC_API_KEY = "an invented key";
    const { said } = await butler("install", ["claude-code"], ["2"]);
    expect(said).toContain("It learns with claude-cli, for at most $1.00 a day (~/.butler/butler.toml:6).");
    const shown = await butler("config", ["show"]);
    expect(shown.said).toMatch(/modules\.memory\.extractor\.provider\s+"claude-cli"\s+butler\.toml:6/);
    expect((await butler("config", ["check"])).said).toContain("There is no roster: one butler, with ");

    await butler("install", ["claude-code", "--learn-with", "anthropic"]);
    expect(read()).toContain('provider = "anthropic"');
    expect(read()).not.toContain("claude-cli");
    expect(read()).not.toContain("an invented key");

    process.env.OPENAI_API_KEY = "another invented key";
    const more = ["--learn-model", "gpt-5-nano", "--learn-price", "0.05/0.40"];
    await butler("install", ["claude-code", "--learn-with", "openai-compatible", ...more]);
    expect(read()).toContain(
      'provider = "openai-compatible"\nmodel = "gpt-5-nano"\nbase_url = "https://api.openai.com/v1"\ninput_price = 0.05\noutput_price = 0.4\n',
    );
    // What belonged to the server goes with it.
    await butler("install", ["claude-code", "--learn-with", "local"]);
    expect(read()).not.toMatch(/model|base_url|price/);
  });

  test("asks on for a server: its address, model and price", async () => {
    process.env.OPENAI_API_KEY = "an invented key";
    const { asked } = await butler("install", ["codex"], ["2", "http://127.0.0.1:11434/v1", "qwen3", ""]);
    expect(asked).toHaveLength(4);
    expect(read()).toContain(
      'provider = "openai-compatible"\nmodel = "qwen3"\nbase_url = "http://127.0.0.1:11434/v1"\n',
    );
  });

  test.each<readonly [string, readonly (string | undefined)[], RegExp]>([
    ["Ctrl-C", [undefined], /^$/],
    ["a number that is none", ["7"], /"7" is none of them\. No model is asked; the question comes again/],
    ["Ctrl-C at the second question", ["2", undefined], /^$/],
    ["no model", ["2", "", ""], /A model is needed\./],
    ["a price that is unknown", ["2", "", "gpt-5", ""], /the price of "gpt-5" is not known/],
    ["a price that is none", ["2", "", "gpt-5", "cheap"], /dollars for a million tokens/],
  ])("writes nothing after %s, and asks again the next time", async (_what, answers, noted) => {
    process.env.OPENAI_API_KEY = "an invented key";
    const told = await butler("install", ["codex"], answers);
    expect(told.noted).toMatch(noted);
    expect(told.said).not.toContain("It learns");
    expect(() => read()).toThrow("ENOENT");
    expect((await butler("install", ["codex"], [""])).asked).toHaveLength(1);
  });

  test("asks nothing without a terminal, with --json, in a dry run, and where there is nothing to choose", async () => {
    const none = await butler("install", ["codex"], ["1"]);
    expect(none.asked).toEqual([]);
    withClaude();
    for (const flag of ["--json", "--dry-run"])
      expect((await butler("install", ["claude-code", flag], ["2"])).asked, flag).toEqual([]);
    const { said } = await butler("install", ["cursor"]);
    expect(said).not.toContain("It learns");
    expect(() => read()).toThrow("ENOENT");
    const dry = await butler("install", ["cursor", "--dry-run", "--learn-with", "claude-cli"]);
    expect(dry.asked).toEqual([]);
    expect(() => read()).toThrow("ENOENT");
    const json = await butler("install", ["cursor", "--json", "--learn-with", "claude-cli"]);
    expect(JSON.parse(json.said)).toMatchObject({ learn_with: "claude-cli" });
    expect(read()).toContain("claude-cli");
  });

  test.each([
    [["--learn-with", "gpt"], "it must be one of local, anthropic, openai-compatible, claude-cli"],
    [["--learn-with", "claude-cli"], "not on the PATH"],
    [["--learn-with", "anthropic"], "needs a key in the environment variable ANTHROPIC_API_KEY"],
    [["--learn-with", "openai-compatible"], "needs model and base_url"],
    [["--learn-model", "x"], "need --learn-with"],
  ])("%j could not work, and nothing is installed", async (flags, words) => {
    await expect(butler("install", ["codex", ...flags])).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(words),
    });
    expect(Object.keys(world.snapshot())).toEqual(["/", "person/", "project/"]);
  });

  test("in a roster: the butler's own file, through a link, with its mode and every other line", async () => {
    withClaude();
    const roster = join(world.user, "roster");
    const text =
      '[butler]\nname = "ann" # ours\n\n[modules.memory.extractor]\ndaily_budget_usd = 0.25\n\n[modules.memory.privacy]\nredact = true\n';
    mkdirSync(join(roster, "ann"), { recursive: true });
    const real = join(world.user, "ann.toml");
    writeFileSync(real, text);
    chmodSync(real, 0o644);
    symlinkSync(real, join(roster, "ann", "butler.toml"));
    process.env.BUTLER_ROSTER = roster;
    const { asked, said } = await butler("install", ["claude-code"], ["2"]);
    expect(asked[0]).toContain("at most $0.25 a day");
    expect(said).toContain("for at most $0.25 a day (~/roster/ann/butler.toml:5)");
    expect(read(real)).toBe(text.replace("extractor]\n", 'extractor]\nprovider = "claude-cli"\n'));
    expect(statSync(real).mode & 0o777).toBe(0o644);
  });

  test("a butler without a memory of its own is not asked about, and memory is not switched on by a flag", async () => {
    withClaude();
    const roster = join(world.user, "roster");
    mkdirSync(join(roster, "ann"), { recursive: true });
    writeFileSync(join(roster, "ann", "butler.toml"), '[butler]\nname = "ann"\n');
    process.env.BUTLER_ROSTER = roster;
    expect((await butler("install", ["claude-code"], ["2"])).asked).toEqual([]);
    await expect(butler("install", ["claude-code", "--learn-with", "claude-cli"])).rejects.toThrow(/memory is off/);
  });

  test("uninstalling keeps the choice and says so; without one it leaves nothing", async () => {
    withClaude();
    await butler("install", ["claude-code"], [undefined]);
    await butler("uninstall", ["claude-code"]);
    expect(Object.keys(world.snapshot()).filter((path) => path.includes(".butler"))).toEqual([]);
    await butler("install", ["claude-code"], ["2"]);
    const { said, asked } = await butler("uninstall", ["claude-code"], []);
    expect(asked).toEqual([]);
    expect(said).toContain(
      "What you chose for learning stays; to change it, edit that line. It learns with claude-cli, for at most $1.00 a day",
    );
    expect(read()).toContain("claude-cli");
  });
});
