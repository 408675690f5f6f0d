/** What a newly told fact means for the live fact that holds its key. */
import { sameMeaning } from "./text.ts";

export type Verdict = "create" | "confirm" | "supersede" | "history";

export interface ToldFact {
  readonly content: string;
  readonly validTo: Date | undefined;
}

export interface HeldFact {
  readonly content: string;
  readonly valid_to: Date | null;
}

/**
 * The same meaning confirms; another content supersedes. A fact whose validity has already ended is history: it is kept,
 * and takes nobody's place. A holder whose validity has ended gives way even to its own words: confirming it would leave
 * what is true again out of every search.
 */
export function judgeFact(told: ToldFact, live: HeldFact | undefined, now: Date): Verdict {
  if (told.validTo !== undefined && told.validTo.getTime() <= now.getTime()) return "history";
  if (live === undefined) return "create";
  if (live.valid_to !== null && live.valid_to.getTime() <= now.getTime()) return "supersede";
  return sameMeaning(told.content, live.content) ? "confirm" : "supersede";
}
