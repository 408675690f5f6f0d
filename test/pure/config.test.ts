import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultButler, parseButlerToml } from "../../src/daemon/config/config.ts";
import { homeAt } from "../../src/daemon/home.ts";
import { loadRoster } from "../../src/daemon/roster/roster.ts";
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

  test("memory is for those who ask for it", () => {
    expect(parse('[butler]\nname = "x"').memory.enabled).toBe(false);
    expect(parse('[butler]\nname = "x"\n[modules]').memory.enabled).toBe(false);
    expect(parse('[butler]\nname = "x"\n[modules.memory]').memory.enabled).toBe(true);
    expect(parse('[butler]\nname = "x"\n[modules.memory.eden]\nttl_hours = 24').memory.enabled).toBe(true);
    expect(parse('[butler]\nname = "x"\n[modules.memory]\nenabled = false').memory.enabled).toBe(false);
    expect(defaultButler("x").memory.enabled).toBe(true);
    const { memory } = parse('[butler]\nname = "x"');
    expect({ ...memory, enabled: true }).toEqual(defaultButler("x").memory);
  });

  test("the agent of a butler has a command, arguments with placeholders, a limit and variables", () => {
    expect(parse('[butler]\nname = "x"').runtime).toEqual({
      command: "claude",
      args: [],
      timeout_seconds: 1800,
      env: {},
    });
    const { runtime } = parse(`[butler]
name = "x"
[butler.runtime]
command = "codex"
args = ["exec", "{prompt}", "--config={mcp_config}", '{"json": true}', "{}", "{system}{session}"]
timeout_seconds = 60
env = { LANG = "C" }`);
    expect(runtime).toEqual({
      command: "codex",
      args: ["exec", "{prompt}", "--config={mcp_config}", '{"json": true}', "{}", "{system}{session}"],
      timeout_seconds: 60,
      env: { LANG: "C" },
    });
  });

  test("a shared Memory Butler is named by either of its addresses", () => {
    const memory = (lines: string) => parse(`[butler]\nname = "x"\n[modules.memory]\n${lines}`).memory;
    for (const service of [
      "http://127.0.0.1:4270/butlers/memory",
      "http://127.0.0.1:4270/butlers/memory/",
      "http://127.0.0.1:4270/butlers/memory/mcp",
      "https://example.org/inside/mcp",
    ]) {
      const settings = memory(`service = "${service}"`);
      expect(settings).toMatchObject({ service, service_token_env: "BUTLER_SERVICE_TOKEN" });
    }
  });

  test("a path is meant from the file that names it", () => {
    const file = (path: string) =>
      parse(`[butler]\nname = "x"\n[modules.memory]\nservice_token_file = "${path}"`).memory.service_token_file;
    expect(file("token")).toBe(join(process.cwd(), "roster/x/token"));
    expect(file("/etc/token")).toBe("/etc/token");
    expect(file("~/token")).toBe(join(homedir(), "token"));
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
    expect(loadRoster(undefined).map(({ name, memory }) => [name, memory.enabled])).toEqual([["general", true]]);
  });

  test("every folder with a butler.toml is a butler, in the order of names", () => {
    write("zoe", '[butler]\nname = "zoe"');
    write("ann", '[butler]\nname = "ann"');
    mkdirSync(join(folder, "notes"));
    expect(loadRoster(folder).map(({ name }) => name)).toEqual(["ann", "zoe"]);
  });

  test("a butler must be called like its folder", () => {
    write("ann", '[butler]\nname = "eve"');
    expect(() => loadRoster(folder)).toThrow(
      `${folder}/ann/butler.toml:2: butler.name: found "eve", expected "ann", the name of its folder.`,
    );
  });

  test("two butlers must not have one name", () => {
    write("ann", '[butler]\nname = "ann"');
    write("eve", '[butler]\nname = "ann"\nrole = "cook"');
    expect(() => loadRoster(folder)).toThrow(
      [
        `${folder}/eve/butler.toml:2: butler.name: found "ann", expected "eve", the name of its folder; another butler has that name.`,
        `${folder}/eve/butler.toml:3: butler.role: found "cook", expected one of "butler", "memory".`,
      ].join("\n"),
    );
  });

  test("a butler knows where it was written down", () => {
    write("ann", '[butler]\nname = "ann"');
    expect(loadRoster(folder).map((config) => config.folder)).toEqual([join(folder, "ann")]);
  });

  test("a file that cannot be read is a fault like others", () => {
    write("ann", '[butler]\nname = "ann"\nrole = 1');
    mkdirSync(join(folder, "bob", "butler.toml"), { recursive: true });
    expect(() => loadRoster(folder)).toThrow(/ann\/butler\.toml:3[\s\S]*bob\/butler\.toml: it cannot be read \(EISDIR/);
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
    expect(roster.map(({ name, role, memory }) => [name, role, memory.enabled])).toEqual([
      ["general", "butler", true],
      ["health", "butler", true],
      ["memory", "memory", true],
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
      idleSeconds: 36_000,
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
