import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Reading } from "../../src/engine/domain/ranking/reading.ts";
import { RECIPE } from "../../src/engine/domain/ranking/recipe.ts";
import {
  ASKED,
  type Asking,
  naiveReading,
  reading,
  SAYINGS,
  SIGNALS,
  type Told,
} from "../support/naive-late-interaction.ts";

const SIZE = 8;

const PEOPLE = ["ada", "grace", "alan"] as const;
const WORDS = ["paint", "river", "mill", "tea", "stone"] as const;
const bits = fc.array(fc.nat(255), { minLength: SIZE, maxLength: SIZE });
/** Hundredths: two numbers that differ differ enough for both ways of summing to agree on it. */
const share = fc.integer({ min: -100, max: 100 }).map((n) => n / 100);
const turn = fc.record({
  name: fc.option(fc.constantFrom(...PEOPLE), { nil: undefined }),
  asks: fc.boolean(),
  withNamed: fc.boolean(),
  words: fc.array(fc.constantFrom(...WORDS), { maxLength: 8 }),
  cosine: fc.option(share, { nil: undefined }),
  pieces: fc.constantFrom(3, 40, 200, 201, 900),
  says: fc.constantFrom(...(Object.keys(SAYINGS) as (keyof typeof SAYINGS)[])),
  day: fc.option(fc.constantFrom(1, 7, 8, 15, 16), { nil: undefined }),
  tokens: fc.option(
    fc.oneof(
      fc.array(bits, { maxLength: 4 }),
      fc.tuple(bits, fc.constantFrom(20, 40, 90)).map(([one, n]) => Array.from({ length: n }, () => one)),
    ),
    { nil: undefined },
  ),
});
const sessions = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom("s", "t"), fc.nat(7), turn), { maxLength: 12 }),
    fc.array(turn, { maxLength: 3 }),
  )
  .map(([turns, alone]): Told[] => {
    const placed = new Map(turns.map(([session, ordinal, t]) => [`${session}${ordinal}`, { session, ordinal, ...t }]));
    return [
      ...[...placed].map(([id, t]) => ({ id, ...t })),
      ...alone.map((t, n) => ({ id: `alone${n}`, session: undefined, ordinal: 0, ...t })),
    ];
  });
const asking: fc.Arbitrary<Asking> = fc.record({
  asks: fc.constantFrom(...(Object.keys(ASKED) as (keyof typeof ASKED)[])),
  terms: fc.uniqueArray(fc.constantFrom(...WORDS)).chain((words) =>
    fc.tuple(
      ...words.map((word) =>
        fc.record({
          word: fc.constant(word),
          count: fc.integer({ min: 1, max: 3 }),
          idf: fc.constantFrom(0.1, 1.5, 4),
        }),
      ),
    ),
  ),
  avgdl: fc.constantFrom(1, 4.5, 12),
  tokens: fc.array(fc.record({ bits, weight: fc.constantFrom(0.5, 2, 7) }), { maxLength: 4 }),
  hasVector: fc.boolean(),
  names: fc.uniqueArray(fc.constantFrom(...PEOPLE), { maxLength: 2 }),
});
/** Some of the memories are candidates; the others only stand beside them. */
const drawn = fc.tuple(asking, sessions, fc.infiniteStream(fc.boolean())).map(([asked, told, chosen]) => ({
  asked,
  told,
  candidates: told.filter(() => chosen.next().value === true).map(({ id }) => id),
}));

const PLAIN: Told = {
  id: "plain",
  session: undefined,
  ordinal: 0,
  name: undefined,
  asks: false,
  withNamed: false,
  words: [],
  cosine: undefined,
  pieces: 5,
  tokens: undefined,
  says: "nothing",
  day: undefined,
};
const NOTHING: Asking = { asks: "plain", terms: [], avgdl: 1, tokens: [], hasVector: false, names: [] };
const get = (readings: ReadonlyMap<string, Reading>, id: string): Reading => {
  const found = readings.get(id);
  if (found === undefined) throw new Error(`${id} was not read`);
  return found;
};

