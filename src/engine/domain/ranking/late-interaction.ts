/** Relevance from what is stored with each memory and with the turns around it. Pure: rows in, signals out. */
import { type EvidenceTable, tableOf } from "./evidence-table.ts";
import type { QueryToken } from "./max-sim.ts";
import {
  KEYWORDS,
  MEANING,
  PERSON,
  QUESTION,
  RELEVANCE,
  type Reading,
  ReadingView,
  SECOND,
  SPEAKER,
  TOKENS,
  WIDTH,
} from "./reading.ts";
import { type Recipe, withoutTokens } from "./recipe.ts";
import { type Candidate, type Said, SECOND_SIGNALS, type SecondNumbers, secondRound } from "./second-round.ts";
import type { Told } from "./told-times.ts";

/** What the indexes hold of a memory: a candidate, or one that only stands beside a candidate in its session. */
export interface MemoryEvidence {
  readonly id: string;
  /** Its session and its position there; undefined for facts, rules and episodes that stand alone. */
  readonly session: string | undefined;
  readonly ordinal: number;
  readonly speaker: string | undefined;
  /** The first name of who said it, if it is a name. */
  readonly name: string | undefined;
  /** It ends with a question mark. */
  readonly asks: boolean;
  /** Somebody whom the question names takes part in its session. */
  readonly withNamed: boolean;
  /** Its words: number of lexemes and forward row. */
  readonly len: number;
  readonly words: Uint8Array;
  readonly cosine: number | undefined;
  readonly pieces: number;
  readonly tokens: Uint8Array | undefined;
  /** What can be seen in its words, where that is known already; else they are read. */
  readonly told?: (() => Told) | undefined;
}

export interface Question {
  readonly text: string;
  readonly terms: readonly { readonly hash: number; readonly count: number; readonly idf: number }[];
  readonly avgdl: number;
  /** Empty when there is no model, or none that gives tokens. */
  readonly tokens: readonly QueryToken[];
  readonly hasVector: boolean;
  /** First names in it that belong to somebody who speaks in the store. */
  readonly names: readonly string[];
}

/** One reading for each candidate, in their order; undefined for one of which there is no evidence. */
export function read(
  question: Question,
  candidates: readonly Said[],
  evidence: readonly MemoryEvidence[],
  recipe: Recipe,
): (Reading | undefined)[] {
  const used = question.tokens.length === 0 ? withoutTokens(recipe) : recipe;
  const [theirs, ...others] = question.names;
  const named = others.length === 0 ? theirs : undefined;
  const table = tableOf(question, used, evidence);
  const places = candidates.map(({ id }) => table.placeOf(id) ?? NOWHERE);
  const items = places.flatMap((place) => (place === NOWHERE ? [] : (table.items[place] as MemoryEvidence)));
  const numbers = new Float64Array(items.length * WIDTH);
  let at = 0;
  for (const place of places) {
    if (place === NOWHERE) continue;
    rawSignals(question, table, named, place, numbers, at);
    at += WIDTH;
  }
  const weights = weigh(items, used, question);
  for (const signal of [TOKENS, KEYWORDS, MEANING]) scale(numbers, signal);
  const first: First[] = [];
  for (let i = 0; i < candidates.length; i++)
    if (places[i] !== NOWHERE) {
      const n = first.length;
      first.push(firstRound(candidates[i] as Said, items[n] as MemoryEvidence, numbers, n * WIDTH, weights, used));
    }
  const second = secondRound(question, first, used.second, weights.short);
  const weighed = { ...weightsOf(weights, used), ...second.weights };
  const sums = new Float64Array(first.length);
  for (let n = 0; n < first.length; n++) {
    const more = second.of(first[n] as First);
    for (let i = 0; i < SECOND_SIGNALS.length; i++)
      numbers[n * WIDTH + SECOND + i] = more[SECOND_SIGNALS[i] as keyof SecondNumbers];
    sums[n] = (first[n] as First).sum + sumOf(more, second.weights);
  }
  const most = highest(weights.most + second.weights.session, sums);
  for (let n = 0; n < first.length; n++) numbers[n * WIDTH + RELEVANCE] = clamp((sums[n] as number) / most);
  let next = 0;
  return places.map((place) => (place === NOWHERE ? undefined : new ReadingView(numbers, WIDTH * next++, weighed)));
}

const NOWHERE = -1;

