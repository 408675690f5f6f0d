/** A fixed sample of what an extractor learns from a data set, so that a reader's verdicts can be kept and compared. */

import { createHash } from "node:crypto";
import type { EpisodeShown, Material } from "../../engine/adapters/extractor/port.ts";
import type { Answer, LearnedFact, LearnedRule } from "../../engine/domain/learning/answer.ts";
import type { Corpus, DataSet } from "../quality/data.ts";

/** An item is identified by the first memory that it cites, and its position among the items that cite this memory first. */
export interface ItemKey {
  readonly corpus: string;
  readonly memory: string;
  readonly nth: number;
  /** Hash of its text: a verdict applies to these words only. */
  readonly hash: string;
}

export interface SampledItem extends ItemKey {
  readonly item: LearnedFact | LearnedRule;
  readonly cited: readonly string[];
}

const BATCH = 100;
const LAST_LABEL = /^e(\d+)$/;

/** Batches as consolidation would claim them: in order, at most a hundred episodes each. */
export function materialsOf(corpus: Corpus): Material[] {
  const materials: Material[] = [];
  // A memory without a time was said no earlier than the one before it.
  let day = corpus.memories.find((memory) => memory.time !== undefined)?.time?.slice(0, 10) ?? "1970-01-01";
  for (let start = 0; start < corpus.memories.length; start += BATCH) {
    const episodes = corpus.memories.slice(start, start + BATCH).map((memory, at): EpisodeShown => {
      day = memory.time?.slice(0, 10) ?? day;
      return {
        label: `e${at + 1}`,
        text: memory.text,
        speaker: memory.speaker ?? null,
        day,
        trust: "user",
        session: memory.session ?? null,
      };
    });
    materials.push({ butler: "bench", today: day, episodes, facts: [], rules: [] });
  }
  return materials;
}

/** The items of one corpus, given the answers to its batches in order. */
export function itemsOf(corpus: Corpus, answers: readonly Answer[]): SampledItem[] {
  const counts = new Map<string, number>();
  return answers.flatMap((answer, batch) =>
    [...answer.facts, ...answer.rules].map((item) => {
      const cited = item.episodes.map((label) => {
        const at = Number(LAST_LABEL.exec(label)?.[1]) - 1;
        return corpus.memories[batch * BATCH + at]?.id ?? label;
      });
      const memory = cited[0] ?? "";
      const nth = counts.get(memory) ?? 0;
      counts.set(memory, nth + 1);
      const hash = createHash("sha256").update(item.content).digest("hex").slice(0, 8);
      return { corpus: corpus.id, memory, nth, hash, item, cited };
    }),
  );
}

/** A small generator with a seed (mulberry32), so that everybody draws the same sample. */
function drawer(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const SAMPLE = { items: 200, seed: 20_260 } as const;

/** `count` of them in a shuffled order that depends on the seed alone. */
export function sampled<T>(items: readonly T[], count: number = SAMPLE.items, seed: number = SAMPLE.seed): T[] {
  const next = drawer(seed);
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(next() * (last + 1));
    const moved = shuffled[last] as T;
    shuffled[last] = shuffled[other] as T;
    shuffled[other] = moved;
  }
  return shuffled.slice(0, count);
}

/** All items of a data set, as the extractor `learn` gives them. */
export function allItems(data: Pick<DataSet, "corpora">, learn: (material: Material) => Answer): SampledItem[] {
  return data.corpora.flatMap((corpus) =>
    itemsOf(
      corpus,
      materialsOf(corpus).map((material) => learn(material)),
    ),
  );
}
