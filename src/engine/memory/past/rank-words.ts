/** Exact BM25 over the memories of a moment, with the same numbers as the index has: n, df and lengths are those of then. */
import type { MemoryType } from "../../domain/memory-types.ts";
import { KINDS, kindOf } from "../../domain/past/spans.ts";
import {
  type Hit,
  idf,
  type Members,
  type Ranking,
  rankingOf,
  type Statistics,
  weight,
} from "../../domain/ranking/words/bm25.ts";
import { countHashes } from "../../domain/ranking/words/postings.ts";
import type { PastView } from "./past.ts";

interface Term {
  readonly hash: number;
  readonly count: number;
  /** Place · 256 + tf, of memories of any time. */
  readonly entries: Int32Array;
  /** How many memories of the view have it, by kind. */
  readonly ofKind: Int32Array;
}

/** Words of a memory that is short. */
const SHORT = 64;

interface RankedThen {
  /** One for each group of types. */
  readonly rankings: readonly Ranking[];
  /** Of all of them. */
  readonly statistics: Statistics;
}

/** No type is in two groups. */
export function rankThen(
  view: PastView,
  words: readonly string[],
  groups: readonly (readonly MemoryType[])[],
): RankedThen {
  const terms = [...countHashes(words)].map(([hash, count]) => termOf(view, hash, count));
  const statistics = groups.map((types) => statisticsOf(view, terms, types));
  return {
    rankings: rankAll(view, terms, groups, statistics),
    statistics: statisticsOf(view, terms, [...new Set(groups.flat())]),
  };
}

function termOf({ kindAt, postingsOf }: PastView, hash: number, count: number): Term {
  const entries = postingsOf(hash);
  const ofKind = new Int32Array(KINDS);
  for (let at = 0; at < entries.length; at++) {
    const kind = kindAt[(entries[at] as number) >>> 8] as number;
    ofKind[kind] = (ofKind[kind] as number) + 1;
  }
  return { hash, count, entries, ofKind };
}

function statisticsOf(view: PastView, terms: readonly Term[], types: readonly MemoryType[]): Statistics {
  const sizes = types.map((type) => view.sizeOf(type));
  const n = sizes.reduce((sum, size) => sum + size.n, 0);
  const tl = sizes.reduce((sum, size) => sum + size.tl, 0);
  return {
    n,
    avgdl: n > 0 ? Math.max(tl, 1) / n : 1,
    terms: terms.map(({ hash, count, ofKind }) => {
      const df = types.reduce((sum, type) => sum + (ofKind[kindOf(type)] as number), 0);
      return { hash, count, df, idf: idf(n, df) };
    }),
  };
}

/** All groups in one pass over the postings: a memory is in one of them. Sums are filed by the place of its words. */
function rankAll(
  view: PastView,
  terms: readonly Term[],
  groups: readonly (readonly MemoryType[])[],
  statistics: readonly Statistics[],
): Ranking[] {
  const { kindAt, lengths } = view;
  /** By kind, from 1: 0 is in none. */
  const groupOf = new Uint8Array(KINDS);
  for (const [nth, types] of groups.entries()) for (const type of types) groupOf[kindOf(type)] = nth + 1;
  const sums = new Float64Array(kindAt.length);
  const met = groups.map((): number[] => []);
  for (const [nth, { count, entries }] of terms.entries()) {
    // Most have a word once and are short: their weight is worked out once for each length.
    const once = new Float64Array(SHORT * groups.length);
    for (const [group, { terms: asked, avgdl }] of statistics.entries())
      for (let length = 0; length < SHORT; length++)
        once[group * SHORT + length] = count * weight(asked[nth]?.idf ?? 0, 1, length, avgdl);
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as number;
      const place = entry >>> 8;
      const group = (groupOf[kindAt[place] as number] as number) - 1;
      if (group < 0) continue;
      const length = lengths[place] as number;
      const before = sums[place] as number;
      if (before === 0) (met[group] as number[]).push(place);
      if ((entry & 255) === 1 && length < SHORT) sums[place] = before + (once[group * SHORT + length] as number);
      else {
        const { terms: asked, avgdl } = statistics[group] as Statistics;
        sums[place] = before + count * weight(asked[nth]?.idf ?? 0, entry & 255, length, avgdl);
      }
    }
  }
  return statistics.map((one, group) => rankingAt(view, one, Int32Array.from(met[group] ?? []), sums));
}

function rankingAt(view: PastView, statistics: Statistics, places: Int32Array, sums: Float64Array): Ranking {
  const scores = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) scores[i] = sums[places[i] as number] as number;
  // Each type is a shelf of its own, and nobody asks which.
  const idAt = (i: number): string => view.lineOfPlace(places[i] as number).id;
  const hitAt = (i: number): Hit => ({ sk: 0, memoryId: idAt(i), score: scores[i] as number });
  let last: { readonly members: Members; readonly own: ReadonlySet<number> } | undefined;
  return rankingOf(statistics, scores, hitAt, (i, members) => {
    if (last?.members !== members) last = { members, own: view.placesOf(members.ids) };
    return last.own.has(places[i] as number);
  });
}
