import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Hit, idf, type Postings, weight } from "../../src/engine/domain/ranking/words/bm25.ts";
import {
  blockKey,
  concat,
  countHashes,
  type Entry,
  eachEntry,
  eachForward,
  encodeEntries,
  encodeForward,
  h40,
  slimOf,
  uuidText,
  withoutSlot,
} from "../../src/engine/domain/ranking/words/postings.ts";
import { rank } from "../../src/engine/domain/ranking/words/sums.ts";
import { naiveBm25, naiveDoc } from "../support/naive-bm25.ts";

const WORDS = ["zebra", "piano", "lemon", "tango", "kiwi"];
const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 8 });

/** Over slim blocks as a statement glues them: b (4), number of bytes (4), both big-endian, the bytes. */
function eachSlim(glued: Uint8Array, visit: (slot: number, tf: number) => void): void {
  const view = new DataView(glued.buffer, glued.byteOffset, glued.byteLength);
  for (let at = 0; at < glued.length; ) {
    let slot = view.getInt32(at);
    const end = at + 8 + view.getInt32(at + 4);
    at += 8;
    while (at < end) {
      let byte = glued[at++] as number;
      let value = byte & 0x7f;
      for (let unit = 0x80; byte > 0x7f; unit *= 0x80) {
        byte = glued[at++] as number;
        value += (byte & 0x7f) * unit;
      }
      slot += Math.floor(value / 4);
      visit(slot, value % 4 === 3 ? (glued[at++] as number) : value % 4);
    }
  }
}

function idOf(i: number): Uint8Array {
  const id = new Uint8Array(16);
  new DataView(id.buffer).setUint32(12, i);
  return id;
}

type State = "fresh" | "folded" | "gone";
interface Doc {
  readonly sk: number;
  readonly words: readonly string[];
  readonly state: State;
}

/** The tables' content as one statement would return it, for memories in any mixture of states on two shelves. */
function postingsOf(docs: readonly Doc[], query: readonly string[]) {
  const terms = [...countHashes(query)].map(([hash, count]) => ({ hash, count }));
  const folded = [1, 2].map((sk) => ({ sk, docs: docs.filter((doc) => doc.sk === sk && doc.state !== "fresh") }));
  const row = (doc: Doc) => encodeForward(doc.words);
  const blocks = folded.flatMap(({ sk, docs: held }) =>
    terms.flatMap(({ hash }, term) => {
      const entries: Entry[] = [];
      for (const [slot, doc] of held.entries()) {
        const { len, x } = row(doc);
        eachForward(x, (h, tf) => {
          if (h === hash) entries.push({ slot, tf, len });
        });
      }
      return entries.length > 0 ? [{ term, sk, x: encodeEntries(entries) }] : [];
    }),
  );
  const postings: Postings = {
    terms,
    shelves: folded.map(({ sk, docs: held }) => ({
      sk,
      n: held.length,
      tl: held.reduce((sum, doc) => sum + row(doc).len, 0),
      slots: held.length,
    })),
    blocks,
    unread: [],
    fresh: docs.flatMap((doc, i) => (doc.state === "fresh" ? [{ id: idOf(i), sk: doc.sk, ...row(doc) }] : [])),
    gone: folded.flatMap(({ sk, docs: held }) =>
      held.flatMap((doc, slot) => (doc.state === "gone" ? [{ sk, slot, ...row(doc) }] : [])),
    ),
  };
  const name = (hit: Hit) =>
    "memoryId" in hit
      ? hit.memoryId
      : uuidText(idOf(docs.indexOf(folded.find((shelf) => shelf.sk === hit.sk)?.docs[hit.slot] as Doc)));
  return { postings, name };
}

const anyDocs = fc.array(
  fc.record({ sk: fc.constantFrom(1, 2), words, state: fc.constantFrom<State>("fresh", "folded", "gone") }),
  { maxLength: 30 },
);

