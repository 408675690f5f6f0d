/** What the regressions say of each sentence of a message, and what the second look is given of it. */
import { KINDS, type Kind } from "../../../../domain/learning/kinds.ts";
import type { Features } from "./features.ts";
import { join, type Packed, scoresOf, unpack } from "./packed.ts";
import type { Said } from "./split.ts";

/** What a message that teaches nothing is instead, as `corpus/README.md` says. */
export const LIKES = [
  "order",
  "moment",
  "feature",
  "quote",
  "hypothetical",
  "sarcasm",
  "log",
  "question",
  "undecided",
  "chat",
  "trial",
  "past",
] as const;
export type Like = (typeof LIKES)[number];

export type Heads = Readonly<Record<"keep" | Kind | Like, Packed>>;

export interface Look {
  readonly keep: number;
  readonly kinds: readonly number[];
  readonly likes: readonly number[];
}

/** Of a single sentence. */
export function lookWith(heads: Heads): (features: Features) => Look {
  const joined = join(
    [heads.keep, ...KINDS.map((kind) => heads[kind]), ...LIKES.map((like) => heads[like])].map(unpack),
  );
  return (features) => {
    const [keep = 0, ...others] = scoresOf(joined, features);
    return { keep, kinds: others.slice(0, KINDS.length), likes: others.slice(KINDS.length) };
  };
}

/** What stands for a sentence where there is none: nothing that anybody would keep, and nothing else either. */
const NO_SENTENCE = { keep: -6, like: -3 } as const;
/** A score beyond this is as good as certain. */
const CERTAIN = 8;
const MOST_SENTENCES = 8;
const MOST_BEFORE = 5;

export const INPUTS = 1 + KINDS.length + 3 * LIKES.length + 4 + 4;

/** Of every sentence of one message. */
export function inputsOf(said: readonly Said[], looks: readonly Look[]): Float64Array[] {
  const keeps = looks.map(({ keep }) => keep);
  const nobody = LIKES.map(() => NO_SENTENCE.like);
  return looks.map((own, at) => {
    const { text, question } = said[at] ?? { text: "", question: false };
    const keepAt = (nth: number): number => keeps[nth] ?? NO_SENTENCE.keep;
    const likesAt = (nth: number): readonly number[] => looks[nth]?.likes ?? nobody;
    const scores = [
      own.keep,
      ...own.kinds,
      ...own.likes,
      ...[keepAt(at - 1), keepAt(at + 1), keepAt(at - 2)],
      Math.max(NO_SENTENCE.keep, ...keeps.filter((_, nth) => nth !== at)),
      ...likesAt(at - 1),
      ...likesAt(at + 1),
    ].map((score) => Math.max(-CERTAIN, Math.min(CERTAIN, score)));
    const words = text.split(/\s+/).length;
    return Float64Array.from([
      ...scores,
      Math.min(MOST_SENTENCES, looks.length),
      Math.min(MOST_BEFORE, at),
      Math.log(words),
      question ? 1 : 0,
    ]);
  });
}
