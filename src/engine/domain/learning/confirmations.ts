/** Confirmations of one answer, by memory: several items may confirm the same. */
import { type DropReason, idsOf, trustOf, voiceOf, type Witness } from "./change.ts";
import { atLeast, bestTrust, isWeaker, type Trust, vouched } from "./trust.ts";

interface Confirmable {
  readonly id: string;
  readonly content: string;
  readonly trust: Trust;
  readonly witnesses: ReadonlySet<string>;
}

export function confirmations<K extends "confirm_fact" | "confirm_rule">(kind: K) {
  const cited = new Map<string, { nth: number; episodes: Map<string, Trust>; trust: Trust }>();
  /** Of a memory, with what the user has said of it in this answer. */
  const believed = ({ id, trust }: Pick<Confirmable, "id" | "trust">): Trust =>
    vouched(trust, cited.get(id)?.trust ?? trust);
  return {
    trustOf: believed,
    /** An episode that says so already does not confirm it again, and a source of lower trust does not confirm it at all. */
    add(known: Confirmable, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
      // Who agrees in other words confirms it, but does not make it their own word.
      if (isWeaker(voiceOf(known.content, witnesses), believed(known))) return "echo";
      const trust = trustOf(known.content, witnesses);
      const fresh = idsOf(witnesses).filter((id) => !known.witnesses.has(id));
      if (fresh.length === 0) return "unchanged";
      const entry = cited.get(known.id) ?? { nth, episodes: new Map(), trust };
      for (const id of fresh) entry.episodes.set(id, atLeast(trust, entry.episodes.get(id) ?? trust));
      cited.set(known.id, { ...entry, trust: bestTrust([entry.trust, trust]) });
      return undefined;
    },
    without(id: string): void {
      cited.delete(id);
    },
    changes: () =>
      [...cited].map(([id, { nth, episodes, trust }]) => ({
        ...{ kind, id, nth, trust },
        ...{ episodes: [...episodes.keys()], voices: [...episodes.values()] },
      })),
  };
}
