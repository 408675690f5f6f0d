/** What people do with what was learned moves the bars of the reader: a house in which rules are forgotten again keeps fewer of them. */
import { BAR, type Bars, KINDS, type Kind } from "./kinds.ts";

/** What was done last to a memory that the reader learned, with a tool and not by a job. */
export type Judgement = keyof typeof WEIGHTS;

interface Weight {
  readonly wanted: number;
  readonly unwanted: number;
}

export const WEIGHTS = {
  /** Somebody looked at it and took it out. */
  forgotten: { wanted: 0, unwanted: 1 },
  /** Following it did harm. */
  harmful: { wanted: 0, unwanted: 1 },
  /** The matter was worth keeping; its words were not right, or are overtaken by now. */
  edited: { wanted: 0, unwanted: 0.5 },
  /** Somebody looked at it and said that it holds. */
  confirmed: { wanted: 1, unwanted: 0 },
  /** It was missed after it had been forgotten or had expired. */
  restored: { wanted: 1, unwanted: 0 },
  /** Agents give this mark freely, and many times to one rule. */
  helpful: { wanted: 0.5, unwanted: 0 },
} as const satisfies Record<string, Weight>;

/** The events that are judgements. A memory is one example, by the last of its events: a forgetting that was taken back counts no more. */
export const JUDGED_BY: Readonly<Record<string, Judgement>> = {
  "fact.forgotten": "forgotten",
  "rule.forgotten": "forgotten",
  "rule.marked_harmful": "harmful",
  "fact.superseded": "edited",
  "fact.confirmed": "confirmed",
  "rule.confirmed": "confirmed",
  "fact.restored": "restored",
  "rule.restored": "restored",
  "rule.marked_helpful": "helpful",
};

/** From the shipped bar. A bar that is too high learns nothing and so gets no examples to come down by: 0.2 above 0.7 still keeps the surest. */
const MOST_UP = 0.2;
/** Junk is worse than a miss. */
const MOST_DOWN = 0.1;
/** With so many examples of one mind, half of the way is gone; the first one moves a sixth. */
const HALFWAY = 5;

export interface Example {
  readonly kind: Kind;
  readonly judgement: Judgement;
}

export interface AdaptedBar extends Weight {
  readonly shipped: number;
  /** In force. */
  readonly bar: number;
  readonly examples: number;
}

/** From -1 to 1: which way the examples point, less so the fewer they are. */
const leaning = ({ wanted, unwanted }: Weight): number => (unwanted - wanted) / (unwanted + wanted + HALFWAY);

/** Rises with what was not wanted and falls with what was, by at most `MOST_UP` and `MOST_DOWN`. */
export function adaptedBar(shipped: number, weight: Weight): number {
  const leans = leaning(weight);
  return Math.round(1_000 * (shipped + leans * (leans > 0 ? MOST_UP : MOST_DOWN))) / 1_000;
}

export function adaptBars(examples: readonly Example[]): Readonly<Record<Kind, AdaptedBar>> {
  const of = (kind: Kind): AdaptedBar => {
    const weights = examples.filter((example) => example.kind === kind).map(({ judgement }) => WEIGHTS[judgement]);
    const total = { wanted: sum(weights.map(({ wanted }) => wanted)), unwanted: sum(weights.map((w) => w.unwanted)) };
    return { ...total, shipped: BAR[kind], bar: adaptedBar(BAR[kind], total), examples: weights.length };
  };
  return Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as Record<Kind, AdaptedBar>;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

export const barsInForce = (adapted: Readonly<Record<Kind, AdaptedBar>>): Bars =>
  Object.fromEntries(KINDS.map((kind) => [kind, adapted[kind].bar])) as Record<Kind, number>;
