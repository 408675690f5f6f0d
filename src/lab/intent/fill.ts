/** Writes the memory of `butler bench intent` through the ordinary tools, each day on its own date. */

import { MemoryError } from "../../engine/domain/errors.ts";
import { DAY_MS } from "../../engine/domain/lifecycle/decay.ts";
import { maintain } from "../../engine/memory/keep/maintain.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { answerOf } from "../build.ts";
import type { EpisodeTold, FactTold, MemoryTold, RuleTold } from "./memories.ts";

/** When the questions are asked: a fixed day, so that decay and recency are the same in every run. */
export const ASKED_AT = new Date("2026-05-01T12:00:00Z");
const MARKS = 5;

/** The same memory with another clock. */
export const atTime = <M extends Memory>(memory: M, at: Date): M => ({
  ...memory,
  clock: { now: () => new Date(at), fixed: true },
});

/** The ids that the store gave, by key. */
export async function fillIntent(
  memory: Memory,
  memories: readonly MemoryTold[],
  progress: (done: number) => void,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const days = [...new Set(memories.map(({ age }) => age))].toSorted((a, b) => b - a);
  for (const day of days) {
    const then = atTime(memory, new Date(ASKED_AT.getTime() - day * DAY_MS));
    const told = memories.filter(({ age }) => age === day);
    for (const one of told) if (one.type !== "episode") ids.set(one.key, await store(then, one));
    const episodes = told.filter((one) => one.type === "episode");
    for (const [key, id] of await storeEpisodes(then, episodes, `day ${day}`)) ids.set(key, id);
    progress(ids.size);
  }
  await maintain(atTime(memory, ASKED_AT), { level: "full" });
  return ids;
}

async function storeEpisodes(
  memory: Memory,
  told: readonly EpisodeTold[],
  session_id: string,
): Promise<readonly (readonly [key: string, id: string])[]> {
  if (told.length === 0) return [];
  const episodes = told.map(({ content, importance }) => ({ content, importance, session_id }));
  const { results } = await answerOf(memory, "memory_ingest_batch", { episodes });
  return told.map(({ key }, at) => {
    const result = results[at];
    if (!result?.ok) throw new MemoryError("internal", `the episode "${key}" was refused`);
    return [key, result.id];
  });
}

async function store(memory: Memory, told: FactTold | RuleTold): Promise<string> {
  const { content } = told;
  if (told.type === "fact") {
    const { subject, predicate, importance, permanence } = told;
    const fact = await answerOf(memory, "memory_store_fact", { subject, predicate, content, importance, permanence });
    return fact.id;
  }
  const { id: rule_id } = await answerOf(memory, "memory_store_rule", { content });
  for (let mark = 0; told.established && mark < MARKS; mark++)
    await answerOf(memory, "memory_mark_helpful", { rule_id });
  return rule_id;
}
