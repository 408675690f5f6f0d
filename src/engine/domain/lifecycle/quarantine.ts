/**
 * What is kept out of context blocks because of who said it, and what lets it in. A block is read by an agent as its own background, so
 * words of a tool (a web page, a file, the output of a program, a subagent's report) get there only once somebody else stands for them.
 */

import { atLeast, isWeaker, type Trust } from "../learning/trust.ts";
import { DAY_MS } from "./decay.ts";

/** Columns of facts and rules. */
export interface Reviewed {
  /** When another source than those it was learned from said the same; null: none has. */
  readonly corroborated_at: Date | null;
  /** Until when it waits for a person to look at it; null: it does not. */
  readonly review_until: Date | null;
}

interface Standing {
  readonly trust: Trust;
  /** Null for an episode: it is what was said, not a claim that others could make too. */
  readonly corroborated_at: Date | null;
}

/** After this many days a memory leaves the review list by itself. It stays as it is, and a later contradiction puts it there again. */
export const REVIEW_DAYS = 30;

export const isUntrusted = (trust: Trust): boolean => isWeaker(trust, "agent");

export const isKeptOut = ({ trust, corroborated_at }: Standing): boolean =>
  isUntrusted(trust) && corroborated_at === null;

/** How far it is believed against others: what was corroborated does not give way to the next tool that says otherwise. */
export const standingOf = ({ trust, corroborated_at }: Standing): Trust =>
  corroborated_at === null ? trust : atLeast(trust, "agent");

export interface Source {
  readonly trust: Trust;
  readonly session: string | null;
  /** When it was said, or read from memory. */
  readonly at: Date;
  /** It was only given it from memory. */
  readonly reads?: boolean;
}

/** A line to an agent's tools has a name of its own: which session of the agent it belongs to is not known. */
const isLine = (session: string): boolean => session.startsWith("stdio-");
/** Hooks name the agent before its session. */
const sessionIn = (session: string): string => session.replace(/^[a-z][a-z-]*:/, "");

/** So long after an unknown reader was given a memory, whoever says the same may have it from there. */
const REPEATED_WITHIN_MS = DAY_MS;

function mayBeSame(said: Source & { readonly session: string }, known: Source): boolean {
  if (known.session !== null && sessionIn(known.session) === sessionIn(said.session)) return true;
  if (known.reads !== true) return known.session === null;
  if (known.session !== null && isLine(known.session) === isLine(said.session)) return false;
  const since = said.at.getTime() - known.at.getTime();
  return since >= 0 && since < REPEATED_WITHIN_MS;
}

/**
 * Whether one more source makes an untrusted memory believable. It must be an agent or a person, for a page that is read in every session
 * says the same each time; and of a session of its own, for an agent repeats what it has just read, on a page or in memory. Where a session
 * is not known, nobody knows that it is another one.
 */
export const corroborates = (said: Source, known: readonly Source[]): boolean =>
  !isUntrusted(said.trust) &&
  said.session !== null &&
  known.length > 0 &&
  !known.some((one) => mayBeSame({ ...said, session: said.session ?? "" }, one));

export const reviewEnd = (now: Date): Date => new Date(now.getTime() + REVIEW_DAYS * DAY_MS);

/** Of a new fact or rule. */
export const reviewAtBirth = (trust: Trust, now: Date): Reviewed => ({
  corroborated_at: null,
  review_until: isUntrusted(trust) ? reviewEnd(now) : null,
});

/** What a confirmation sets: the person's own word ends the review, and so does a source that corroborates. */
export function reviewAfter(
  known: Standing & Reviewed,
  said: Trust,
  corroborated: boolean,
  now: Date,
): Partial<Reviewed> {
  if (said === "user") return known.review_until === null ? {} : { review_until: null };
  return corroborated && isKeptOut(known) ? { corroborated_at: now, review_until: null } : {};
}
