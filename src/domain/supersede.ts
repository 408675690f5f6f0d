/** What a newly told fact means for the live fact that holds its key. */
import { sameMeaning } from "./text.ts";

export type Verdict = "create" | "confirm" | "supersede" | "history";

export interface ToldFact {
  readonly content: string;
  readonly validTo: Date | undefined;
}

/**
 * The same meaning confirms; another content supersedes. A fact whose validity has already ended is history: it is kept,
 * and takes nobody's place.
 */
export function judgeFact(told: ToldFact, live: { readonly content: string } | undefined, now: Date): Verdict {
  if (told.validTo !== undefined && told.validTo.getTime() <= now.getTime()) return "history";
  if (live === undefined) return "create";
  return sameMeaning(told.content, live.content) ? "confirm" : "supersede";
}
