/** What a butler's settings may change about redaction: kinds that stay, personal data that goes, and patterns of its own. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseButlerToml } from "../../src/daemon/config/config.ts";
import { readOwnPattern } from "../../src/engine/domain/redaction/own-pattern.ts";
import { policyOf } from "../../src/engine/domain/redaction/policy.ts";
import { redact, redactDeep } from "../../src/engine/domain/redaction/redact.ts";
import { pumped, steepness } from "../support/growth.ts";
import { attacksOn } from "../support/pattern-attacks.ts";
import { NEGATIVE, visa } from "../support/redact-examples.ts";

const PERSONAL = policyOf({ keep_kinds: [], also: ["email", "phone"], patterns: [] });

describe("personal data", () => {
  it.each([
    ["write to ", "ada.lovelace+lists@mail.example.co.uk", ", please"],
    ["<", "info@müller.example", ">"],
    ["call ", "+49 170 1234567", " tomorrow"],
    ["tel ", "0043 1 58801-0", ""],
    ["Handy: ", "0170/1234567", "."],
    ["my number is ", "5551234567", ""],
    ["", "(555) 123-4567", " is the office"],
    ["Telefon ", "030 12 34 56 78", ""],
  ])("is taken out of %j%j%j where the settings say so", (before, found, after) => {
    const { text } = redact(before + found + after, PERSONAL);
    expect(text).toMatch(/\[redacted:(?:email|phone)\]/);
    expect(text).toBe(`${before}[redacted:${found.includes("@") ? "email" : "phone"}]${after}`);
    expect(redact(text, PERSONAL)).toEqual({ text, found: [] });
    expect(redact(before + found + after).text).toBe(before + found + after);
  });

  it.each([
    "released on 2026-11-17, reviewed 17.11.2026",
    "the server is 192.168.10.120 on port 5432",
    "version 20.20.2 of 2026.11.3",
    "1234567 rows in 4.5672312 s",
    "order 2026-000123 of 1,234,567.89 EUR",
    "npm i @scope/package@1.2.3",
    "commit 1234567890 has 12 files",
    "17:45:10.123456 to 18:00",
  ])("is not seen in %j", (text) => {
    expect(redact(text, PERSONAL)).toEqual({ text, found: [] });
  });

  it("costs nobody else: what stays as it is by default, stays", () => {
    for (const text of NEGATIVE.filter((one) => !/@|\d{4}/.test(one)))
      expect(redact(text, PERSONAL)).toEqual({ text, found: [] });
  });
});

describe("kinds that stay", () => {
  const policy = policyOf({ keep_kinds: ["card", "password"], also: [], patterns: [] });
  it("in texts and under the names of keys, and others go", () => {
    const text = `${visa} and Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345`;
    expect(redact(text, policy).text).toContain(visa);
    expect(redact(text, policy).text).not.toContain("abcdefghijklmnop");
    expect(redactDeep({ password: "hunter2hunter2", api_token: "a1b2c3d4e5f6a7b8c9d0" }, policy).value).toEqual({
      password: "hunter2hunter2",
      api_token: "[redacted:secret]",
    });
  });
});

describe("own patterns", () => {
  const policy = policyOf({
    keep_kinds: [],
    also: [],
    patterns: [
      { name: "customer", pattern: "KD-\\d{8}" },
      { name: "case-file", pattern: "\\b(?:AZ|Az\\.)\\s?\\d{1,4}/\\d{2}\\b" },
    ],
  });

  it("are taken out under their name, counted, and found once", () => {
    const result = redact("KD-12345678 asked about Az. 1234/26, KD-87654321 too", policy);
    expect(result).toEqual({
      text: "[redacted:customer] asked about [redacted:case-file], [redacted:customer] too",
      found: [
        { kind: "case-file", count: 1 },
        { kind: "customer", count: 2 },
      ],
    });
    expect(redact(result.text, policy)).toEqual({ text: result.text, found: [] });
  });

  it.each([
    ["(a+)+b", /repeats a group/],
    ["(?<=x)yyy", /\(\?/],
    ["(abc)\\1", /do not know/],
    ["a{2,5000}b", /100/],
    ["\\w+\\w+\\w+xyz", /too many ways/],
    [".*.*abc", /too many ways/],
    ["ab", /fewer than 3/],
    ["x*y?", /fewer than 3/],
    ["[abc", /without its \]/],
    ["(abc", /without its \)/],
    ["abc)", /without its \(/],
    ["[z-a]bcd", /./],
    ["abc+?d", /two repetitions/],
    ["a".repeat(201), /longer/],
    [`${"(".repeat(12)}abc${")".repeat(12)}`, /deep/],
  ])("%j is refused with the reason", (source, reason) => {
    const read = readOwnPattern(source);
    expect(read.ok ? "" : read.reason).toMatch(reason);
  });

  it("are checked when the settings are read, with file and key", () => {
    const toml = (lines: string) => `[butler]\nname = "a"\n[modules.memory.privacy]\n${lines}\n`;
    const own = (name: string, pattern: string) => toml(`patterns = [{ name = "${name}", pattern = '${pattern}' }]`);
    expect(() => parseButlerToml(own("customer", "(a+)+b"), "butler.toml")).toThrow(
      /butler\.toml.*privacy\.patterns.*repeats a group/s,
    );
    expect(() => parseButlerToml(own("card", "KD-[0-9]{8}"), "butler.toml")).toThrow(/no kind has already/);
    expect(() => parseButlerToml(toml('also = ["names"]'), "butler.toml")).toThrow(/privacy\.also/);
    const { memory } = parseButlerToml(own("customer", "KD-[0-9]{8}"), "butler.toml");
    expect(memory.privacy.patterns).toEqual([{ name: "customer", pattern: "KD-[0-9]{8}" }]);
  });

  const atom = fc.constantFrom("a", "b", "é", ".", "\\d", "\\w", "\\s", "[a-c]", "[^a]", "[\\d.]", "-", "@", "\\.");
  const repeated = fc
    .tuple(atom, fc.constantFrom("", "", "?", "+", "*", "{2}", "{1,3}", "{0,60}"))
    .map((two) => two.join(""));
  const sequence = fc.array(repeated, { minLength: 1, maxLength: 5 }).map((all) => all.join(""));
  const pattern = fc
    .tuple(sequence, fc.array(sequence, { maxLength: 2 }), fc.constantFrom("", "?"), sequence)
    .map(([first, choices, optional, last]) =>
      choices.length === 0 ? first + last : `${first}(?:${choices.join("|")})${optional}${last}`,
    );
  const anyText = fc
    .array(fc.constantFrom("a", "b", "c", "é", "1", "2", ".", "-", "@", " "), { maxLength: 40 })
    .map((all) => all.join(""));

  it("that are accepted match what the same regular expression matches", () => {
    fc.assert(
      fc.property(pattern, anyText, (source, text) => {
        const read = readOwnPattern(source);
        if (read.ok) expect(text.match(read.pattern)).toEqual(text.match(new RegExp(source, "gu")));
      }),
      { numRuns: 2_000 },
    );
  });

  it("that are accepted work in proportion to their text", () => {
    fc.assert(
      fc.property(pattern, (source) => {
        const read = readOwnPattern(source);
        fc.pre(read.ok);
        for (const { before, pumped: part } of attacksOn(read.pattern))
          expect(steepness(pumped(before, part, "\u0001"), (text) => text.replace(read.pattern, ""))).toBeUndefined();
      }),
      { numRuns: 10 },
    );
  });
});
