/** Confirmations of one answer, by memory: several items may confirm the same. */
import { type DropReason, idsOf, trustOf, type Witness } from "./consolidation-change.ts";
import { type Trust, trustRank } from "./trust.ts";

interface Confirmable {
  readonly id: string;
  readonly trust: Trust;
  readonly witnesses: ReadonlySet<string>;
}

export function confirmations<K extends "confirm_fact" | "confirm_rule">(kind: K) {
  const cited = new Map<string, { nth: number; episodes: Set<string> }>();
  return {
    /** Whoever said it first is no second witness, and an echo of lower trust is none at all. */
    add(known: Confirmable, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
      if (trustRank(trustOf(witnesses)) < trustRank(known.trust)) return "echo";
      const fresh = idsOf(witnesses).filter((id) => !known.witnesses.has(id));
      if (fresh.length === 0) return "unchanged";
      const entry = cited.get(known.id) ?? { nth, episodes: new Set() };
      for (const id of fresh) entry.episodes.add(id);
      cited.set(known.id, entry);
      return undefined;
    },
    without(id: string): void {
      cited.delete(id);
    },
    changes: () => [...cited].map(([id, { nth, episodes }]) => ({ kind, id, nth, episodes: [...episodes] })),
  };
}
