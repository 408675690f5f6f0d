import fc from "fast-check";
import { expect, it } from "vitest";
import { fillBudget, type Section } from "../../src/engine/domain/ranking/budget.ts";
import { outcomesOf } from "../../src/engine/domain/ranking/budget-outcome.ts";

const FRAME = { head: "head\n", tail: "tail\n" };
/** A token is a letter. */
const count = (text: string) => text.length;
/** A whole that costs more than its lines: then the block is shortened from its end. */
const dearer = (text: string) => text.length + (text.match(/\n/g)?.length ?? 0) * (text.length > 40 ? 2 : 0);

const line = fc.record({ length: fc.integer({ min: 1, max: 60 }), key: fc.nat(12) });
const sections = fc
  .array(fc.record({ quota: fc.constantFrom(0, 0.1, 0.25, 0.5), lines: fc.array(line, { maxLength: 8 }) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((all) =>
    all.map(
      ({ quota, lines }, at): Section<string> => ({
        name: `s${at}`,
        heading: "#\n",
        quota,
        items: lines
          .filter(({ key }, index) => lines.findIndex((other) => other.key === key) === index)
          .map(({ length, key }) => ({ line: `${"x".repeat(length)}\n`, item: `s${at} ${key}`, key: String(key) })),
      }),
    ),
  );

it.each([
  ["sums", count],
  ["a text that costs more than its lines", dearer],
] as const)("a line is shown exactly when the filled block shows it, by %s", (_, counting) => {
  fc.assert(
    fc.property(sections, fc.integer({ min: 1, max: 200 }), (made, budget) => {
      const block = fillBudget(FRAME, made, budget, counting);
      made.forEach((section, at) => {
        for (const { item, key } of section.items) {
          const [outcome, ...more] = outcomesOf(FRAME, made, budget, counting, (one) => one === item);
          expect(more).toEqual([]);
          expect(outcome?.section).toBe(section.name);
          expect(outcome?.kind === "shown").toBe(block.sections[at]?.items.includes(item));
          const before = made.slice(0, at).flatMap((earlier) => earlier.items.map((other) => other.key));
          if (outcome?.kind === "said") expect(before).toContain(key);
          if (outcome?.kind === "too long") expect(outcome.needs).toBeGreaterThan(outcome.room);
          if (outcome?.kind === "no room") expect(outcome.needs).toBeGreaterThan(outcome.left);
          if (outcome?.kind === "behind") expect(section.items.map((other) => other.item)).toContain(outcome.behind);
        }
      });
    }),
    { numRuns: 300 },
  );
});

it("knows nothing of a line that was offered to no section", () => {
  const empty = [{ name: "a", heading: "#\n", quota: 1, items: [] }];
  expect(outcomesOf(FRAME, empty, 100, count, () => true)).toEqual([]);
});
