import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";
import { blockJson, countJson, listed } from "../../src/engine/domain/ranking/block-json.ts";
import { fillBudget, type Section } from "../../src/engine/domain/ranking/budget.ts";

const frame = { head: "<m>\nbackground\n", tail: "</m>\n" };
const line = (text: string, key = text) => ({ line: `- ${text}\n`, item: text, key });
const section = (name: string, quota: number, ...texts: string[]): Section<string> => ({
  name,
  heading: `# ${name}\n`,
  quota,
  items: texts.map((text) => line(text)),
});
/** One token a character makes the arithmetic visible. */
const chars = (text: string) => text.length;

describe("filling a budget", () => {
  it("takes the best first and tells how many were dropped", () => {
    const block = fillBudget(frame, [section("a", 1, "first", "second", "third")], 20 + 4 + 8 + 9, chars);
    expect(block.text).toBe("<m>\nbackground\n# a\n- first\n- second\n</m>\n");
    expect(block.tokens).toBe(block.text.length);
    expect(block.sections).toEqual([{ name: "a", items: ["first", "second"], dropped: 1 }]);
  });

  it("gives what a section leaves to the next, never back", () => {
    const sections = [section("a", 0.5, "x"), section("b", 0.5, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")];
    const room = 2 * 30;
    expect(fillBudget(frame, sections, 20 + room, chars).sections.map((s) => s.items.length)).toEqual([1, 1]);
    const turned = [section("b", 0.5, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"), section("a", 0.5, "x")];
    expect(fillBudget(frame, turned, 20 + room, chars).sections.map((s) => s.items.length)).toEqual([0, 1]);
  });

  it("cuts a line that the whole section cannot hold, and leaves room for what ranks below it", () => {
    const block = fillBudget(frame, [section("a", 1, "z".repeat(500), "short")], 100, chars);
    expect(block.text).toMatch(/^<m>\nbackground\n# a\n- z{30,38}…\n- short\n<\/m>\n$/);
    expect(block.sections[0]).toMatchObject({ items: ["z".repeat(500), "short"], dropped: 0 });
    const last = fillBudget(frame, [section("a", 1, "first", "z".repeat(500), "last")], 100, chars);
    expect(last.sections[0]?.items).toEqual(["first", "z".repeat(500), "last"]);
  });

  it("shows nothing that ranks below a line it leaves out", () => {
    const text = fc.oneof(fc.nat(30), fc.nat(400)).map((n) => `${n} ${"word ".repeat(n)}end`);
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), fc.integer({ min: 20, max: 900 }), (texts, budget) => {
        const offered = [...new Set(texts)];
        const block = fillBudget(frame, [section("a", 1, ...offered)], budget, chars);
        const shown = block.sections[0]?.items ?? [];
        expect(shown).toEqual(offered.slice(0, shown.length));
        expect(block.text.length).toBeLessThanOrEqual(budget);
        for (const item of shown) {
          // A line is cut to 16 characters at least, the ellipsis among them.
          const start = `- ${item}`.slice(0, 15);
          expect(block.text.split("\n").some((line) => line.startsWith(start))).toBe(true);
        }
      }),
    );
  });

  it("says a thing once, in the first section that had room for it", () => {
    const sections = [
      section("a", 0.5, "same", "long ".repeat(40)),
      section("b", 0.5, "same", "long ".repeat(40), "new"),
    ];
    const block = fillBudget(frame, sections, 500, chars);
    expect(block.text.match(/same/g)).toHaveLength(1);
    expect(block.sections).toEqual([
      { name: "a", items: ["same", "long ".repeat(40)], dropped: 0 },
      { name: "b", items: ["new"], dropped: 0 },
    ]);
    const tight = fillBudget(frame, sections, 20 + 2 * 230, chars);
    expect(tight.sections.flatMap((s) => s.items)).toContain("long ".repeat(40));
  });

  it("is no block at all when nothing fits or there is nothing", () => {
    expect(fillBudget(frame, [section("a", 1)], 100, chars)).toEqual({
      text: "",
      tokens: 0,
      sections: [{ name: "a", items: [], dropped: 0 }],
    });
    expect(fillBudget(frame, [section("a", 1, "x")], 21, chars)).toMatchObject({
      text: "",
      tokens: 0,
      sections: [{ dropped: 1 }],
    });
  });

  it.each(["o200k_base", "cl100k_base"] as const)(
    "never exceeds the budget by %s, whatever the lines",
    async (name) => {
      const { count } = await openTokenizer(name);
      const text = fc.oneof(
        fc.lorem({ maxCount: 20 }),
        fc.lorem({ maxCount: 300 }),
        fc.string({ unit: "grapheme", maxLength: 40 }),
        fc.constant("  \t "),
      );
      const parts = fc.array(
        fc.tuple(fc.double({ min: 0, max: 0.5, noNaN: true }), fc.array(text, { maxLength: 12 })),
        {
          maxLength: 4,
        },
      );
      fc.assert(
        fc.property(
          parts,
          fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 400, max: 4000 })),
          (drawn, budget) => {
            const sections = drawn.map(([quota, texts], n) => section(`s${n}`, quota, ...texts));
            const block = fillBudget(frame, sections, budget, count);
            expect(count(block.text)).toBeLessThanOrEqual(budget);
            expect(block.tokens).toBe(count(block.text));
            for (const [n, filled] of block.sections.entries()) {
              let at = -1;
              for (const item of filled.items) {
                const place = (sections[n]?.items ?? []).findIndex(
                  (offered, index) => index > at && offered.item === item,
                );
                expect(place).toBeGreaterThan(at);
                at = place;
              }
            }
          },
        ),
        { numRuns: 150 },
      );
    },
  );
});

