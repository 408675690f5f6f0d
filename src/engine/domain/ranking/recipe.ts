/**
 * How relevance is made of its signals when late interaction is on. A value, so that a benchmark can switch each part off and
 * measure what it is worth. Each signal is scaled to 0..1 over the candidates of one question before it is weighed.
 *
 * The form is that of a recipe measured on LoCoMo, REALTALK, BEAM and SciFact without any language model. Weights for short
 * conversation turns were then learned (softmax over candidates), leaving one conversation out at a time, on LoCoMo's three
 * development conversations: 85.8 → 86.3 recall@10 on the one left out. What did not hold up on the long turns of BEAM
 * (58 instead of 62) was not taken over: there the hand-made weights stay.
 */
export interface Recipe {
  /** Late interaction: for each word of the question its best match among the memory's words, rare words counting more. */
  readonly tokens: number;
  /** BM25 over the memory and, more quietly, the turns around it; with `short` added for stores of short memories. */
  readonly keywords: { readonly always: number; readonly short: number };
  /** Cosine; with `long` added for stores of long memories. */
  readonly meaning: { readonly always: number; readonly long: number };
  /** The one person whom the question names said it. */
  readonly speaker: number;
  /** A person whom the question names takes part in the session: never a filter, wrong flags would cost too much. */
  readonly person: number;
  /** Taken off when it is itself a question of someone who has a name. Users of an assistant tell by asking. */
  readonly question: number;
  /** No signal of its own: what relevance is divided by is so much more than the weights sum to, which floors were chosen on. */
  readonly spare: number;
  /** What is added in a second round, among short memories only. */
  readonly second: SecondRound;
  /** What a neighbouring turn of the session counts, by its distance. */
  readonly around: {
    readonly keywords: Readonly<Record<number, number>>;
    readonly tokens: Readonly<Record<number, number>>;
    readonly meaning: Readonly<Record<number, number>>;
  };
  /**
   * Among more memories than this a question that names somebody who speaks takes further candidates of what they said, and fewer
   * of the rest. Within one conversation the plain lists are enough.
   */
  readonly theirsAbove: number;
  /** A memory of more word pieces than this speaks for itself: it is not helped by its neighbours. */
  readonly longPieces: number;
  /** Mean tokens of the candidates at which a store counts as one of short, or of long memories. */
  readonly shortAt: number;
  readonly longAt: number;
}

/**
 * Weights of what is looked at when the first round is over (second-round.ts). All of them fade as memories get longer: on the
 * long turns of BEAM each cost up to 4 points. Any of them a third higher or lower changed LoCoMo by less than half a point.
 */
export interface SecondRound {
  /** It follows a question that is itself relevant; not when a time is asked for: news is told unasked. */
  readonly answer: number;
  /** Somebody with a name tells of themselves. */
  readonly self: number;
  /** Somebody with a name tells when something was; with `asked` added when the question asks for a time. */
  readonly time: { readonly always: number; readonly asked: number };
  /** The best of its session is relevant; not when a list is asked for: what is spread over sessions must not be drawn into one. */
  readonly session: number;
  /** It was said at a date that the question names, or in the week after. */
  readonly date: number;
}

export const RECIPE: Recipe = {
  tokens: 1,
  keywords: { always: 0.25, short: 0.25 },
  meaning: { always: 0.3, long: 0.7 },
  speaker: 0.2,
  person: 0.3,
  question: 0.1,
  spare: 0.1,
  second: { answer: 0.3, self: 0.2, time: { always: 0.1, asked: 0.1 }, session: 0.75, date: 0.5 },
  around: {
    keywords: { [-3]: 0.216, [-2]: 0.36, [-1]: 0.6, 1: 0.4, 2: 0.16 },
    tokens: { [-2]: 0.64, [-1]: 0.8, 1: 0.6 },
    meaning: { [-1]: 0.3, 1: 0.2 },
  },
  theirsAbove: 1500,
  longPieces: 200,
  shortAt: 20,
  longAt: 60,
};

/** Without token bits the words carry the score, and meaning half of it. */
export const withoutTokens = (recipe: Recipe): Recipe => ({
  ...recipe,
  tokens: 0,
  keywords: { always: 1, short: 0 },
  meaning: { always: 0.5, long: 0 },
});

/** How far from a candidate the recipe looks, before and after it in its session. */
export function reach({ around }: Recipe): { before: number; after: number } {
  const offsets = Object.values(around).flatMap((gains) => Object.keys(gains).map(Number));
  return { before: Math.max(0, ...offsets.map((o) => -o)), after: Math.max(0, ...offsets) };
}

/**
 * How deep each arm goes. On LoCoMo and BEAM 40 candidates an arm gave what 100 gave, alone and among 8,000 memories (85.6
 * and 85.8 recall@10); a larger store has more that looks alike.
 */
export const rerankArm = (memories: number): number => (memories <= 20_000 ? 40 : memories <= 200_000 ? 60 : 80);

/**
 * How an arm of this depth is filled when a list of what somebody said whom the question names goes with it. Of both lists at full
 * depth a search took 1.5 times as long as without; with these 1.07 times, and recall@10 on LoCoMo among 12,000 memories is 87.9
 * instead of 88.1.
 */
export const withTheirs = (depth: number): { all: number; theirs: number } => ({
  all: Math.ceil(depth / 4),
  theirs: Math.ceil((3 * depth) / 4),
});

/**
 * The turns around the best few of each arm are candidates too, and are seen with all their neighbours; the others with their
 * nearest. Without these candidates recall@10 fell by four points; with those of the best 20 it did not rise.
 */
export const RERANK_AROUND = { best: 8, offsets: [-1, 1, 2], others: { before: 1, after: 1 } } as const;
