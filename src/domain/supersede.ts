/** What a newly told fact means for the live fact that holds its key. */
import { sameMeaning } from "./text.ts";
import { isWeaker, type Trust } from "./trust.ts";

export type Verdict = "create" | "confirm" | "supersede" | "history" | "contradict" | "echo";

export interface ToldFact {
  readonly content: string;
  readonly validTo: Date | undefined;
  readonly trust: Trust;
}

export interface HeldFact {
  readonly content: string;
  readonly valid_to: Date | null;
  readonly trust: Trust;
}

/**
 * The same meaning confirms; another content supersedes. From a source that is trusted less, the same is an echo and another
 * content only contradicts. A fact whose validity has already ended is history: it is kept, and takes nobody's place. A holder
 * whose validity has ended gives way even to its own words: confirming it would leave what is true again out of every search.
 */
export function judgeFact(told: ToldFact, live: HeldFact | undefined, now: Date): Verdict {
  if (told.validTo !== undefined && told.validTo.getTime() <= now.getTime()) return "history";
  if (live === undefined) return "create";
  if (live.valid_to !== null && live.valid_to.getTime() <= now.getTime()) return "supersede";
  const same = sameMeaning(told.content, live.content);
  if (isWeaker(told.trust, live.trust)) return same ? "echo" : "contradict";
  return same ? "confirm" : "supersede";
}
