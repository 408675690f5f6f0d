/** Narrows a list to memories with some words, through the keyword index. */
import type { MemoryType } from "../../domain/memory-types.ts";
import { EVERY_SCOPE } from "../../domain/scope.ts";
import type { Call } from "../../memory/memory.ts";
import { search } from "../../memory/recall/search.ts";

/** Beyond these, words do not narrow a list any more: a search by relevance is the better question. */
export const MOST_FOUND = 200;

export async function idsWithWords(
  call: Call,
  type: MemoryType,
  words: string,
  scope: string | undefined,
): Promise<string[]> {
  const found = await search(call, {
    query: words,
    types: [type],
    mode: "keyword",
    limit: MOST_FOUND,
    min_confidence: 0,
    min_relevance: 0,
    scope: scope ?? (call.caller.admin ? EVERY_SCOPE : undefined),
  });
  return found.results.map(({ id }) => id);
}
