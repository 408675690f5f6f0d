/** The arrays of the read model hold what was put into them, and find what a plain comparison finds. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Hit, type Postings, statisticsOf } from "../../src/engine/domain/ranking/words/bm25.ts";
import { countHashes, encodeForward } from "../../src/engine/domain/ranking/words/postings.ts";
import { rank } from "../../src/engine/domain/ranking/words/sums.ts";
import { openArena } from "../../src/engine/domain/read-model/arena.ts";
import { ASSEMBLED as CODES, openCodes } from "../../src/engine/domain/read-model/codes.ts";
import {
  ASSEMBLED_LANES,
  ASSEMBLED as DOTS,
  halfOf,
  openHalves,
  roundedToHalves,
} from "../../src/engine/domain/read-model/halves.ts";
import { openReadModel } from "../../src/engine/domain/read-model/model.ts";
import { openRowTable } from "../../src/engine/domain/read-model/row-table.ts";
import type { ReadRow } from "../../src/engine/domain/read-model/rows.ts";
import { comparedOf, openVectors } from "../../src/engine/domain/read-model/vectors.ts";
import { ASSEMBLED as WEIGHTS } from "../../src/engine/domain/read-model/word-sums.ts";
import { openWords } from "../../src/engine/domain/read-model/words.ts";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { episodeText, picker, promptText, queryText } from "../../src/lab/sentences.ts";
import { assemble } from "../support/assembler.ts";

it.each([
  ["codes.wat", CODES],
  ["dots.wat", DOTS],
  ["lanes.wat", ASSEMBLED_LANES],
  ["weights.wat", WEIGHTS],
])("runs the bytes that %s assembles to", (name, assembled) => {
  const source = new URL(`../../src/engine/domain/read-model/${name}`, import.meta.url);
  expect(Buffer.from(assemble(readFileSync(source, "utf8"))).toString("base64")).toBe(assembled);
});

it("an arena gives back what was put last, whatever was dropped and written anew meanwhile", () => {
  const change = fc.tuple(fc.nat(20), fc.option(fc.uint8Array({ maxLength: 20_000 }), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const arena = openArena();
      const plain = new Map<number, Uint8Array>();
      for (const [slot, bytes] of changes) {
        if (bytes === undefined) {
          arena.drop(slot);
          plain.delete(slot);
        } else {
          arena.put(slot, bytes);
          plain.set(slot, bytes);
        }
      }
      for (let slot = 0; slot <= 20; slot++) expect(arena.get(slot)).toEqual(plain.get(slot));
    }),
    { numRuns: 40 },
  );
});

it("an arena grows by at most a quarter or a megabyte, and gives room back that was dropped", () => {
  const arena = openArena();
  const bytes = new Uint8Array(800);
  let held = 0;
  for (let slot = 0; slot < 20_000; slot++) {
    arena.put(slot, bytes);
    held += bytes.length;
    expect(arena.bytes()).toBeLessThanOrEqual(held * 1.02 + Math.min(1 << 20, Math.max(1 << 16, held / 4)));
  }
  for (let slot = 0; slot < 19_000; slot++) arena.drop(slot);
  for (let slot = 0; slot < 2_000; slot++) arena.put(slot, bytes);
  expect(arena.bytes()).toBeLessThan(held / 2);
});

const TEXT = fc.option(fc.constantFrom("a", "b", "c", "d"));
const TIME = fc.option(fc.nat(3).map((days) => 1_750_000_000_000.5 + days * 86_400_000));
const always = <T>(value: fc.Arbitrary<T | null>, other: T) => value.map((one) => one ?? other);
const SHARED = {
  ...{ tenant_id: always(TEXT, "t"), scope: always(TEXT, "s"), content: fc.string(), tags: fc.array(fc.string()) },
  ...{ state: fc.constantFrom("active", "expired"), trust: fc.constantFrom("user", "tool"), asks: fc.boolean() },
  ...{ importance: fc.double({ noNaN: true }), reference_count: fc.nat(), created_at: always(TIME, 0) },
  ...{ last_referenced_at: TIME, prior_referenced_at: TIME },
};
const NOT_A_FACT = {
  ...{ subject_key: null, predicate_key: null, subject: null, predicate: null, permanence: null, maturity: null },
  ...{ valid_from: null, valid_to: null, waits_until: null, effectiveness: null, corroborated_at: null },
};
const EPISODE = fc
  .record({
    ...SHARED,
    ...{ tier: fc.constantFrom("eden", "mid"), session_id: TEXT, ordinal: fc.option(fc.nat()), speaker: TEXT },
    ...{ occurred_at: TIME, expires_at: fc.option(fc.constantFrom(0, 1_750_000_000_000, Number.POSITIVE_INFINITY)) },
  })
  .map((row) => ({
    ...{ ...row, ...NOT_A_FACT, type: "episode", confidence: 1, decay_rate: 0, last_confirmed_at: row.created_at },
  }));
const NOT_AN_EPISODE = {
  ...{ tier: null, session_id: null, ordinal: null, speaker: null, occurred_at: null, expires_at: null },
};
const FACT = fc
  .record({
    ...SHARED,
    ...{ type: fc.constantFrom("fact", "rule"), confidence: fc.double({ noNaN: true }), decay_rate: fc.constant(0.01) },
    ...{ subject_key: TEXT, predicate_key: TEXT, subject: TEXT, predicate: TEXT, permanence: TEXT, maturity: TEXT },
    ...{ last_confirmed_at: always(TIME, 0), valid_from: TIME, valid_to: TIME, waits_until: TIME },
    ...{ effectiveness: TIME, corroborated_at: TIME },
  })
  .map((row) => ({ ...row, ...NOT_AN_EPISODE }));

it("rows by column are what was put and counted last, and texts that no row has any more are let go", () => {
  const row = fc.oneof(EPISODE, FACT).map((made) => made as unknown as ReadRow);
  const counts = fc.record({ reference_count: fc.nat(), last_referenced_at: TIME, prior_referenced_at: TIME });
  const change = fc.tuple(fc.nat(1_500), fc.oneof(row, fc.constant("drop" as const), counts));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const table = openRowTable(uuid);
      const plain = new Map<number, ReadRow>();
      for (const [slot, what] of changes) {
        const before = plain.get(slot);
        if (what === "drop") {
          table.drop(slot);
          plain.delete(slot);
        } else if ("type" in what) {
          const put = { ...what, id: uuid(slot) };
          table.put(slot, put);
          plain.set(slot, put);
        } else if (before !== undefined) {
          const counted = { ...what, expires_at: before.expires_at };
          table.count(slot, counted);
          plain.set(slot, { ...before, ...counted });
        }
      }
      for (const slot of new Set(changes.map(([one]) => one))) {
        const [view, held] = [table.at(slot), plain.get(slot)];
        if (held === undefined) expect(view).toBeUndefined();
        else
          for (const [name, value] of Object.entries(held)) expect(view?.[name as keyof ReadRow], name).toEqual(value);
      }
      for (const slot of plain.keys()) table.drop(slot);
      expect(table.texts()).toBe(0);
    }),
  );
});

const LEXEMES = ["rose", "water", "lisbon", "may", "coffee", "friday"];
const uuid = (slot: number) => `00000000-0000-7000-8000-${slot.toString(16).padStart(12, "0")}`;

/** What is put into both: the words at hand, and plain rows that are ranked as the store ranks them. */
function openBoth() {
  const words = openWords(uuid, (id) => Number.parseInt(id.slice(-12), 16));
  const plain = new Map<number, { sk: number; len: number; x: Uint8Array }>();
  const put = (slot: number, sk: number, told: readonly string[]) => {
    words.put(slot, { sk, ...encodeForward(told) });
    plain.set(slot, { sk, ...encodeForward(told) });
  };
  const drop = (slot: number) => {
    words.drop(slot);
    plain.delete(slot);
  };
  const postings = (asked: readonly string[], sks: readonly number[]): Postings => ({
    terms: [...countHashes(asked)].map(([hash, count]) => ({ hash, count })),
    shelves: [],
    blocks: [],
    unread: [],
    fresh: [...plain].flatMap(([slot, row]) =>
      sks.includes(row.sk) ? { id: Buffer.from(uuid(slot).replaceAll("-", ""), "hex"), ...row } : [],
    ),
    gone: [],
  });
  return { words, plain, put, drop, postings };
}

