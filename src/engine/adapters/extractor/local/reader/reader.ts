/**
 * Which sentences of a message are worth keeping, and of which kind they are: logistic regressions over words, shapes and marks, and a second
 * look at what they say. The weights come from the messages in `corpus/`; `butler bench learning --train` makes them.
 */

import { BAR, BAR_OF_HINTS, type Bars, KINDS, type Kind } from "../../../../domain/learning/kinds.ts";
import { isMostlyMachine } from "../../../../domain/text/pasted.ts";
import { isMeant } from "../clauses.ts";
import { withoutTask } from "./cut.ts";
import { featuresOf } from "./features.ts";
import { isOfOneThing, topicWords } from "./file.ts";
import { type Heads, inputsOf, type Look, lookWith } from "./looks.ts";
import { isOfTheMoment } from "./moment.ts";
import { outputOf, type PackedNet, unpackNet } from "./net.ts";
import { type Said, splitMessage } from "./split.ts";
import { WEIGHTS } from "./weights.ts";

export interface Read extends Said {
  /** How likely it is that a person would want it kept, from 0 to 1. */
  readonly sureness: number;
  readonly kind: Kind;
}

export interface Weights {
  readonly heads: Heads;
  readonly second: PackedNet;
}

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

export function readerOf({ heads, second }: Weights): Reader {
  const look = lookWith(heads);
  const net = unpackNet(second);
  const read = (sentences: readonly Said[]): Read[] => {
    const looks = featuresOf(sentences).map(look);
    const inputs = inputsOf(sentences, looks);
    return sentences.map((said, at) => {
      const [own, given] = [looks[at] as Look, inputs[at] as Float64Array];
      return { ...said, sureness: likelihood((own.keep + outputOf(net, given)) / 2), kind: kindOf(own) };
    });
  };
  const surenessOf = (said: Said): number => read([said])[0]?.sureness ?? 0;
  return {
    read: (message) => read(splitMessage(message)),
    kept: (sentences, bars = BAR) => keptOf(sentences, bars, surenessOf),
  };
}

function kindOf({ kinds }: Look): Kind {
  const most = Math.max(...kinds);
  return KINDS[kinds.indexOf(most)] ?? "fact";
}

let shipped: Reader | undefined;

/** With the weights that are committed. */
export function shippedReader(): Reader {
  shipped ??= readerOf(WEIGHTS);
  return shipped;
}

function keptOf(read: readonly Read[], bars: Bars, surenessOf: (said: Said) => number): Kept {
  const sure: Read[] = [];
  const hints: Read[] = [];
  for (const [nth, whole] of read.entries()) {
    if (whole.question) continue;
    const last = sure.at(-1);
    const longer = last === undefined ? undefined : goesOn(last, whole);
    if (longer !== undefined) {
      sure[sure.length - 1] = longer;
      continue;
    }
    const piece = withoutTask(whole, surenessOf);
    const own = bars[whole.kind];
    const topic = topicWords(piece.text);
    const bar = Math.max(own, whole.sureness >= own ? 0 : BAR_OF_PIECES, topic === 1 ? BAR_OF_ONE_WORD : 0);
    // "Actually, it's Lisbon" names what it corrects with no word.
    if (topic < (whole.kind === "correction" && OF_IT.test(piece.text) ? 2 : 1)) continue;
    if (!isLasting(piece.text)) continue;
    if (piece.sureness >= bar) {
      const told = withBeginning(read[nth - 1], piece, endOf(last));
      // What is told with it is no hint beside it.
      if (told.at < piece.at && (hints.at(-1)?.at ?? -1) >= told.at) hints.pop();
      sure.push(told);
    } else if (piece.sureness >= BAR_OF_HINTS) hints.push(piece);
  }
  return { sure, hints };
}

/** Of what is left of a sentence that would not be kept with its task. */
const BAR_OF_PIECES = 0.8;
/** Of a sentence with a single word that says what it is about ("I keep chickens"). */
const BAR_OF_ONE_WORD = 0.8;

/** A correction of something that only the words before it name; "it's Saskia with a k" corrects the name itself. */
const OF_IT =
  /^(?:\p{L}+,? )?(?:i meant?|it|its|it's|that|thats|that's|this|not|es|das|nicht)(?![\p{L}'])(?!.* (?:with|mit) )/iu;

/** With this a sentence speaks of what the sentence before was about, or goes on with it. */
const GOES_ON =
  /^(?:it|it's|its|he|he's|she|she's|they|they're|that's|thats|no|not|never|only|ours|otherwise|because|er|sie|es|sonst|weil)(?![\p{L}'])/iu;
/** What goes on with something kept needs less to be kept with it. */
const BAR_OF_MORE = 0.3;
/** Two sentences in a row that are both worth keeping are one thought: of 604 such pairs 511 were labelled as one part. */
const BAR_OF_BOTH = 0.5;
const LONGEST = 400;

/** Both sentences as one, if the second is not understood without the first or goes on with it. */
function goesOn(kept: Read, next: Read): Read | undefined {
  const { text, sureness } = next;
  if (sureness < BAR_OF_MORE) return undefined;
  if (!GOES_ON.test(text) && (sureness < BAR_OF_BOTH || isOfOneThing(text))) return undefined;
  const both = isLasting(text) ? joined(kept, next) : undefined;
  return both === undefined ? undefined : { ...kept, text: both };
}

/** Of the sentence before one that is kept; less, if the latter is not understood alone. */
const BAR_OF_BEGINNING = { any: 0.3, needed: 0.2 } as const;

/**
 * With the sentence before, of which the reader was less sure: "Rent is due on the 1st, reminder on the 4th. That's the drill." Of 49
 * such pairs, of authors whom the reader did not know, 35 were both worth keeping. `told`: up to where the message is told already.
 */
function withBeginning(before: Read | undefined, kept: Read, told: number): Read {
  if (before === undefined || before.at < told || before.question) return kept;
  if (!isLasting(before.text) || isOfOneThing(kept.text)) return kept;
  const { any, needed } = BAR_OF_BEGINNING;
  if (before.sureness < (GOES_ON.test(kept.text) ? needed : any)) return kept;
  const both = joined(before, kept);
  return both === undefined ? kept : { ...kept, text: both, at: before.at };
}

const endOf = (said: Said | undefined): number => (said === undefined ? 0 : said.at + said.text.length);

const isLasting = (text: string): boolean => isMeant(text) && !isMostlyMachine(text) && !isOfTheMoment(text);

/** Two sentences that stand side by side, with what stands between them. */
function joined(one: Read, next: Read): string | undefined {
  const { gap = "" } = next;
  if (gap === "" || one.at + one.text.length + gap.length !== next.at) return undefined;
  const both = `${one.text}${gap}${next.text}`;
  return both.length > LONGEST ? undefined : both;
}
