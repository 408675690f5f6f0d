/** Stores a corpus turn by turn, consolidates it, and counts what was learned. */

import { areNearDuplicates } from "../../engine/domain/lifecycle/near-duplicates.ts";
import { contentKey } from "../../engine/domain/text/text.ts";
import { consolidate } from "../../engine/memory/learn/consolidate.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import { fill, type Unit } from "../quality/fill.ts";
import { alikeFacts, forgetLearning, learnedFacts, unwitnessed } from "../sql/learned.ts";

export interface CorpusFigures {
  readonly corpus: string;
  readonly turns: number;
  readonly store_seconds: number;
  readonly learn_seconds: number;
  readonly facts: number;
  readonly rules: number;
  readonly exact_duplicates: number;
  readonly near_duplicates: number;
  /** Facts and rules that are linked to no episode of this store. */
  readonly unwitnessed: number;
  readonly counts: Readonly<Record<string, number>>;
  /** What a second run over the same episodes changed. */
  readonly changed_again: number;
}

export async function measureCorpus(
  memory: Memory,
  unit: Unit,
  progress: (what: string) => void,
): Promise<CorpusFigures> {
  const turns = unit.corpus.memories.length;
  progress("storing");
  let started = performance.now();
  await fill(memory, [unit], 0, () => undefined);
  const store_seconds = (performance.now() - started) / 1_000;
  progress("learning");
  started = performance.now();
  const { counts } = await runOnce(memory);
  const learn_seconds = (performance.now() - started) / 1_000;
  const facts = await learnedFacts(asOwner(memory, "lab"));
  const told = new Map<string, number>();
  for (const { subject, content } of facts.live) {
    const key = JSON.stringify([subject, contentKey(content)]);
    told.set(key, (told.get(key) ?? 0) + 1);
  }
  const near = (await alikeFacts(asOwner(memory, "lab"))).filter(({ a, b, cosine }) => areNearDuplicates(a, b, cosine));
  const again = await learnAgain(memory);
  return {
    ...{ corpus: unit.corpus.id, turns, store_seconds, learn_seconds },
    ...{ facts: facts.live.length, rules: facts.rules, counts },
    exact_duplicates: [...told.values()].reduce((sum, n) => sum + n - 1, 0),
    near_duplicates: new Set(near.map(({ later }) => later)).size,
    unwitnessed: await unwitnessed(asOwner(memory, "lab")),
    changed_again: again,
  };
}

const runOnce = (memory: Memory) =>
  consolidate.run({ memory, now: memory.clock.now(), dryRun: false, interrupted: () => false });

/** Consolidates the same episodes once more: nothing but the state of the episodes may change. */
async function learnAgain(memory: Memory): Promise<number> {
  await forgetLearning(asOwner(memory, "lab"));
  const { counts, changed } = await runOnce(memory);
  return changed - (counts.episodes_consolidated ?? 0);
}