type Both = ReturnType<typeof openBoth>;

/** The order within a tie is settled later. */
const ordered = (hits: readonly Hit[] = []) => hits.map((hit) => JSON.stringify({ ...hit, place: undefined })).sort();

function expectSameRanking({ words, plain, postings }: Both, asked: readonly string[], depth: number): void {
  const groups = [[0, 2], [1], [7]];
  const found = words.rank(asked, groups, () => depth);
  const whole = words.rank(asked, groups, () => Infinity).rankings;
  expect(found.statistics).toEqual(statisticsOf(postings(asked, [0, 1, 2])));
  for (const [at, sks] of groups.entries()) {
    const [ranking, expected] = [found.rankings[at], rank(postings(asked, sks))];
    const best = ordered(expected.top(depth));
    expect(ordered(ranking?.top(depth))).toEqual(best);
    expect(ranking?.total).toBe(expected.total);
    const some = { slots: new Map(), ids: new Set([...plain.keys()].filter((slot) => slot % 3 === 0).map(uuid)) };
    expect(ordered(ranking?.topAmong(3, some))).toEqual(ordered(expected.topAmong(3, some)));
    for (const { score } of expected.top(2 * depth)) expect(ranking?.above(score)).toBe(expected.above(score));
    // Deeper than it was made for, as one that was made for all; then again what it was made for.
    for (const page of [0, 1, 2, 3]) {
      const [k, offset] = [depth * 4 ** page, (depth * (4 ** page - 1)) / 3];
      expect(ranking?.top(k, offset)).toEqual(whole[at]?.top(k, offset));
    }
    expect(ordered(whole[at]?.top(plain.size))).toEqual(ordered(expected.top(plain.size)));
    expect(ordered(ranking?.top(depth))).toEqual(best);
  }
}

