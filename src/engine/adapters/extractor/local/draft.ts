/** A draft is what one clause says; the drafts of a batch are merged into an answer. */
import type { Claim, Fact } from "../../../domain/fact.ts";
import type { Span } from "./calendar.ts";

export interface Draft extends Claim, Pick<Fact, "permanence" | "importance" | "confidence"> {
  readonly valid_from: string | null;
  readonly valid_to: string | null;
  /** The part of the content that "actually, it's …" would replace; null when there is none. */
  readonly value: string | null;
  /** Predicates of the same subject that cannot be true beside this one. */
  readonly ends: readonly string[];
  /** A change of mind: what was said before under the same key no longer holds, even when the predicate carries its object. */
  readonly reverses: boolean;
  readonly scope: "global" | "own";
  /** Understood only with what the same person said before, so that episode is cited as well. */
  readonly needsPrevious: boolean;
}

/** Whom a fact is about: the subject `user` has the name "The user" in a sentence. */
export interface Person {
  readonly subject: string;
  readonly name: string;
}

/** A clause that has a subject: `rest` starts with its verb, and the date has been taken out of it. */
export interface Clause {
  readonly person: Person;
  /** Said by the person: "I am"; otherwise "Grace is". */
  readonly first: boolean;
  /** Somebody named who is neither the speaker nor the user: "Grace", but "Docker" as well. */
  readonly other: boolean;
  /** Said with "we": what a group likes is not what each member likes. */
  readonly plural: boolean;
  /** Who else took part, ready for a sentence: "and their husband". */
  readonly companions: string;
  /** "my sister": her attributes stay with the speaker, as `sister_lives_in`. */
  readonly relative: string | null;
  readonly rest: string;
  /** "my bike was stolen": `rest` starts with what is owned, not with a verb. */
  readonly owned: boolean;
  /** "just": about the day on which it is said. "recently": some time before, no day is known. */
  readonly recent: "just" | "recently" | null;
  /** "I think", "kind of". */
  readonly hedged: boolean;
  /** Taken out of the clause; `undefined` when it names no date. */
  readonly when: ((direction: "past" | "future") => Span | null) | undefined;
  readonly day: string;
  /** Said by one person to another, not to an agent. */
  readonly betweenPeople: boolean;
}

type Given = Pick<Draft, "predicate" | "content" | "permanence"> & Partial<Draft>;

const IMPORTANCE = 5;
const CONFIDENCE = 0.85;
const HEDGED = 0.65;

/** What most statements are: true without dates, and understood alone. */
export const PLAIN = {
  valid_from: null,
  valid_to: null,
  value: null,
  ends: [],
  reverses: false,
  scope: "own",
  needsPrevious: false,
} as const;

export function draft(clause: Clause, given: Given): Draft {
  const confidence = given.confidence ?? CONFIDENCE;
  return {
    subject: clause.person.subject,
    importance: IMPORTANCE,
    ...PLAIN,
    ...given,
    content: sentence(given.content),
    predicate: given.predicate.replace(/\s+/g, " ").trim(),
    confidence: clause.hedged ? Math.min(confidence, HEDGED) : confidence,
  };
}

/** One clean sentence: spaces and the full stop in order. */
export function sentence(words: string): string {
  const tidy = words
    .replace(/\s+/g, " ")
    .replace(/ ([,.;])/g, "$1")
    .trim()
    .replace(/(?<![.!,;:\s])[.!,;:\s]+$/, "");
  return `${tidy.charAt(0).toUpperCase()}${tidy.slice(1)}.`;
}
