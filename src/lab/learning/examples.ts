/** Sentences of labelled messages: what the reader is trained and measured with. */
import { type Features, featuresOf } from "../../engine/adapters/extractor/local/reader/features.ts";
import { LIKES, type Like } from "../../engine/adapters/extractor/local/reader/looks.ts";
import { type Said, splitMessage } from "../../engine/adapters/extractor/local/reader/split.ts";
import type { Kind } from "../../engine/domain/learning/kinds.ts";
import type { Message } from "./corpus.ts";

export interface Example {
  readonly said: Said;
  readonly features: Features;
  /** Undefined: not worth keeping. */
  readonly kind: Kind | undefined;
  /** What its message is instead, if nothing of it is worth keeping and that was said. */
  readonly like: Like | undefined;
}

const LEAST_CHARS = 4;

/** Of one message. A sentence is kept if half of it, or half of a part, is what they share. */
export function examplesOf({ text, keep, like }: Message): Example[] {
  const said = splitMessage(text);
  const features = featuresOf(said);
  return said.flatMap((sentence, nth) => {
    let share = 0;
    let kind: Kind | undefined;
    for (const { part, kind: its } of keep) {
      const shared = overlap(text.indexOf(part), part.length, sentence.at, sentence.text.length);
      const most = Math.max(shared / part.length, shared / sentence.text.length);
      if (shared >= LEAST_CHARS && most >= 0.5 && most > share) [share, kind] = [most, its];
    }
    const its = features[nth];
    if (its === undefined) return [];
    return [{ said: sentence, features: its, kind, like: LIKES.find((one) => one === like) }];
  });
}

const overlap = (from: number, length: number, otherFrom: number, otherLength: number): number =>
  Math.max(0, Math.min(from + length, otherFrom + otherLength) - Math.max(from, otherFrom));
