/** A choice written into a butler.toml, and the file of the one butler without a roster. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { checkButlerToml, parseButlerToml } from "../../src/daemon/config/config.ts";
import { choiceLine, type LearningChoice, withChoice } from "../../src/daemon/config/learning-choice.ts";
import { loadRoster } from "../../src/daemon/roster/roster.ts";

const FILE = "ann/butler.toml";
const HEAD = '[butler]\nname = "ann"\n';
const extractorOf = (text: string) => parseButlerToml(text, FILE).memory.extractor;
const CLAUDE: LearningChoice = { provider: "claude-cli" };
const SERVER: LearningChoice = {
  ...{ provider: "openai-compatible", model: 'a "quoted"\\model', base_url: "http://127.0.0.1:11434/v1" },
  ...{ input_price: 0.05, output_price: 0.4 },
};

describe("a choice in a butler.toml", () => {
  it.each([
    ["no file", undefined],
    ["a file without the table", `${HEAD}[modules.memory]\n`],
    ["the table", `${HEAD}[modules.memory.extractor]\ntimeout_seconds = 30\n`],
    [
      "the table with a remark, in windows' lines",
      `${HEAD}[ modules . memory . extractor ] # here\r\ntimeout_seconds = 30\r\n`,
    ],
    [
      "another choice",
      `${HEAD}[modules.memory.extractor]\nprovider = "anthropic" # mine\nmodel = "claude-haiku-5-5"\n`,
    ],
    [
      "another choice behind other tables",
      `${HEAD}[modules.memory.extractor]\nprovider = "local"\n[modules.memory.mid]\nttl_days = 9\n`,
    ],
    ["dotted keys", `${HEAD}[modules.memory]\nextractor.provider = "anthropic"\n`],
    ["no line end", `${HEAD}[modules.memory]`],
  ])("is found again by the reader of settings: %s", (_what, text) => {
    for (const choice of [CLAUDE, SERVER]) {
      const made = withChoice(text, FILE, "ann", choice);
      const { timeout_seconds, daily_budget_usd, prefilter, ...rest } = extractorOf(made);
      expect(rest).toEqual(choice);
      expect([daily_budget_usd, prefilter]).toEqual([1, true]);
      if (text?.includes("timeout")) expect(timeout_seconds).toBe(30);
      const checked = checkButlerToml(made, FILE);
      expect(checked.ok && choiceLine(checked.written)).toBeGreaterThan(0);
      // The same choice again changes nothing.
      expect(withChoice(made, FILE, "ann", choice)).toBe(made);
    }
  });

  it("changes no other line", () => {
    const text = `# top\n${HEAD}\n[modules.memory.extractor] # who\nprovider = "local"\ndaily_budget_usd = 3 # cap\n\n# end\n`;
    expect(withChoice(text, FILE, "ann", CLAUDE)).toBe(text.replace('"local"', '"claude-cli"'));
  });

  it("is not written where it cannot be done safely, and says what to write", () => {
    for (const text of [
      `${HEAD}[modules.memory]\nextractor = { daily_budget_usd = 2 }\n`,
      `${HEAD}[modules.memory]\nextractor.daily_budget_usd = 2\n`,
    ])
      expect(() => withChoice(text, FILE, "ann", CLAUDE)).toThrow(
        /cannot be changed safely; write it there yourself, under \[modules\.memory\.extractor\]: provider = "claude-cli"\./,
      );
  });

  it("whatever the model is called", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), (model) => {
        const choice = { provider: "anthropic", model } as const;
        expect(extractorOf(withChoice(undefined, FILE, "ann", choice)).model).toBe(model);
      }),
    );
  });
});

describe("the butler.toml of a home", () => {
  const folder = mkdtempSync(join(tmpdir(), "home-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "butler.toml");

  it("holds for the one butler where there is no roster, and nowhere else", () => {
    const provider = () => loadRoster(undefined, file).map(({ name, memory }) => [name, memory.extractor.provider]);
    expect(provider()).toEqual([["general", "local"]]);
    writeFileSync(file, withChoice(undefined, file, "general", CLAUDE));
    expect(provider()).toEqual([["general", "claude-cli"]]);
    expect(loadRoster(undefined, file)[0]?.folder).toBeUndefined();
    expect(loadRoster("roster", file).every(({ memory }) => memory.extractor.provider === "local")).toBe(true);
  });

  it("names its faults, and another butler's name is one", () => {
    writeFileSync(file, '[butler]\nname = "ada"\n[modules.memory]\n');
    expect(() => loadRoster(undefined, file)).toThrow(
      `${file}:2: butler.name: found "ada", expected "general", the one butler that there is without a roster.`,
    );
    writeFileSync(file, '[butler]\nname = "general"\nnmae = 1\n');
    expect(() => loadRoster(undefined, file)).toThrow(/did you mean "name"/);
  });
});