it("words are ranked as the index of the store ranks them, after any puts and drops", () => {
  const few = fc.array(fc.constantFrom(...LEXEMES), { minLength: 1, maxLength: 12 });
  const many = fc.tuple(few, fc.integer({ min: 20, max: 80 })).map(([told, times]) => Array(times).fill(told).flat());
  const change = fc.tuple(
    fc.nat(25),
    fc.nat(2),
    fc.option(fc.oneof({ weight: 5, arbitrary: few }, many), { nil: undefined }),
  );
  const questions = fc.array(fc.tuple(few, fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), questions, (changes, asked) => {
      const both = openBoth();
      for (const [slot, sk, told] of changes)
        if (told === undefined) both.drop(slot);
        else both.put(slot, sk, told);
      for (const [question, depth] of asked) expectSameRanking(both, question, depth);
    }),
    { numRuns: 200 },
  );
});

it("words of thousands of memories are ranked so too, while more are put", () => {
  const p = picker(11);
  const both = openBoth();
  for (let slot = 0; slot < 9_000; slot++) {
    both.put(slot, p.number(10) === 0 ? 1 : 2 * p.number(2), lexemes(episodeText(p)));
    if (p.chance(0.1)) both.drop(p.number(slot));
    if (slot % 4_000 === 999) expectSameRanking(both, lexemes(promptText(p)), 20);
  }
  for (const depth of [1, 20, 60, 3_000]) expectSameRanking(both, lexemes(promptText(p)), depth);
  expectSameRanking(both, lexemes(queryText(p)), 60);
});

const DIMS = 128;
/** 1.0 and its neighbours, as halves: sign, exponent 15, ten bits. */
const half = (value: number) => (value < 0 ? 0x8000 : 0) | (value === 0 ? 0 : 0x3c00 | (Math.abs(value) & 0x3ff));

