/** How many searches a second the owner answers when several agents ask at the same time. */
import type { Memory } from "../../engine/memory/memory.ts";
import type { ToolInput } from "../../engine/tools/index.ts";
import { answerOf } from "../build.ts";
import { type AtOnce, round, spread } from "../figures.ts";

const SEARCHERS = 8;

export async function atOnce(
  memory: Memory,
  inputs: readonly ToolInput<"memory_search">[],
  searchers = SEARCHERS,
): Promise<AtOnce> {
  await memory.afterwards.settled();
  const times: number[] = [];
  let next = 0;
  const started = performance.now();
  const searcher = async (number: number) => {
    for (let input = inputs[next++]; input !== undefined; input = inputs[next++]) {
      const since = performance.now();
      await answerOf(memory, "memory_search", input, { session: `bench-searcher-${number}` });
      times.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: searchers }, (_, number) => searcher(number)));
  const answered = performance.now();
  await memory.afterwards.settled();
  return {
    ...spread(times),
    searchers,
    per_second: round(times.length / ((answered - started) / 1_000)),
    behind_ms: round(performance.now() - answered, 0),
  };
}