describe("rank", () => {
  test("equals textbook BM25 in any mixture of folded, unfolded and removed memories", () => {
    fc.assert(
      fc.property(anyDocs, fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 }), (docs, query) => {
        const { postings, name } = postingsOf(docs, query);
        const ranking = rank(postings);
        const live = docs.flatMap((doc, i) => (doc.state === "gone" ? [] : [naiveDoc(uuidText(idOf(i)), doc.words)]));
        const got = ranking
          .top(1000)
          .map((hit) => ({ memoryId: name(hit), score: hit.score }))
          .sort((a, b) => b.score - a.score || (a.memoryId < b.memoryId ? -1 : 1));
        expect(got).toEqual(naiveBm25(live, query));
        expect(ranking.total).toBe(got.length);
        expect(ranking.n).toBe(live.length);
      }),
      { numRuns: 300 },
    );
  });

  test("going on from where the last page ended gives the whole ranking once, and never cuts a tie", () => {
    fc.assert(
      fc.property(anyDocs, fc.integer({ min: 1, max: 7 }), (docs, k) => {
        const { postings } = postingsOf(docs, ["zebra", "piano"]);
        const whole = rank(postings).top(1000);
        const ranking = rank(postings);
        const pages: Hit[] = [];
        for (;;) {
          const page = ranking.top(k, pages.length);
          if (page.length === 0) break;
          pages.push(...page);
          const next = whole[pages.length];
          expect(next?.score).not.toBe(page.at(-1)?.score);
        }
        expect(pages).toEqual(whole);
        expect(whole.map((hit) => hit.score)).toEqual(whole.map((hit) => hit.score).sort((a, b) => b - a));
      }),
    );
  });

  test("the best of some are the whole ranking without the others, to the end of a tie", () => {
    const scored = (hits: readonly Hit[], name: (hit: Hit) => string) =>
      hits.map((hit) => `${hit.score} ${name(hit)}`).sort();
    fc.assert(
      fc.property(anyDocs, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 2, max: 3 }), (docs, k, every) => {
        const { postings, name } = postingsOf(docs, ["zebra", "piano"]);
        const ranking = rank(postings);
        const some = ranking.top(1000).filter((_, index) => index % every === 0);
        const slots = new Map<number, Set<number>>();
        const ids = new Set<string>();
        for (const hit of some)
          if ("slot" in hit) slots.set(hit.sk, (slots.get(hit.sk) ?? new Set()).add(hit.slot));
          else ids.add(hit.memoryId);
        const least = some[k - 1]?.score ?? 0;
        const expected = some.filter(({ score }) => score >= least);
        expect(scored(ranking.topAmong(k, { slots, ids }), name)).toEqual(scored(expected, name));
        const whole = ranking.top(1000);
        for (const { score } of some) expect(ranking.above(score)).toBe(whole.findIndex((hit) => hit.score === score));
      }),
    );
  });

  test("a term that every memory has still scores, and no memory is listed twice", () => {
    expect(weight(idf(5_000_000, 5_000_000), 1, 30, 30)).toBe(1);
    const docs: Doc[] = Array.from({ length: 400 }, () => ({ sk: 1, words: ["zebra"], state: "folded" }));
    const hits = rank(postingsOf(docs, ["zebra", "zebra"]).postings).top(1);
    expect(hits.length).toBe(400);
    expect(new Set(hits.map((hit) => ("slot" in hit ? hit.slot : -1))).size).toBe(400);
    expect(hits.every((hit) => hit.score >= 2)).toBe(true);
  });

  test("finds the best of many without mixing up queries that share the accumulators", () => {
    const docs: Doc[] = Array.from({ length: 3000 }, (_, i) => ({
      sk: 1 + (i % 2),
      words: [WORDS[i % 5] as string, ...Array.from({ length: i % 97 }, () => "filler")],
      state: "folded",
    }));
    const first = rank(postingsOf(docs, ["zebra"]).postings);
    const second = rank(postingsOf(docs, ["piano"]).postings);
    expect(first.total).toBe(600);
    expect(second.total).toBe(600);
    const scores = first.top(1000).map((hit) => hit.score);
    expect(first.top(10).map((hit) => hit.score)).toEqual(scores.slice(0, first.top(10).length));
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  test("nothing asked, nothing stored", () => {
    expect(rank({ terms: [], shelves: [], blocks: [], unread: [], fresh: [], gone: [] }).top(10)).toEqual([]);
    expect(rank(postingsOf([], ["zebra"]).postings).top(10)).toEqual([]);
  });
});