function vectorOf(seed: number): Uint8Array {
  const bytes = new Uint8Array(DIMS * 2);
  let state = seed + 1;
  for (let i = 0; i < DIMS; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    const bits = half(((state >>> 16) % 2_000) - 1_000);
    bytes[2 * i] = bits >> 8;
    bytes[2 * i + 1] = bits & 255;
  }
  return bytes;
}

it("the nearest vectors are those of a plain comparison, and nearly all of them where signs choose first", () => {
  const vectors = openVectors();
  const COUNT = 3_000;
  for (let slot = 0; slot < COUNT; slot++)
    vectors.put(slot, { sk: slot % 2, visibleUntil: slot, halves: vectorOf(slot), pieces: 3, tokens: undefined }, slot);
  for (let slot = 0; slot < COUNT; slot += 10) vectors.drop(slot);
  const floats = Float32Array.from({ length: DIMS }, (_, i) => Math.sin(i * 1.7));
  const query = vectors.queryOf(floats);
  const few = vectors.among([0], (slot) => !vectors.isSeen(slot, 799, false));
  expect([...few].every((slot) => slot % 2 === 0 && slot % 10 !== 0 && slot < 800)).toBe(true);
  expect(few.length).toBe(320);
  const distanceOf = ({ vector, norm }: typeof query, slot: number): number => {
    const bytes = vectorOf(slot);
    let [dot, own] = [0, 0];
    for (let i = 0; i < DIMS; i++) {
      const value = halfOf(((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
      dot = Math.fround(dot + Math.fround(value * (vector[i] ?? 0)));
      own = Math.fround(own + Math.fround(value * value));
    }
    return 1 - Math.min(1, Math.max(-1, dot / Math.sqrt(own * norm)));
  };
  const plain = (slots: Int32Array) =>
    [...slots].map((slot) => ({ slot, distance: distanceOf(query, slot) })).sort((a, b) => a.distance - b.distance);
  expect(vectors.nearest(query, few, 20)).toEqual(plain(few).slice(0, 20));
  const all = vectors.among([0, 1], () => true);
  expect(all.length).toBe(2_700);
  const best = new Set(
    plain(all)
      .slice(0, 20)
      .map(({ slot }) => slot),
  );
  const found = vectors.nearest(query, all, 20).filter(({ slot }) => best.has(slot));
  expect(found.length).toBeGreaterThanOrEqual(18);
});

it.each([384, 100])(
  "signs of %i numbers choose those that differ least, with all that are as near as the last",
  (dims) => {
    const p = picker(5);
    const signs = (flips: number) => Float32Array.from({ length: dims }, () => (p.number(100) < flips ? 1 : -1));
    const codes = openCodes(new Float32Array(dims));
    const COUNT = 3_000;
    // Every sixteenth is far nearer than the others, or far less near: what some of them tell says nothing of the rest.
    const held = Array.from({ length: COUNT }, (_, slot) =>
      signs([60, 10, 95][slot % 16 === 0 ? (slot >> 10) % 3 : 0] ?? 0),
    );
    held.forEach((vector, slot) => {
      codes.put(slot, vector);
    });
    const query = new Float32Array(dims).fill(1);
    const farOf = (slot: number) => held[slot]?.reduce((n, value) => (value > 0 ? n : n + 1), 0) ?? 0;
    for (const [from, to, wanted] of [
      [0, COUNT, 100],
      [0, COUNT, 1_000],
      [0, 1_024, 1],
      [0, 1_024, 64],
      [1_024, 2_048, 500],
      [2_048, COUNT, 30],
      [2_048, COUNT, 900],
      [5, 40, 7],
    ] as const) {
      const slots = Int32Array.from({ length: to - from }, (_, i) => to - 1 - i);
      const last = [...slots].map(farOf).sort((a, b) => a - b)[wanted - 1] ?? 0;
      expect([...codes.nearest(query, slots, wanted)]).toEqual([...slots].filter((slot) => farOf(slot) <= last));
    }
  },
);

it.each(["in order", "by lanes"] as const)("reads every finite half as what it stands for, summed %s", (sums) => {
  const finite = Array.from({ length: 65_536 }, (_, bits) => bits).filter((bits) => ((bits >> 10) & 31) !== 31);
  const dims = 11;
  const halves = openHalves(dims, sums);
  const query = new Float32Array(dims);
  const count = Math.ceil(finite.length / dims);
  const bytesOf = (at: number) =>
    Uint8Array.from({ length: dims * 2 }, (_, i) => {
      const bits = finite[at * dims + (i >> 1)] ?? 0;
      return i % 2 === 0 ? bits >> 8 : bits & 255;
    });
  for (let slot = 0; slot < count; slot++) halves.put(slot, bytesOf(slot));
  const slots = Int32Array.from({ length: count }, (_, slot) => slot);
  for (let i = 0; i < dims; i++) {
    query.fill(0);
    query[i] = 1;
    const expected = Float32Array.from(slots, (slot) => halfOf(finite[slot * dims + i] ?? 0));
    expect(halves.dots(query, slots).every((value, slot) => value === expected[slot])).toBe(true);
  }
});

it("sums by lanes as a server does: of every eighth number, then the halves of eight, of four and of two", () => {
  const dims = 24;
  const halves = openHalves(dims, "by lanes");
  const bits = (nth: number) => (nth * 7_919 + 12_345) % 0x7c00;
  const count = 5_000;
  for (let slot = 0; slot < count; slot++)
    halves.put(
      slot,
      Uint8Array.from({ length: dims * 2 }, (_, i) => {
        const half = bits(slot * dims + (i >> 1));
        return i % 2 === 0 ? half >> 8 : half & 255;
      }),
    );
  const query = roundedToHalves(Float32Array.from({ length: dims }, (_, i) => Math.sin(i + 1)));
  const slots = Int32Array.from({ length: count }, (_, slot) => slot);
  const expected = Float32Array.from(slots, (slot) => {
    const lanes = new Float32Array(8);
    for (let i = 0; i < dims; i++)
      lanes[i % 8] = Math.fround((lanes[i % 8] ?? 0) + Math.fround(halfOf(bits(slot * dims + i)) * (query[i] ?? 0)));
    const four = [0, 1, 2, 3].map((lane) => Math.fround((lanes[lane] ?? 0) + (lanes[lane + 4] ?? 0)));
    const two = [0, 1].map((lane) => Math.fround((four[lane] ?? 0) + (four[lane + 2] ?? 0)));
    return Math.fround((two[0] ?? 0) + (two[1] ?? 0));
  });
  expect(halves.dots(query, slots)).toEqual(expected);
});

it("keeps what blocks tell of the memories that were asked for last, and no more than so many", () => {
  const model = openReadModel();
  const row = (id: string) => ({ id, type: "episode", content: "tea", tags: [], tenant_id: "t", scope: "s" });
  const many = Array.from({ length: 40_000 }, (_, slot) => ({
    ...{ id: uuid(slot), words: undefined, vector: undefined, links: [] },
    row: { ...row(uuid(slot)), session_id: null, speaker: null, ordinal: null } as unknown as ReadRow,
  }));
  model.apply(many);
  const often = model.retellingOf(0);
  const once = model.retellingOf(1);
  for (let slot = 2; slot < 16_390; slot++) model.retellingOf(slot);
  expect(model.retellingOf(0)).toBe(often);
  expect(model.retellingOf(5)).toBe(model.retellingOf(5));
  for (let slot = 16_390; slot < 40_000; slot++) model.retellingOf(slot);
  expect(model.retellingOf(0)).toBe(often);
  expect(model.retellingOf(1)).not.toBe(once);
  model.apply(many.slice(0, 1));
  expect(model.retellingOf(0)).not.toBe(often);
});

it("compares with a share of the vectors that grows with them, without a step", () => {
  expect([500, 20_000, 34_000, 80_000, 200_000].map(comparedOf)).toEqual([1_000, 1_000, 1_700, 4_000, 4_000]);
});
