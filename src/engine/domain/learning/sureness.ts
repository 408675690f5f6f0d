/** How sure what was learned is: at first by whoever read it, then by how often it is said. */
import type { Kind } from "./kinds.ts";

/** The version of the sentence reader of the local extractor: its weights, and how it cuts a message into sentences. */
export const READER = "reader-1";

/** Who found it in what was said. In the metadata of a fact or rule, under `learned`. */
export interface Learned {
  /** `patterns`, a version of the sentence reader, or provider and model. */
  readonly by: string;
  /** What the sentence reader takes it for, and how likely it thinks that somebody wants it kept, from 0 to 1. */
  readonly kind?: Kind;
  readonly sureness?: number;
  /** Too unsure to be told. A second saying confirms it. */
  readonly hint?: true;
}

/** Found by a pattern or the sentence reader: it consists of words of the episode. */
export const isCutOut = ({ by }: Pick<Learned, "by">): boolean => by === "patterns" || by.startsWith("reader-");

/** What is below the threshold of recall is told to nobody. */
export const hintConfidence = (threshold: number): number => round(0.75 * threshold);

export const learnedOf = (metadata: Readonly<Record<string, unknown>>): Partial<Learned> =>
  typeof metadata.learned === "object" && metadata.learned !== null ? metadata.learned : {};

/** Who found it, in words for a person; undefined for what was not learned. */
export function learnedWords(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const { by, kind, sureness } = learnedOf(metadata);
  if (typeof by !== "string") return undefined;
  if (by === "patterns") return "found by a sentence pattern";
  const sure = typeof sureness === "number" ? `, ${Math.round(100 * sureness)} % sure` : "";
  return `found by ${by}${sure}${kind === undefined ? "" : ` that it is a ${kind} worth keeping`}`;
}

interface Doubtful {
  readonly confidence: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** It was heard once, and nobody has said it again. */
export const isHint = ({ confidence, metadata }: Doubtful, threshold: number): boolean =>
  learnedOf(metadata).hint === true && confidence < threshold;

/** A hint that is said again is as good as something that was just sure enough. */
const CONFIRMED_HINT = 0.5;
/** Of what is missing to certainty. */
const RISE = 0.3;

type Risen = { readonly confidence?: number };

/** What changes of something learned that is said again, by somebody who can be trusted up to `most`. */
export function saidAgain(known: Doubtful, most: number, threshold: number): Risen {
  if (learnedOf(known.metadata).by === undefined || known.confidence >= most) return {};
  const risen = known.confidence + RISE * (most - known.confidence);
  return { confidence: round(isHint(known, threshold) ? Math.max(CONFIRMED_HINT, risen) : risen) };
}

/** Of a hint that a person or an agent confirms or tells by itself: it is one no more. */
const BY_HAND = 0.8;

export const toldByHand = (known: Doubtful, threshold: number): Risen =>
  isHint(known, threshold) ? { confidence: BY_HAND } : {};

/** A rule is a candidate, however sure its reader is: it rises by the marks it is given. */
export const ruleConfidence = (sureness: number): number => round(0.3 + 0.2 * sureness);

/** So sure can a rule become by being said alone. */
export const MOST_SURE_RULE = 0.8;

const round = (share: number): number => Math.round(100 * share) / 100;