describe("byte formats", () => {
  test("hashes are fixed: stored keys depend on them", () => {
    expect(["", "zebra", "東京", "memorystorefact"].map(h40)).toEqual([
      174671690763, 755116762445, 464601773599, 591563496380,
    ]);
    expect(blockKey(8_388_607, 2 ** 40 - 1)).toBe("9223372036854775807");
    expect(() => blockKey(8_388_608, 0)).toThrow(RangeError);
  });

  test("hashes spread: no collision among 50,000 words, every bit used", () => {
    const hashes = new Set(Array.from({ length: 50_000 }, (_, i) => h40(`word${i.toString(36)}`)));
    expect(hashes.size).toBe(50_000);
    for (let bit = 0; bit < 40; bit++) {
      const ones = [...hashes].filter((h) => Math.floor(h / 2 ** bit) % 2 === 1).length;
      expect(Math.abs(ones - 25_000)).toBeLessThan(1000);
    }
  });

  test("forward rows clamp what does not fit, once and for all", () => {
    const { len, x } = encodeForward([...Array(300).fill("zebra"), ...Array(70_000).fill("piano"), "kiwi"]);
    const found: [number, number][] = [];
    eachForward(x, (hash, tf) => found.push([hash, tf]));
    expect(len).toBe(65_535);
    expect(found).toEqual([
      [h40("zebra"), 255],
      [h40("piano"), 255],
      [h40("kiwi"), 1],
    ]);
  });

  test("entries survive the trip, also at an odd offset", () => {
    const entry = fc.record({
      slot: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      tf: fc.integer({ min: 1, max: 255 }),
      len: fc.integer({ min: 0, max: 65_535 }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: (e) => e.slot, minLength: 1, maxLength: 20 }), (entries) => {
        const x = concat([Uint8Array.of(9), encodeEntries(entries)]).subarray(1);
        const read = (bytes: Uint8Array) => {
          const out: Entry[] = [];
          eachEntry(bytes, (slot, tf, len) => out.push({ slot, tf, len }));
          return out;
        };
        expect(read(x)).toEqual(entries);
        const left = withoutSlot(x, (entries[0] as Entry).slot);
        expect(left && read(left)).toEqual(entries.slice(1));
        expect(withoutSlot(left as Uint8Array, (entries[0] as Entry).slot)).toBeUndefined();
      }),
    );
  });
});

test("slim blocks say the slots and tfs of their entries", () => {
  const entry = fc.record({
    gap: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2 ** 26 })),
    tf: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 255 })),
  });
  const anyBlock = fc.record({ b: fc.integer({ min: 0, max: 2 ** 20 }), entries: fc.array(entry, { maxLength: 20 }) });
  fc.assert(
    fc.property(fc.array(anyBlock, { maxLength: 4 }), (blocks) => {
      const wanted: Pick<Entry, "slot" | "tf">[] = [];
      const glued = blocks.map(({ b, entries }) => {
        let next = b - 1;
        const block = entries.map(({ gap, tf }) => {
          next += gap;
          return { slot: next, tf, len: 9 };
        });
        wanted.push(...block.map(({ slot, tf }) => ({ slot, tf })));
        const slim = slimOf(encodeEntries(block), b);
        const head = new DataView(new ArrayBuffer(8));
        head.setInt32(0, b);
        head.setInt32(4, slim.length);
        return concat([new Uint8Array(head.buffer), slim]);
      });
      const got: Pick<Entry, "slot" | "tf">[] = [];
      eachSlim(concat(glued), (slot, tf) => got.push({ slot, tf }));
      expect(got).toEqual(wanted);
    }),
  );
});