describe("late interaction", () => {
  it("is the recipe's formulas, for every session", () => {
    fc.assert(
      fc.property(drawn, ({ asked, told, candidates }) => {
        const made = reading(asked, candidates, told);
        const expected = naiveReading(asked, candidates, told, RECIPE);
        expect([...made.keys()].toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
        for (const { id, signals, weights, relevance } of expected) {
          const one = get(made, id);
          for (const { name, raw, scaled } of signals) {
            expect(one[name].raw, name).toBeCloseTo(raw, 9);
            expect(one[name].scaled, name).toBeCloseTo(scaled, 6);
            expect(one[name].weight, name).toBeCloseTo(weights[name], 9);
          }
          expect(one.relevance).toBeCloseTo(relevance, 6);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("gives relevance in 0..1, and each scaled signal too", () => {
    fc.assert(
      fc.property(drawn, ({ asked, told, candidates }) => {
        for (const one of reading(asked, candidates, told).values()) {
          expect(one.relevance >= 0 && one.relevance <= 1).toBe(true);
          for (const name of SIGNALS) expect(one[name].scaled >= 0 && one[name].scaled <= 1, name).toBe(true);
        }
      }),
    );
  });

  it("does not depend on the order of candidates or witnesses", () => {
    const shuffled = drawn.chain((d) =>
      fc.record({
        ...{ asked: fc.constant(d.asked), told: fc.constant(d.told), candidates: fc.constant(d.candidates) },
        mixedTold: fc.shuffledSubarray(d.told, { minLength: d.told.length }),
        mixed: fc.shuffledSubarray(d.candidates, { minLength: d.candidates.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ asked, told, candidates, mixedTold, mixed }) => {
        expect(reading(asked, mixed, mixedTold)).toEqual(reading(asked, candidates, told));
      }),
    );
  });

  it("leaves out a candidate of whom nothing is known, and reads none from none", () => {
    const made = reading(NOTHING, ["plain", "unknown"], [PLAIN]);
    expect([...made.keys()]).toEqual(["plain"]);
    expect(reading(NOTHING, [], [PLAIN]).size).toBe(0);
  });

  it("counts everything of a single candidate as full, and nothing as nothing", () => {
    const one: Told = { ...PLAIN, words: ["tea"], cosine: 0.1, tokens: [[1, 2, 3, 4, 5, 6, 7, 8]] };
    const asked: Asking = {
      ...NOTHING,
      terms: [{ word: "tea", count: 1, idf: 2 }],
      tokens: [{ bits: [1, 2, 3, 4, 5, 6, 7, 9], weight: 1 }],
      hasVector: true,
    };
    const single = get(reading(asked, ["plain"], [one]), "plain");
    for (const name of ["tokens", "keywords", "meaning"] as const) expect(single[name].scaled, name).toBe(1);
    const { tokens, keywords, meaning, speaker, person, spare } = RECIPE;
    const met = tokens + keywords.always + keywords.short + meaning.always;
    expect(single.relevance).toBeCloseTo(met / (met + speaker + person + spare), 12);
    expect(get(reading(asked, ["plain"], [PLAIN]), "plain").relevance).toBe(0);
  });

  it("without tokens of the question lets words and meaning decide, without a vector words alone", () => {
    const asked: Asking = { ...NOTHING, terms: [{ word: "tea", count: 1, idf: 2 }] };
    const told = [
      { ...PLAIN, id: "word", words: ["tea"] },
      { ...PLAIN, id: "sense", cosine: 0.9 },
    ];
    const both = reading({ ...asked, hasVector: true }, ["word", "sense"], told);
    expect(get(both, "word")).toMatchObject({
      tokens: { weight: 0 },
      keywords: { weight: 1 },
      meaning: { weight: 0.5 },
    });
    expect(get(both, "word").relevance).toBeCloseTo(2 * get(both, "sense").relevance, 12);
    const words = reading(asked, ["word", "sense"], told);
    expect(get(words, "sense")).toMatchObject({ relevance: 0, meaning: { raw: 0, weight: 0 } });
  });
});

describe("neighbours", () => {
  const near: Told = {
    ...PLAIN,
    id: "near",
    session: "s",
    ordinal: 4,
    asks: true,
    words: ["tea"],
    cosine: 0.8,
    tokens: [[255, 255, 255, 255, 0, 0, 0, 0]],
  };
  const asked: Asking = {
    ...NOTHING,
    terms: [{ word: "tea", count: 1, idf: 2 }],
    tokens: [{ bits: [255, 255, 255, 255, 0, 0, 0, 0], weight: 1 }],
    hasVector: true,
  };
  const beside = (more: Partial<Told>) => {
    const told = { ...PLAIN, session: "s", ordinal: 5, ...more };
    const { tokens, keywords, meaning } = get(reading(asked, ["plain"], [told, near]), "plain");
    return { tokens: tokens.raw, keywords: keywords.raw, meaning: meaning.raw };
  };
  const NONE = { tokens: 0, keywords: 0, meaning: 0 };

  it("help a short memory of the same session", () => {
    expect(beside({})).toMatchObject({ tokens: 0.8 });
    expect(beside({}).meaning).toBeCloseTo(0.3 * 0.8, 12);
    expect(beside({}).keywords).toBeGreaterThan(0);
    expect(beside({ ordinal: 3, name: "ada" })).toMatchObject({ tokens: 0.6 });
  });

  it("do not help a long one, one of another session, or one that is far away", () => {
    expect(beside({ pieces: RECIPE.longPieces })).not.toEqual(NONE);
    expect(beside({ pieces: RECIPE.longPieces + 1 })).toEqual(NONE);
    expect(beside({ session: "t" })).toEqual(NONE);
    expect(beside({ session: undefined })).toEqual(NONE);
    expect(beside({ ordinal: 8 })).toEqual(NONE);
  });

  it("may be long themselves", () => {
    const told = [
      { ...PLAIN, session: "s", ordinal: 5 },
      { ...near, pieces: 900 },
    ];
    expect(get(reading(asked, ["plain"], told), "plain").tokens.raw).toBe(0.8);
  });
});

describe("the second round", () => {
  const asked: Asking = { ...NOTHING, terms: [{ word: "tea", count: 1, idf: 2 }] };
  const turn = { ...PLAIN, session: "s", name: "ada" };
  const told: Told[] = [
    { ...turn, id: "question", ordinal: 1, says: "question", words: ["tea"] },
    { ...turn, id: "answer", ordinal: 2, says: "news", day: 9 },
    { ...turn, id: "later", ordinal: 3 },
    { ...PLAIN, id: "fact", words: ["tea"] },
    { ...turn, id: "assistant", session: "t", ordinal: 2, name: undefined, says: "news", day: 9 },
  ];
  const ids = told.map(({ id }) => id);
  const raw = (asks: Asking["asks"], id: string, all: readonly string[] = ids) => {
    const { answer, self, time, session, date } = get(reading({ ...asked, asks }, all, told), id);
    return [answer.raw, self.raw, time.raw, session.raw, date.raw];
  };

  it("sees an answer, a time, the speaker, the session and the date", () => {
    const asksWell = get(reading(asked, ids, told), "question").session.raw;
    expect(raw("dated", "answer")).toEqual([asksWell, 2 / 3, 1, asksWell, 1]);
    expect(raw("plain", "later").slice(0, 3)).toEqual([0, 0, 0]);
    expect(raw("plain", "answer")[4]).toBe(0);
  });

  it("finds no answer when the question is not a candidate, and nothing but date and session in what nobody with a name says", () => {
    expect(raw("plain", "answer", ["answer", "fact"])[0]).toBe(0);
    expect(raw("dated", "assistant")).toEqual([0, 0, 0, 0, 1]);
  });

  it("leaves a memory that stands alone where it was", () => {
    const before = reading(asked, ["fact", "assistant"], told, {
      ...RECIPE,
      second: { answer: 0, self: 0, time: { always: 0, asked: 0 }, session: 0, date: 0 },
    });
    const after = reading(asked, ["fact", "assistant"], told);
    expect(get(after, "fact").relevance).toBeCloseTo(get(before, "fact").relevance, 12);
  });

  it("never makes equals of two by cutting them off", () => {
    const best = Array.from(
      { length: 3 },
      (_, n): Told => ({
        ...{ ...turn, id: `best${n}`, ordinal: 10 * n, words: ["tea"], withNamed: true, day: 9 },
        says: (["nothing", "news", "much"] as const)[n] ?? "nothing",
      }),
    );
    const made = reading({ ...asked, asks: "dated", names: ["ada"] }, ["best0", "best1", "best2"], best);
    const values = [...made.values()].map(({ relevance }) => relevance);
    expect(new Set(values).size).toBe(3);
    expect(Math.max(...values)).toBe(1);
  });
});

describe("names", () => {
  const told = [
    { ...PLAIN, id: "ada", name: "ada", withNamed: true },
    { ...PLAIN, id: "grace", name: "grace", withNamed: true },
    { ...PLAIN, id: "nobody" },
  ];
  const flags = (names: readonly string[]) =>
    [...reading({ ...NOTHING, names }, ["ada", "grace", "nobody"], told).values()].map((r) => [
      r.speaker.raw,
      r.person.raw,
    ]);

  it("prefer the one speaker whom the question names", () => {
    expect(flags(["ada"])).toEqual([
      [1, 1],
      [0, 1],
      [0, 0],
    ]);
  });

  it("prefer nobody's words when two are named, or nobody who speaks", () => {
    for (const names of [["ada", "grace"], ["alan"], []])
      expect(flags(names).map(([speaker]) => speaker)).toEqual([0, 0, 0]);
  });

  it("take off a little for a question of somebody with a name only", () => {
    const asks = told.map((t) => ({ ...t, asks: true }));
    const made = reading(NOTHING, ["ada", "nobody"], asks);
    expect(get(made, "ada").question).toEqual({ raw: 1, scaled: 1, weight: -RECIPE.question });
    expect(get(made, "nobody").question.raw).toBe(0);
  });
});
