/** A fact or rule and the episode that it was learned from are not both told: where the first is in the block, the second is not. */

import type { Line, Section } from "../../domain/ranking/budget.ts";
import { lexemes } from "../../domain/text/lexemes.ts";
import type { Origin } from "../../store/memories/origins.ts";
import type { ContextItem } from "./block.ts";

/** `saysIt`: whether the line of the fact or rule leaves nothing of the episode's line to be told. */
export function toldOnce(
  sections: readonly Section<ContextItem>[],
  origins: readonly Origin[],
  saysIt: (learned: string, episode: string) => boolean,
): Section<ContextItem>[] {
  const episodes = new Map<string, Line<ContextItem>>();
  for (const { items } of sections)
    for (const one of items) if (one.item.type === "episode") episodes.set(one.item.id, one);
  // Of most facts and rules no such episode is in the block, and lines that nobody looks at are not made.
  const taught = origins.filter(({ episode }) => episodes.has(episode));
  if (taught.length === 0) return [...sections];
  const of = ({ item, line }: Line<ContextItem>) =>
    taught.flatMap(({ id, episode }) =>
      id === item.id && saysIt(line, episodes.get(episode)?.line ?? "") ? [episode] : [],
    );
  const concerned = new Set(taught.flatMap(({ id, episode }) => [id, episode]));
  return sections.map((section) => ({
    ...section,
    items: section.items.map((one): Line<ContextItem> => {
      if (!concerned.has(one.item.id)) return one;
      const { line, item, key, tokens, listedTokens } = one;
      const made = { line, item, key, tokens, listedTokens };
      return item.type === "episode" ? { ...made, name: item.id } : { ...made, tells: of(one) };
    }),
  }));
}

/** An episode may say much more than the one fact that was learned from it, and be what the prompt asks for. */
const SAYS_IT = 0.5;

/** Whether one text has most of the words of another. */
export function hasMostWords(text: string, other: string): boolean {
  const known = new Set(lexemes(text));
  const words = [...new Set(lexemes(other))];
  return words.length > 0 && words.filter((word) => known.has(word)).length >= SAYS_IT * words.length;
}
