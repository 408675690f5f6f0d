import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterKeys, diversify, NEAR_EQUAL } from "../../src/engine/domain/ranking/diversify.ts";

interface Item {
  readonly id: string;
  readonly score: number;
  readonly keys: readonly string[];
}

const keysOf = (item: Item) => item.keys;
const item = (id: string, score: number, ...keys: string[]): Item => ({ id, score, keys });
const ids = (items: readonly Item[]) => items.map(({ id }) => id).join(" ");

/** Scores on a fine grid, so that lists have ties, near ties and gaps. */
const ranked = (keys: fc.Arbitrary<readonly string[]>) =>
  fc
    .array(fc.record({ score: fc.integer({ min: 0, max: 60 }).map((n) => n / 200), keys }), { maxLength: 40 })
    .map((list): Item[] => list.toSorted((a, b) => b.score - a.score).map((x, i) => ({ ...x, id: String(i) })));
const letter = fc.constantFrom("a", "b", "c");
const oneKey = letter.map((key) => [key]);
const someKeys = fc.array(letter, { maxLength: 3 });
const options = { cap: fc.integer({ min: 0, max: 4 }), band: fc.constantFrom(0, 0.01, 0.02, 0.1) };

describe("diversify", () => {
  it("lets others of nearly the same score pass once a key has had its share", () => {
    const list = [item("a1", 0.9, "a"), item("a2", 0.9, "a"), item("a3", 0.899, "a"), item("b1", 0.89, "b")];
    expect(diversify(list, { keysOf, cap: 1, band: 0.02 })).toEqual({
      items: [list[0], list[3], list[1], list[2]],
      demoted: [
        { id: "a2", key: "a", by: 1 },
        { id: "a3", key: "a", by: 1 },
      ],
    });
  });

  it("leaves a clearly better item where it is, however full its key", () => {
    const list = [item("a1", 0.9, "a"), item("a2", 0.85, "a"), item("b1", 0.8, "b")];
    expect(diversify(list, { keysOf, cap: 1 })).toEqual({ items: list, demoted: [] });
  });

  it("measures the band from the item that gives way, so that small steps do not add up", () => {
    const list = [item("a1", 1, "a"), item("a2", 0.75, "a"), item("b1", 0.74, "b"), item("c1", 0.72, "c")];
    expect(ids(diversify(list, { keysOf, cap: 1, band: 0.02 }).items)).toBe("a1 b1 a2 c1");
  });

  it("counts every key of an item, and names the one that was full", () => {
    const list = [
      item("1", 0.5, "s", "p"),
      item("2", 0.5, "t", "p"),
      item("3", 0.5, "s", "q"),
      item("4", 0.5, "u", "r"),
    ];
    const { items, demoted } = diversify(list, { keysOf, cap: 1 });
    expect(ids(items)).toBe("1 4 2 3");
    expect(demoted).toEqual([
      { id: "2", key: "p", by: 1 },
      { id: "3", key: "s", by: 1 },
    ]);
  });

  it("drops nothing, adds nothing, leaves its input alone and always answers the same", () => {
    fc.assert(
      fc.property(ranked(someKeys), options.cap, options.band, (list, cap, band) => {
        const before = structuredClone(list);
        const result = diversify(list, { keysOf, cap, band });
        expect(list).toEqual(before);
        expect(result.items.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual(list);
        expect(diversify(list, { keysOf, cap, band })).toEqual(result);
      }),
    );
  });

  it("lets no item pass one that is better by more than the band", () => {
    fc.assert(
      fc.property(ranked(someKeys), options.cap, options.band, (list, cap, band) => {
        const { items } = diversify(list, { keysOf, cap, band });
        for (const [at, later] of items.entries())
          for (const earlier of items.slice(0, at)) expect(later.score - earlier.score).toBeLessThanOrEqual(band);
      }),
    );
  });

  it("is the identity when keys are distinct, when nobody has one, and when the cap is out of reach", () => {
    fc.assert(
      fc.property(ranked(someKeys), fc.integer({ min: 1, max: 4 }), options.band, (list, cap, band) => {
        const same = { items: list, demoted: [] };
        expect(diversify(list, { keysOf: ({ id }) => [id], cap, band })).toEqual(same);
        expect(diversify(list, { keysOf: () => [], cap, band })).toEqual(same);
        expect(diversify(list, { keysOf, cap: list.length, band })).toEqual(same);
      }),
    );
  });

  it("keeps the order among items of the same key, and among those that did not give way", () => {
    fc.assert(
      fc.property(ranked(oneKey), options.cap, options.band, (list, cap, band) => {
        const { items, demoted } = diversify(list, { keysOf, cap, band });
        const gaveWay = new Set(demoted.map(({ id }) => id));
        for (const keep of [
          (x: Item) => x.keys[0] === "a",
          (x: Item) => !gaveWay.has(x.id),
          (x: Item) => gaveWay.has(x.id),
        ])
          expect(items.filter(keep)).toEqual(list.filter(keep));
      }),
    );
  });

  it("reports exactly the items that lost places, how many, and a key that was full before them", () => {
    fc.assert(
      fc.property(ranked(someKeys), options.cap, options.band, (list, cap, band) => {
        const { items, demoted } = diversify(list, { keysOf, cap, band });
        const lost = items.flatMap((x, at) => (at > Number(x.id) ? [{ id: x.id, by: at - Number(x.id) }] : []));
        expect(demoted.map(({ id, by }) => ({ id, by }))).toEqual(lost);
        for (const { id, key } of demoted) {
          const at = items.findIndex((x) => x.id === id);
          expect(items[at]!.keys).toContain(key);
          expect(items.slice(0, at).filter((x) => x.keys.includes(key)).length).toBeGreaterThanOrEqual(cap);
        }
      }),
    );
  });

  it("lets no item beyond the cap stand before one it could have given way to", () => {
    fc.assert(
      fc.property(ranked(oneKey), options.cap, options.band, (list, cap, band) => {
        const { items } = diversify(list, { keysOf, cap, band });
        const seen = new Map<string, number>();
        for (const [at, x] of items.entries()) {
          const key = x.keys[0] ?? "";
          if ((seen.get(key) ?? 0) >= cap) {
            const free = items.slice(at + 1).filter((y) => (seen.get(y.keys[0] ?? "") ?? 0) < cap);
            for (const y of free) expect(x.score - y.score).toBeGreaterThan(band);
          }
          seen.set(key, (seen.get(key) ?? 0) + 1);
        }
      }),
    );
  });

  it("takes 0.005 for near-equal unless told otherwise", () => {
    fc.assert(
      fc.property(ranked(someKeys), options.cap, (list, cap) => {
        expect(diversify(list, { keysOf, cap })).toEqual(diversify(list, { keysOf, cap, band: NEAR_EQUAL }));
      }),
    );
    expect(NEAR_EQUAL).toBe(0.005);
  });
});

describe("the clusters of a memory", () => {
  it.each([
    [{ type: "fact", subject: "Ada_L", predicate: "Lives-In" }, ["subject ada l", "predicate lives in"]],
    [{ type: "fact", subject: "Ada", predicate: "likes:green tea" }, ["subject ada", "predicate likes"]],
    [{ type: "fact", subject: "", predicate: null }, []],
    [{ type: "episode", subject: null }, []],
    [{ type: "rule" }, []],
  ] as const)("%j", (memory, keys) => {
    expect(clusterKeys(memory)).toEqual(keys);
  });
});
