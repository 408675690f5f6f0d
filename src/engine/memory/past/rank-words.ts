/** Exact BM25 over the memories of a moment, with the same numbers as the index has: n, df and lengths are those of then. */
import type { MemoryType } from "../../domain/memory-types.ts";
import { askedKinds, kindOf } from "../../domain/past/spans.ts";
import { type Hit, idf, type Ranking, rankingOf, type Statistics, weight } from "../../domain/ranking/words/bm25.ts";
import { countHashes } from "../../domain/ranking/words/postings.ts";
import type { Having, PastView } from "./past.ts";

interface Term {
  readonly hash: number;
  readonly count: number;
  readonly having: Having;
}

/** Words of a memory that is short. */
const SHORT = 64;

interface RankedThen {
  /** One for each group of types. */
  readonly rankings: readonly Ranking[];
  /** Of all of them. */
  readonly statistics: Statistics;
}

export function rankThen(
  view: PastView,
  words: readonly string[],
  groups: readonly (readonly MemoryType[])[],
): RankedThen {
  const terms = [...countHashes(words)].map(([hash, count]) => ({ hash, count, having: view.having(hash) }));
  return {
    rankings: groups.map((types) => rankOne(view, terms, types)),
    statistics: statisticsOf(view, terms, [...new Set(groups.flat())]),
  };
}

function statisticsOf(view: PastView, terms: readonly Term[], types: readonly MemoryType[]): Statistics {
  const sizes = types.map((type) => view.sizeOf(type));
  const n = sizes.reduce((sum, size) => sum + size.n, 0);
  const tl = sizes.reduce((sum, size) => sum + size.tl, 0);
  return {
    n,
    avgdl: n > 0 ? Math.max(tl, 1) / n : 1,
    terms: terms.map(({ hash, count, having }) => {
      const df = types.reduce((sum, type) => sum + (having.ofKind[kindOf(type)] as number), 0);
      return { hash, count, df, idf: idf(n, df) };
    }),
  };
}

function rankOne(view: PastView, terms: readonly Term[], types: readonly MemoryType[]): Ranking {
  const statistics = statisticsOf(view, terms, types);
  const { avgdl } = statistics;
  const { kinds } = view;
  const isAsked = askedKinds(types);
  const met: number[] = [];
  const sums = new Float64Array(kinds.length);
  for (const [nth, { having }] of terms.entries()) {
    const { count, idf: rarity } = statistics.terms[nth] as Statistics["terms"][number];
    const { n, lines, tfs, lengths } = having;
    // Most have a word once and are short: their weight is worked out once for each length.
    const once = Float64Array.from({ length: SHORT }, (_, length) => count * weight(rarity, 1, length, avgdl));
    for (let at = 0; at < n; at++) {
      const line = lines[at] as number;
      if (isAsked[kinds[line] as number] === 0) continue;
      const [tf, length] = [tfs[at] as number, lengths[at] as number];
      const before = sums[line] as number;
      if (before === 0) met.push(line);
      sums[line] =
        before + (tf === 1 && length < SHORT ? (once[length] as number) : count * weight(rarity, tf, length, avgdl));
    }
  }
  const scores = new Float64Array(met.length);
  for (let i = 0; i < met.length; i++) scores[i] = sums[met[i] as number] as number;
  const idAt = (i: number): string => view.lineAt(met[i] as number).id;
  // Each type is a shelf of its own, and nobody asks which.
  const hitAt = (i: number): Hit => ({ sk: 0, memoryId: idAt(i), score: scores[i] as number });
  return rankingOf(statistics, scores, hitAt, (i, { ids }) => ids.has(idAt(i)));
}
