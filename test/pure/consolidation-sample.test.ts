/** The fixed sample: the same for everybody, and every item can be found again by its key. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { learn } from "../../src/engine/adapters/extractor/local/collect.ts";
import { allItems, itemsOf, materialsOf, sampled } from "../../src/lab/consolidation/sample.ts";

const memory = (id: number, text: string, time?: string) => ({
  id: `m${id}`,
  session: "1",
  time,
  speaker: id % 2 === 0 ? "Ada" : "Grace",
  text,
});
const corpus = (texts: readonly string[]) => ({
  id: "c1",
  memories: texts.map((text, at) => memory(at, text, at === 0 ? "2026-03-11T10:00:00Z" : undefined)),
  questions: [],
});

describe("the sample", () => {
  test("is a shuffled part of the items, and the same for the same seed", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer()), fc.nat(50), fc.nat(), (items, count, seed) => {
        const drawn = sampled(items, count, seed);
        expect(drawn).toHaveLength(Math.min(count, items.length));
        expect(new Set(drawn).size).toBe(drawn.length);
        expect(drawn.every((item) => items.includes(item))).toBe(true);
        expect(sampled(items, count, seed)).toEqual(drawn);
      }),
    );
  });

  test("another seed gives another order", () => {
    const items = Array.from({ length: 50 }, (_, at) => at);
    expect(sampled(items, 50, 1)).not.toEqual(sampled(items, 50, 2));
  });

  test("batches hold a hundred episodes, and a missing time is that of the memory before", () => {
    const materials = materialsOf(corpus(Array.from({ length: 130 }, () => "Hello.")));
    expect(materials.map(({ episodes }) => episodes.length)).toEqual([100, 30]);
    expect(materials[1]?.episodes.at(-1)).toMatchObject({ label: "e30", day: "2026-03-11", trust: "user" });
  });

  test("an item is named by its first memory and its place among those of that memory", () => {
    const texts = [
      ...Array.from({ length: 100 }, () => "Hello."),
      "I live in Porto. I love green tea.",
      "I hate olives.",
    ];
    const one = corpus(texts);
    const items = allItems({ corpora: [one] }, learn);
    expect(items.map(({ memory: id, nth, item }) => [id, nth, item.content])).toEqual([
      ["m100", 0, "Ada lives in Porto."],
      ["m100", 1, "Ada loves green tea."],
      ["m101", 0, "Grace hates olives."],
    ]);
    expect(
      itemsOf(
        one,
        materialsOf(one).map((material) => learn(material)),
      ),
    ).toEqual(items);
  });
});
