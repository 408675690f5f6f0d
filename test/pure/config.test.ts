import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseButlerToml } from "../../src/butler/config.ts";
import { homeAt } from "../../src/butler/home.ts";
import { loadRoster } from "../../src/butler/roster.ts";
import { readEnvironment } from "../../src/main/environment.ts";

const parse = (text: string) => parseButlerToml(text, "roster/x/butler.toml");

describe("butler.toml", () => {
  test("defaults fill what is not written", () => {
    const config = parse('[butler]\nname = "x"');
    expect(config).toMatchObject({ name: "x", role: "butler", tenant: "default", description: "", schedule: {} });
    expect(config.memory.retrieval.context_token_budget).toBe(3000);
  });

  test("the configuration of the project plan is understood", () => {
    const config = parse(`
[butler]
name = "x"
role = "memory"
tenant = "acme"

[butler.runtime]
command = "claude"

[butler.schedule]
consolidate = { cron = "0 */6 * * *", prompt = "Run memory consolidation" }

[modules.memory]
enabled = true
embedding_model = "all-MiniLM-L6-v2"
embedding_dimensions = 384

[modules.memory.episodes]
default_ttl_days = 3
max_entries = 10000

[modules.memory.facts]
retrieval_confidence_threshold = 0.2
expiry_confidence_threshold = 0.05

[modules.memory.rules]
promote_to_established = { min_successes = 5, min_effectiveness = 0.6 }
promote_to_proven = { min_successes = 15, min_effectiveness = 0.8, min_age_days = 30 }
harmful_to_antipattern = { min_harmful = 3, max_effectiveness = 0.3 }

[modules.memory.retrieval]
default_limit = 20
default_mode = "hybrid"
context_token_budget = 1234
score_weights = { relevance = 0.4, importance = 0.3, recency = 0.2, confidence = 0.1 }
`);
    expect(config).toMatchObject({ role: "memory", tenant: "acme", runtime: { command: "claude" } });
    expect(config.schedule.consolidate).toEqual({
      cron: "0 */6 * * *",
      prompt: "Run memory consolidation",
      enabled: true,
    });
    expect(config.memory.episodes.default_ttl_days).toBe(3);
    expect(config.memory.retrieval.context_token_budget).toBe(1234);
  });

  test.each([
    [
      '[butler]\nname = "x"\n[modules.memory.episodes]\ndefault_ttl_days = "seven"',
      /butler\.toml: modules\.memory\.episodes\.default_ttl_days: found "seven", expected a number\./,
    ],
    ['[butler]\nname = "x"\nrole = "cook"', /butler\.role: found "cook", expected one of "butler", "memory"\./],
    ['[butler]\nname = "X Y"', /butler\.name: found "X Y", expected a small letter/],
    [
      '[butler]\nname = "x"\ncolour = "red"',
      /butler\.colour: found a key that is not known here, expected one of name, role, tenant/,
    ],
    [
      '[butler]\nname = "x"\n[modules.memroy]',
      /modules\.memroy: found a key that is not known here, expected one of memory\./,
    ],
    [
      '[butler]\nname = "x"\n[butler.schedule]\ndecay_sweep = { cron = "daily" }',
      /butler\.schedule\.decay_sweep\.cron: found "daily", expected a cron line/,
    ],
    [
      '[butler]\nname = "x"\n[butler.schedule]\ndecay_sweep = { cron = "0 3 * * *", at = 1 }',
      /butler\.schedule\.decay_sweep\.at: .* expected one of cron, prompt, enabled/,
    ],
    ["[modules.memory]\nenabled = true", /butler: found nothing, expected a table\./],
    ['[butler]\nname = "x', /butler\.toml: line 2, column/],
  ])("%j is refused with file, key, finding and expectation", (text, words) => {
    expect(() => parse(text)).toThrow(words);
  });

  test("all faults of a file are told at once", () => {
    const text = '[butler]\nname = "x"\nrole = 7\n[modules.memory]\nenabled = "yes"';
    expect(() => parse(text)).toThrow(/butler\.role[\s\S]*\n.*modules\.memory\.enabled/);
  });
});

describe("roster", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "roster-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function write(name: string, text: string): void {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "butler.toml"), text);
  }

  test("without one there is the butler general", () => {
    expect(loadRoster(undefined).map(({ name }) => name)).toEqual(["general"]);
  });

  test("every folder with a butler.toml is a butler, in the order of names", () => {
    write("zoe", '[butler]\nname = "zoe"');
    write("ann", '[butler]\nname = "ann"');
    mkdirSync(join(folder, "notes"));
    expect(loadRoster(folder).map(({ name }) => name)).toEqual(["ann", "zoe"]);
  });

  test("a butler must be called like its folder", () => {
    write("ann", '[butler]\nname = "eve"');
    expect(() => loadRoster(folder)).toThrow(/ann\/butler\.toml: butler\.name: found "eve", expected "ann"/);
  });

  test("the faults of all files come together", () => {
    write("ann", "[butler]\nname = 1");
    write("zoe", '[butler]\nname = "zoe"\nrole = "cook"');
    expect(() => loadRoster(folder)).toThrow(/ann\/butler\.toml[\s\S]*zoe\/butler\.toml/);
  });

  test("an empty or missing folder is told", () => {
    expect(() => loadRoster(folder)).toThrow(/holds no <name>\/butler\.toml/);
    expect(() => loadRoster(join(folder, "nowhere"))).toThrow(/is not a folder/);
  });

  test("the example roster of the package is valid", () => {
    const roster = loadRoster("roster");
    expect(roster.map(({ name, role }) => [name, role])).toEqual([
      ["general", "butler"],
      ["health", "butler"],
      ["memory", "memory"],
    ]);
  });
});

describe("home and environment", () => {
  test("a socket path that the kernel would cut moves to the temporary folder", () => {
    expect(homeAt("/short").socket).toBe("/short/run/owner.sock");
    const long = homeAt(`/${"long".repeat(30)}`).socket;
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(100);
    expect(long).toMatch(/butler-\d+-[0-9a-f]{16}\/owner\.sock$/);
    expect(homeAt(`/${"wide".repeat(30)}`).socket).not.toBe(long);
  });

  test("paths become absolute and empty variables count as unset", () => {
    const environment = readEnvironment({ BUTLER_HOME: "here", BUTLER_ROSTER: "", BUTLER_PORT: "0" });
    expect(environment.home).toBe(join(process.cwd(), "here"));
    expect(environment).toMatchObject({
      roster: undefined,
      port: 0,
      host: "127.0.0.1",
      idleSeconds: 30,
      logLevel: undefined,
    });
  });

  test.each([
    [{ BUTLER_PORT: "70000" }, /BUTLER_PORT is "70000"/],
    [{ BUTLER_PORT: "http" }, /BUTLER_PORT is "http"/],
    [{ BUTLER_NOW: "tomorrow" }, /BUTLER_NOW is "tomorrow"/],
    [{ BUTLER_LOG: "loud" }, /BUTLER_LOG is "loud"/],
    [{ BUTLER_IDLE_SECONDS: "-1" }, /BUTLER_IDLE_SECONDS is "-1"/],
  ])("%j is refused by name", (variables, words) => {
    expect(() => readEnvironment(variables)).toThrow(words);
  });
});
