/** Relevance from what is stored with each memory and with the turns around it. Pure: rows in, signals out. */
import { type EvidenceTable, tableOf } from "./evidence-table.ts";
import type { QueryToken } from "./max-sim.ts";
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

export interface Signal {
  readonly raw: number;
  /** Scaled to 0..1 over the candidates. */
  readonly scaled: number;
  readonly weight: number;
}

const FIRST_SIGNALS = ["tokens", "keywords", "meaning", "speaker", "person", "question"] as const;
type FirstName = (typeof FIRST_SIGNALS)[number];
export const SIGNALS = [...FIRST_SIGNALS, ...SECOND_SIGNALS] as const;
export type SignalName = (typeof SIGNALS)[number];

export interface Reading extends Readonly<Record<SignalName, Signal>> {
  /** 0..1: the weighted sum over `highest`. */
  readonly relevance: number;
}

interface Raw extends Readonly<Record<FirstName, number>> {
  readonly said: Said;
  readonly item: MemoryEvidence;
}

export function read(
  question: Question,
  candidates: readonly Said[],
  evidence: ReadonlyMap<string, MemoryEvidence>,
  recipe: Recipe,
): Map<string, Reading> {
  const used = question.tokens.length === 0 ? withoutTokens(recipe) : recipe;
  const [theirs, ...others] = question.names;
  const reader = {
    question,
    table: tableOf(question, used, [...evidence.values()]),
    named: others.length === 0 ? theirs : undefined,
  };
  const raws: Raw[] = [];
  for (const said of candidates) {
    const at = reader.table.placeOf(said.id);
    if (at !== undefined) raws.push(rawSignals(reader, said, at));
  }
  const weights = weigh(raws, used, question);
  const scale = {
    tokens: scaler(raws, "tokens"),
    keywords: scaler(raws, "keywords"),
    meaning: scaler(raws, "meaning"),
  };
  const first = raws.map((raw) => firstRound(raw, scale, weights, used));
  const second = secondRound(question, first, used.second, weights.short);
  const sums = first.map((one) => {
    const more = second.of(one);
    return { one, more, sum: one.sum + sumOf(more, second.weights) };
  });
  const most = highest(weights.most + second.weights.session, sums);
  return new Map(
    sums.map(({ one, more, sum }) => [one.said.id, readingOf(one.signals, more, second.weights, clamp(sum / most))]),
  );
}

type Scale = Readonly<Record<"tokens" | "keywords" | "meaning", (raw: number) => number>>;

/** A candidate after the first round. */
interface First extends Candidate {
  readonly signals: Readonly<Record<FirstName, Signal>>;
  readonly sum: number;
}

function firstRound(raw: Raw, scale: Scale, weights: Weights, recipe: Recipe): First {
  const { said, item } = raw;
  const signals = {
    tokens: { raw: raw.tokens, scaled: scale.tokens(raw.tokens), weight: weights.tokens },
    keywords: { raw: raw.keywords, scaled: scale.keywords(raw.keywords), weight: weights.keywords },
    meaning: { raw: raw.meaning, scaled: scale.meaning(raw.meaning), weight: weights.meaning },
    speaker: flag(raw.speaker, recipe.speaker),
    person: flag(raw.person, recipe.person),
    question: flag(raw.question, -recipe.question),
  };
  let sum = 0;
  for (const name of FIRST_SIGNALS) sum += signals[name].scaled * signals[name].weight;
  const { session, ordinal } = item;
  return {
    said,
    signals,
    sum,
    turn: session === undefined || item.pieces > recipe.longPieces ? undefined : { session, ordinal },
    named: session !== undefined && item.name !== undefined,
    told: item.told,
    relevance: clamp(sum / weights.most),
  };
}

function sumOf(raw: SecondNumbers, weights: SecondNumbers): number {
  let sum = 0;
  for (const name of SECOND_SIGNALS) sum += raw[name] * weights[name];
  return sum;
}

/** Written out: objects put together by names took a twentieth of a search. */
const readingOf = (
  { tokens, keywords, meaning, speaker, person, question }: First["signals"],
  raw: SecondNumbers,
  weights: SecondNumbers,
  relevance: number,
): Reading => ({
  tokens,
  keywords,
  meaning,
  speaker,
  person,
  question,
  answer: flag(raw.answer, weights.answer),
  self: flag(raw.self, weights.self),
  time: flag(raw.time, weights.time),
  session: flag(raw.session, weights.session),
  date: flag(raw.date, weights.date),
  relevance,
});

const flag = (raw: number, weight: number): Signal => ({ raw, scaled: raw, weight });
const clamp = (x: number): number => Math.min(1, Math.max(0, x));

/**
 * What a sum is divided by. Floors, the band of near equals and the weights of the composite score were chosen when there was
 * no second round. A memory that gains nothing there but its own session keeps that relevance exactly; the rare one that would
 * exceed 1 becomes 1, and all others are smaller in proportion: cutting it off would make equals of the best.
 */
const highest = (usual: number, read: readonly { readonly sum: number }[]): number =>
  read.reduce((most, { sum }) => Math.max(most, sum), usual);

interface Reader {
  readonly question: Question;
  readonly table: EvidenceTable;
  /** The first name in the question, when it is the only one. */
  readonly named: string | undefined;
}

function rawSignals({ question, table, named }: Reader, said: Said, at: number): Raw {
  const w = table.items[at] as MemoryEvidence;
  table.standAt(at);
  return {
    said,
    item: w,
    tokens: question.tokens.length === 0 ? 0 : table.tokenScore(),
    keywords: table.keywordScore(),
    meaning: question.hasVector ? table.meaningScore() : 0,
    speaker: named !== undefined && w.name === named ? 1 : 0,
    person: w.withNamed ? 1 : 0,
    question: w.asks && w.name !== undefined ? 1 : 0,
  };
}

type Weights = Readonly<Record<"tokens" | "keywords" | "meaning" | "most" | "short", number>>;

function weigh(raws: readonly Raw[], recipe: Recipe, { hasVector, tokens }: Question): Weights {
  // Without tokens of the question a memory is as long as it has words: nearly the same number.
  const size = tokens[0]?.bits.length;
  const kept = raws.map(({ item }) => (size === undefined ? item.len : (item.tokens?.length ?? 0) / size));
  const mean = kept.reduce((sum, count) => sum + count, 0) / Math.max(1, kept.length);
  const short = 1 - clamp((mean - recipe.shortAt) / (recipe.longAt - recipe.shortAt));
  const keywords = recipe.keywords.always + recipe.keywords.short * short;
  const meaning = hasVector ? recipe.meaning.always + recipe.meaning.long * (1 - short) : 0;
  const most = recipe.tokens + keywords + meaning + recipe.speaker + recipe.person + recipe.spare;
  return { tokens: recipe.tokens, keywords, meaning, most: most || 1, short };
}

/** Candidates that do not differ in a signal are all as good as it gets, unless there is nothing of it. */
function scaler(raws: readonly Raw[], signal: "tokens" | "keywords" | "meaning"): (raw: number) => number {
  let low = Infinity;
  let high = -Infinity;
  for (const raw of raws) {
    low = Math.min(low, raw[signal]);
    high = Math.max(high, raw[signal]);
  }
  const width = high - low;
  return (raw) => (width > 0 ? (raw - low) / width : raw > 0 ? 1 : 0);
}
