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
  const episodes = new Map(
    sections.flatMap(({ items }) =>
      items.flatMap(({ item, line }) => (item.type === "episode" ? [[item.id, line]] : [])),
    ),
  );
  const of = ({ item, line }: Line<ContextItem>) =>
    origins
      .filter(({ id, episode }) => id === item.id && episodes.has(episode))
      .map(({ episode }) => episode)
      .filter((episode) => saysIt(line, episodes.get(episode) ?? ""));
  return sections.map((section) => ({
    ...section,
    items: section.items.map((line) =>
      line.item.type === "episode" ? { ...line, name: line.item.id } : { ...line, tells: of(line) },
    ),
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
