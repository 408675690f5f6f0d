/** What one clause says, before a batch is put together. */
import type { Claim, Fact } from "../../../domain/fact.ts";
import type { Span } from "./calendar.ts";

export interface Draft extends Claim, Pick<Fact, "permanence" | "importance" | "confidence"> {
  readonly valid_from: string | null;
  readonly valid_to: string | null;
  /** The part that "actually, it's …" would replace; null when nothing can be. */
  readonly value: string | null;
  /** Predicates of the same subject that cannot be true beside this one. */
  readonly ends: readonly string[];
  /** A change of mind: what was said under the key before is over, even when the predicate carries its object. */
  readonly turns: boolean;
  readonly scope: "global" | "own";
  /** It is only understood with what the same person said in the turn before, which is cited as well. */
  readonly leans: boolean;
}

/** Whom the words of a speaker are about: `user` is written "The user" in a sentence. */
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
  /** "We" is not always "I": what a group does is not what one prefers. */
  readonly plural: boolean;
  /** Who else took part, ready for a sentence: "and their husband". */
  readonly company: string;
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
  /** People who talk to each other, not to an agent. */
  readonly among: boolean;
}

type Given = Pick<Draft, "predicate" | "content" | "permanence"> & Partial<Draft>;

const IMPORTANCE = 5;
const CONFIDENCE = 0.85;
const HEDGED = 0.65;

export function draft(clause: Clause, given: Given): Draft {
  const confidence = given.confidence ?? CONFIDENCE;
  return {
    subject: clause.person.subject,
    importance: IMPORTANCE,
    valid_from: null,
    valid_to: null,
    value: null,
    ends: [],
    turns: false,
    scope: "own",
    leans: false,
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