describe("a budget that holds for the JSON of a block too", () => {
  it("is never exceeded by either form, whatever has to be escaped", async () => {
    const { count } = await openTokenizer("o200k_base");
    const said = fc.oneof(
      fc.lorem({ maxCount: 20 }),
      fc
        .constantFrom('"', "\\", '\\"', 'say "yes" or "no"; ')
        .chain((part) => fc.nat(80).map((n) => part.repeat(n + 1))),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).map((text) => `x${text.replace(/\s+/g, " ")}`),
    );
    const lists = fc.array(fc.array(said, { maxLength: 8 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lists, fc.integer({ min: 20, max: 900 }), (texts, budget) => {
        const sections = texts.map((list, nth) => section(`part ${nth}`, 1 / texts.length, ...list));
        const json = (text: string) => JSON.stringify(blockJson(text, budget));
        const block = fillBudget(frame, sections, budget, count, (text) => count(json(text)));
        expect(count(block.text)).toBeLessThanOrEqual(budget);
        expect(count(json(block.text))).toBeLessThanOrEqual(budget);
        if (block.text !== "") expect(json(block.text).length).toBeLessThanOrEqual(block.text.length);
      }),
      { numRuns: 300 },
    );
  });

  it.each(["o200k_base", "cl100k_base"] as const)(
    "is counted line by line as %s counts the whole, or not at all where some of it is left out",
    async (name) => {
      const { count } = await openTokenizer(name);
      const said = fc.oneof(
        fc.lorem({ maxCount: 20 }),
        fc.constantFrom('say "yes"', "7 of 9 (ORC-8155)", "…and so on", "it's 12.", "a\\b", "/usr/bin", "Ünder", "# 1"),
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).map((text) => text.replace(/\s+/g, " ")),
      );
      const lists = fc.array(fc.array(fc.tuple(said, fc.boolean()), { maxLength: 8 }), { minLength: 1, maxLength: 4 });
      const spacious = { head: "<butler-memory>\nbackground\nfrom before.\n", tail: "</butler-memory>\n" };
      let whole = 0;
      fc.assert(
        fc.property(lists, (drawn) => {
          const sections = drawn.map((list, nth) => ({
            heading: `# Part ${nth}\n`,
            lines: list.map(([text, isCounted]) => {
              const shown = line(text).line;
              return isCounted ? { line: shown, listedTokens: count(listed(shown)) } : { line: shown };
            }),
          }));
          const parts = sections.map(({ heading, lines }) =>
            lines.length === 0 ? "" : heading + lines.map((one) => one.line).join(""),
          );
          const text = spacious.head + parts.join("") + spacious.tail;
          const json = JSON.stringify(blockJson(text, 4000));
          const told = sections.filter(({ lines }) => lines.length > 0);
          const lists = told.map(({ heading, lines }) => [
            heading.slice(2, -1).toLowerCase(),
            lines.map((one) => one.line.slice(2, -1)),
          ]);
          const note = spacious.head.split("\n").slice(1, -1).join(" ");
          const isWhole = JSON.stringify({ note, ...Object.fromEntries(lists) }).length <= text.length;
          if (isWhole) whole += 1;
          expect(countJson(spacious.head, sections, text.length, count)).toBe(isWhole ? count(json) : undefined);
        }),
        { numRuns: 300 },
      );
      expect(whole).toBeGreaterThan(50);
    },
  );

  it("keeps a block as it is where its JSON fits", async () => {
    const { count } = await openTokenizer("o200k_base");
    const sections = [section("facts", 1, "tea is green", "coffee is black")];
    const json = (text: string) => count(JSON.stringify(blockJson(text, 100)));
    expect(fillBudget(frame, sections, 100, count, json)).toEqual(fillBudget(frame, sections, 100, count));
  });
});
