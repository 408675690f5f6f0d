/**
 * Which sentences of a message are worth keeping, and of which kind they are: a logistic regression over words, shapes and marks. Its weights
 * come from the messages in `corpus/`; `butler bench learning --train` makes them.
 */

import { BAR, BAR_OF_HINTS, type Bars, KINDS, type Kind } from "../../../../domain/learning/kinds.ts";
import { isMostlyMachine } from "../../../../domain/text/pasted.ts";
import { isMeant } from "../clauses.ts";
import { withoutTask } from "./cut.ts";
import { type Features, featuresOf } from "./features.ts";
import { standsAlone } from "./file.ts";
import { isOfTheMoment } from "./moment.ts";
import { type Packed, scoreOf, unpack } from "./packed.ts";
import { type Said, splitMessage } from "./split.ts";
import { WEIGHTS } from "./weights.ts";

export interface Read extends Said {
  /** How likely it is that a person would want it kept, from 0 to 1. */
  readonly sureness: number;
  readonly kind: Kind;
}

export type Weights = Readonly<Record<"keep" | Kind, Packed>>;

const likelihood = (score: number): number => 1 / (1 + Math.exp(-score));

export interface Kept {
  /** Sure enough to be told. */
  readonly sure: readonly Read[];
  /** Heard, and worth a second saying. */
  readonly hints: readonly Read[];
}

export interface Reader {
  /** Every sentence, in the order in which they were said. */
  readonly read: (message: string) => Read[];
  /** What of the sentences of a message is worth keeping, with the tasks cut out. */
  readonly kept: (read: readonly Read[], bars?: Bars) => Kept;
}

export function readerOf(packed: Weights): Reader {
  const keep = unpack(packed.keep);
  const kinds = KINDS.map((kind) => [kind, unpack(packed[kind])] as const);
  const surenessOf = (features: Features) => likelihood(scoreOf(keep, features));
  const kindOf = (features: Features): Kind => {
    const ranked = kinds.map(([kind, regression]) => ({ kind, score: scoreOf(regression, features) }));
    return ranked.toSorted((a, b) => b.score - a.score)[0]?.kind ?? "fact";
  };
  return {
    read: (message) => {
      const sentences = splitMessage(message);
      const features = featuresOf(sentences);
      return sentences.flatMap((said, at) => {
        const its = features[at];
        return its === undefined ? [] : [{ ...said, sureness: surenessOf(its), kind: kindOf(its) }];
      });
    },
    kept: (read, bars = BAR) => keptOf(read, bars, surenessOf),
  };
}

let shipped: Reader | undefined;

/** With the weights that are committed. */
export function shippedReader(): Reader {
  shipped ??= readerOf(WEIGHTS);
  return shipped;
}

function keptOf(read: readonly Read[], bars: Bars, surenessOf: (features: Features) => number): Kept {
  const sure: Read[] = [];
  const hints: Read[] = [];
  for (const whole of read) {
    if (whole.question) continue;
    const last = sure.at(-1);
    const longer = last === undefined ? undefined : goesOn(last, whole);
    if (longer !== undefined) {
      sure[sure.length - 1] = longer;
      continue;
    }
    const piece = withoutTask(whole, surenessOf);
    const own = bars[whole.kind];
    const bar = whole.sureness >= own ? own : Math.max(own, BAR_OF_PIECES);
    if (!isMeant(piece.text) || !standsAlone(piece.text) || isMostlyMachine(piece.text)) continue;
    if (isOfTheMoment(piece.text)) continue;
    if (piece.sureness >= bar) sure.push(piece);
    else if (piece.sureness >= BAR_OF_HINTS) hints.push(piece);
  }
  return { sure, hints };
}

/** Of what is left of a sentence that would not be kept with its task. */
const BAR_OF_PIECES = 0.85;

/** With this a sentence speaks of what the sentence before was about, or goes on with it. */
const GOES_ON =
  /^(?:it|it's|its|he|he's|she|she's|they|they're|that's|thats|no|not|never|only|ours|otherwise|because|er|sie|es|sonst|weil)(?![\p{L}'])/iu;
/** What goes on with something kept needs less to be kept with it. */
const BAR_OF_MORE = 0.3;
const LONGEST = 400;

/** Both sentences as one, if the second is not understood without the first. */
function goesOn(kept: Read, next: Read): Read | undefined {
  const { text, gap = "" } = next;
  if (gap === "" || kept.at + kept.text.length + gap.length !== next.at || next.sureness < BAR_OF_MORE)
    return undefined;
  if (!GOES_ON.test(text) || !isMeant(text) || isMostlyMachine(text) || isOfTheMoment(text)) return undefined;
  const both = `${kept.text}${gap}${text}`;
  return both.length > LONGEST ? undefined : { ...kept, text: both };
}
