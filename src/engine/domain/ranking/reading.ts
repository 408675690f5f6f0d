/** What late interaction read of a candidate: its signals and what they come to. */
import { SECOND_SIGNALS } from "./second-round.ts";

export interface Signal {
  readonly raw: number;
  /** Scaled to 0..1 over the candidates. */
  readonly scaled: number;
  readonly weight: number;
}

const FIRST_SIGNALS = ["tokens", "keywords", "meaning", "speaker", "person", "question"] as const;
export const SIGNALS = [...FIRST_SIGNALS, ...SECOND_SIGNALS] as const;
export type SignalName = (typeof SIGNALS)[number];

export interface Reading extends Readonly<Record<SignalName, Signal>> {
  /** 0..1: the weighted sum over `highest`. */
  readonly relevance: number;
}

/** Where each signal of a candidate stands among its numbers: first what is scaled, raw and scaled, then what is as it is. */
export const TOKENS = 0;
export const KEYWORDS = 2;
export const MEANING = 4;
export const SPEAKER = 6;
export const PERSON = 7;
export const QUESTION = 8;
export const SECOND = 9;
export const RELEVANCE = SECOND + SECOND_SIGNALS.length;
export const WIDTH = RELEVANCE + 1;

type Weighed = Readonly<Record<SignalName, number>>;

/**
 * A view of the numbers of one candidate. Objects for each of its eleven signals, of which nearly all answers show none, were a fifth of what a
 * block left to the collector, and lived long enough to be taken for something that stays.
 */
export class ReadingView implements Reading {
  readonly numbers: Float64Array;
  readonly at: number;
  readonly weights: Weighed;

  constructor(numbers: Float64Array, at: number, weights: Weighed) {
    this.numbers = numbers;
    this.at = at;
    this.weights = weights;
  }

  get relevance(): number {
    return this.numbers[this.at + RELEVANCE] as number;
  }
  get tokens(): Signal {
    return this.scaled(TOKENS, this.weights.tokens);
  }
  get keywords(): Signal {
    return this.scaled(KEYWORDS, this.weights.keywords);
  }
  get meaning(): Signal {
    return this.scaled(MEANING, this.weights.meaning);
  }
  get speaker(): Signal {
    return this.plain(SPEAKER, this.weights.speaker);
  }
  get person(): Signal {
    return this.plain(PERSON, this.weights.person);
  }
  get question(): Signal {
    return this.plain(QUESTION, this.weights.question);
  }
  get answer(): Signal {
    return this.plain(SECOND, this.weights.answer);
  }
  get self(): Signal {
    return this.plain(SECOND + 1, this.weights.self);
  }
  get time(): Signal {
    return this.plain(SECOND + 2, this.weights.time);
  }
  get session(): Signal {
    return this.plain(SECOND + 3, this.weights.session);
  }
  get date(): Signal {
    return this.plain(SECOND + 4, this.weights.date);
  }

  private scaled(signal: number, weight: number): Signal {
    const at = this.at + signal;
    return { raw: this.numbers[at] as number, scaled: this.numbers[at + 1] as number, weight };
  }
  private plain(signal: number, weight: number): Signal {
    const raw = this.numbers[this.at + signal] as number;
    return { raw, scaled: raw, weight };
  }
}