/** A candidate after the first round. */
interface First extends Candidate {
  readonly sum: number;
}

function firstRound(
  said: Said,
  item: MemoryEvidence,
  numbers: Float64Array,
  at: number,
  weights: Weights,
  recipe: Recipe,
): First {
  let sum = 0;
  sum += (numbers[at + TOKENS + 1] as number) * weights.tokens;
  sum += (numbers[at + KEYWORDS + 1] as number) * weights.keywords;
  sum += (numbers[at + MEANING + 1] as number) * weights.meaning;
  sum += (numbers[at + SPEAKER] as number) * recipe.speaker;
  sum += (numbers[at + PERSON] as number) * recipe.person;
  sum += (numbers[at + QUESTION] as number) * -recipe.question;
  const { session, ordinal } = item;
  return {
    said,
    sum,
    session: item.pieces > recipe.longPieces ? undefined : session,
    ordinal,
    named: session !== undefined && item.name !== undefined,
    told: item.told,
    relevance: clamp(sum / weights.most),
  };
}

const weightsOf = ({ tokens, keywords, meaning }: Weights, { speaker, person, question }: Recipe) => ({
  tokens,
  keywords,
  meaning,
  speaker,
  person,
  question: -question,
});

function sumOf(raw: SecondNumbers, weights: SecondNumbers): number {
  let sum = 0;
  for (const name of SECOND_SIGNALS) sum += raw[name] * weights[name];
  return sum;
}

const clamp = (x: number): number => Math.min(1, Math.max(0, x));

/**
 * What a sum is divided by. Floors, the band of near equals and the weights of the composite score were chosen when there was
 * no second round. A memory that gains nothing there but its own session keeps that relevance exactly; the rare one that would
 * exceed 1 becomes 1, and all others are smaller in proportion: cutting it off would make equals of the best.
 */
const highest = (usual: number, sums: Float64Array): number => sums.reduce((most, sum) => Math.max(most, sum), usual);

/** `named`: the first name in the question, when it is the only one. */
function rawSignals(
  question: Question,
  table: EvidenceTable,
  named: string | undefined,
  place: number,
  numbers: Float64Array,
  at: number,
): void {
  const { name, withNamed, asks } = table.items[place] as MemoryEvidence;
  table.standAt(place);
  numbers[at + TOKENS] = question.tokens.length === 0 ? 0 : table.tokenScore();
  numbers[at + KEYWORDS] = table.keywordScore();
  numbers[at + MEANING] = question.hasVector ? table.meaningScore() : 0;
  numbers[at + SPEAKER] = named !== undefined && name === named ? 1 : 0;
  numbers[at + PERSON] = withNamed ? 1 : 0;
  numbers[at + QUESTION] = asks && name !== undefined ? 1 : 0;
}

type Weights = Readonly<Record<"tokens" | "keywords" | "meaning" | "most" | "short", number>>;

function weigh(items: readonly MemoryEvidence[], recipe: Recipe, { hasVector, tokens }: Question): Weights {
  // Without tokens of the question a memory is as long as it has words: nearly the same number.
  const size = tokens[0]?.bits.length;
  let kept = 0;
  for (const item of items) kept += size === undefined ? item.len : (item.tokens?.length ?? 0) / size;
  const mean = kept / Math.max(1, items.length);
  const short = 1 - clamp((mean - recipe.shortAt) / (recipe.longAt - recipe.shortAt));
  const keywords = recipe.keywords.always + recipe.keywords.short * short;
  const meaning = hasVector ? recipe.meaning.always + recipe.meaning.long * (1 - short) : 0;
  const most = recipe.tokens + keywords + meaning + recipe.speaker + recipe.person + recipe.spare;
  return { tokens: recipe.tokens, keywords, meaning, most: most || 1, short };
}

/** Candidates that do not differ in a signal are all as good as it gets, unless there is nothing of it. */
function scale(numbers: Float64Array, signal: number): void {
  let low = Infinity;
  let high = -Infinity;
  for (let at = signal; at < numbers.length; at += WIDTH) {
    low = Math.min(low, numbers[at] as number);
    high = Math.max(high, numbers[at] as number);
  }
  const width = high - low;
  for (let at = signal; at < numbers.length; at += WIDTH) {
    const raw = numbers[at] as number;
    numbers[at + 1] = width > 0 ? (raw - low) / width : raw > 0 ? 1 : 0;
  }
}
