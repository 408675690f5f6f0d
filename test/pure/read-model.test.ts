/** The arrays of the read model hold what was put into them, and find what a plain comparison finds. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Postings, statisticsOf } from "../../src/engine/domain/ranking/words/bm25.ts";
import { countHashes, encodeForward } from "../../src/engine/domain/ranking/words/postings.ts";
import { rank } from "../../src/engine/domain/ranking/words/sums.ts";
import { openArena } from "../../src/engine/domain/read-model/arena.ts";
import { ASSEMBLED as CODES } from "../../src/engine/domain/read-model/codes.ts";
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
import { openWords } from "../../src/engine/domain/read-model/words.ts";
import { assemble } from "../support/assembler.ts";

it.each([
  ["codes.wat", CODES],
  ["dots.wat", DOTS],
  ["lanes.wat", ASSEMBLED_LANES],
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

it("words are ranked as the index of the store ranks them, after any puts and drops", () => {
  const text = fc.array(fc.constantFrom(...LEXEMES), { minLength: 1, maxLength: 12 });
  const change = fc.tuple(fc.nat(25), fc.nat(2), fc.option(text, { nil: undefined }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), text, (changes, asked) => {
      const words = openWords(uuid);
      const plain = new Map<number, { sk: number; len: number; x: Uint8Array }>();
      for (const [slot, sk, told] of changes) {
        if (told === undefined) {
          words.drop(slot);
          plain.delete(slot);
        } else {
          words.put(slot, { sk, ...encodeForward(told) });
          plain.set(slot, { sk, ...encodeForward(told) });
        }
      }
      const fresh = [...plain].map(([slot, row]) => ({
        id: Buffer.from(uuid(slot).replaceAll("-", ""), "hex"),
        ...row,
      }));
      const postings = (sks: readonly number[]): Postings => ({
        terms: [...countHashes(asked)].map(([hash, count]) => ({ hash, count })),
        shelves: [],
        blocks: [],
        unread: [],
        fresh: fresh.filter(({ sk }) => sks.includes(sk)),
        gone: [],
      });
      const groups = [[0, 2], [1]];
      const found = words.rank(asked, groups);
      expect(found.statistics).toEqual(statisticsOf(postings([0, 1, 2])));
      const ordered = (hits: readonly { readonly score: number }[]) => hits.map((hit) => JSON.stringify(hit)).sort();
      for (const [at, sks] of groups.entries()) {
        const expected = rank(postings(sks));
        expect(ordered(found.rankings[at]?.top(5) ?? [])).toEqual(ordered(expected.top(5)));
        expect(found.rankings[at]?.total).toBe(expected.total);
        const some = { slots: new Map(), ids: new Set([...plain.keys()].filter((slot) => slot % 3 === 0).map(uuid)) };
        expect(ordered(found.rankings[at]?.topAmong(3, some) ?? [])).toEqual(ordered(expected.topAmong(3, some)));
      }
    }),
    { numRuns: 200 },
  );
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
