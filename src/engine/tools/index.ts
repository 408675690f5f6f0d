/** All tools, in the order in which agents see them. */

import type { z } from "zod";
import { nearest, plainName } from "../domain/text/spelling.ts";
import { clip } from "../domain/text/text.ts";
import type { Tool } from "./define.ts";
import { memoryActivityStream } from "./memory-activity-stream.ts";
import { memoryConfirm } from "./memory-confirm.ts";
import { memoryConsolidate } from "./memory-consolidate.ts";
import { memoryContext } from "./memory-context.ts";
import { memoryContextBatch } from "./memory-context-batch.ts";
import { memoryDeadLetters } from "./memory-dead-letters.ts";
import { memoryForget } from "./memory-forget.ts";
import { memoryGet } from "./memory-get.ts";
import { memoryIngestBatch } from "./memory-ingest-batch.ts";
import { memoryLearning } from "./memory-learning.ts";
import { memoryMarkHarmful } from "./memory-mark-harmful.ts";
import { memoryMarkHelpful } from "./memory-mark-helpful.ts";
import { memoryRecall } from "./memory-recall.ts";
import { memoryRestore } from "./memory-restore.ts";
import { memorySearch } from "./memory-search.ts";
import { memoryStats } from "./memory-stats.ts";
import { memoryStore } from "./memory-store.ts";
import { memoryStoreEpisode } from "./memory-store-episode.ts";
import { memoryStoreFact } from "./memory-store-fact.ts";
import { memoryStoreRule } from "./memory-store-rule.ts";
import { memoryWhy } from "./memory-why.ts";

const menu = [
  memoryContext,
  memorySearch,
  memoryRecall,
  memoryStoreEpisode,
  memoryStoreFact,
  memoryStoreRule,
  memoryConfirm,
  memoryMarkHelpful,
  memoryMarkHarmful,
  memoryForget,
  memoryStore,
  memoryGet,
  memoryWhy,
  memoryRestore,
  memoryStats,
  memoryContextBatch,
  memoryIngestBatch,
  memoryActivityStream,
  memoryConsolidate,
  memoryDeadLetters,
  memoryLearning,
] as const;

type Menu = (typeof menu)[number];
type Named<N extends ToolName> = Extract<Menu, { readonly name: N }>;

export type ToolName = Menu["name"];

/**
 * What a tool takes. A name that is known only when the program runs (`string`) takes anything, and the tool's schema says
 * what is wrong with it; a misspelt name takes nothing, so that it does not compile.
 */
export type ToolInput<N extends string> = N extends ToolName
  ? z.input<Named<N>["input"]>
  : string extends N
    ? unknown
    : never;

export type ToolAnswer<N extends string> = N extends ToolName ? z.output<Named<N>["output"]> : Record<string, unknown>;

export const tools: readonly Tool[] = menu;

const byName = new Map(tools.map((tool) => [tool.name, tool]));

export const toolNamed = (name: string): Tool | undefined => byName.get(name);

/** Tools that a name which is none may mean: `search_memory`, `add_fact`, `memory_serch`. */
export function nearestTools(name: string): string[] {
  const all = [...byName.keys()];
  const spelt = nearest(name, all);
  if (spelt !== undefined) return [spelt];
  const words = new Set(plainName(name).split(/[^a-z]+/));
  return all.filter((tool) => tool.split("_").some((word) => word !== "memory" && words.has(word))).slice(0, 3);
}

/** The sentence about a name that is no tool. */
export function noSuchTool(name: string): string {
  const near = nearestTools(name);
  const advice =
    near.length === 0 ? `there are ${[...byName.keys()].join(", ")}.` : `did you mean ${near.join(" or ")}?`;
  return `There is no tool "${clip(name, 60)}"; ${advice}`;
}
