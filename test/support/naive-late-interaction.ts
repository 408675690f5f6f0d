/** Late interaction once more, slowly, from the words of the recipe: bits are counted one by one, neighbours looked up in a list. */
import { type MemoryEvidence, type Question, read } from "../../src/engine/domain/ranking/late-interaction.ts";
import {
  SIGNALS as ALL_SIGNALS,
  type Reading,
  type Signal,
  type SignalName,
} from "../../src/engine/domain/ranking/reading.ts";
import { RECIPE, type Recipe } from "../../src/engine/domain/ranking/recipe.ts";
import { encodeForward, h40 } from "../../src/engine/domain/ranking/words/postings.ts";

/** A turn as a person would write it down; the reader sees its encoded form. */
export interface Told {
  readonly id: string;
  readonly session: string | undefined;
  readonly ordinal: number;
  readonly name: string | undefined;
  readonly asks: boolean;
  readonly withNamed: boolean;
  readonly words: readonly string[];
  readonly cosine: number | undefined;
  readonly pieces: number;
  readonly tokens: readonly (readonly number[])[] | undefined;
  readonly says: keyof typeof SAYINGS;
  /** The day of May 2023 on which it was said. */
  readonly day: number | undefined;
}

/** Texts, and what a person sees in them: words for oneself, out of three; a time; a question. */
export const SAYINGS = {
  nothing: { text: "The mill is old.", self: 0, time: 0, asks: false },
  news: { text: "Yesterday I took my tea to the river!", self: 2 / 3, time: 1, asks: false },
  question: { text: "And you? Tell us.", self: 1 / 3, time: 0, asks: true },
  much: { text: "I said we would bring our stones, me and my brother.", self: 1, time: 0, asks: false },
} as const;

/** Questions, and what a person sees in them. */
export const ASKED = {
  plain: { text: "Which stone did she paint?", when: false, list: false, dated: false },
  when: { text: "When did she paint the stone?", when: true, list: false, dated: false },
  list: { text: "What are the stones that she painted?", when: false, list: true, dated: false },
  dated: { text: "What did she paint on 8 May 2023?", when: false, list: false, dated: true },
} as const;

export interface Asking {
  readonly asks: keyof typeof ASKED;
  readonly terms: readonly { readonly word: string; readonly count: number; readonly idf: number }[];
  readonly avgdl: number;
  readonly tokens: readonly { readonly bits: readonly number[]; readonly weight: number }[];
  readonly hasVector: boolean;
  readonly names: readonly string[];
}

const FIRST = ["tokens", "keywords", "meaning", "speaker", "person", "question"] as const;
const SECOND = ["answer", "self", "time", "session", "date"] as const;
export const SIGNALS = [...FIRST, ...SECOND] as const;

const item = (told: Told): MemoryEvidence => {
  const { words, tokens, says: _, day: __, ...rest } = told;
  const { len, x } = encodeForward(words);
  return { ...rest, speaker: told.name, len, words: x, tokens: tokens && new Uint8Array(tokens.flat()) };
};
const question = ({ terms, tokens, asks, ...rest }: Asking): Question => ({
  ...rest,
  text: ASKED[asks].text,
  terms: terms.map(({ word, count, idf }) => ({ hash: h40(word), count, idf })),
  tokens: tokens.map(({ bits, weight }) => ({ bits: new Uint8Array(bits), weight })),
});
/** What was read of each, in plain objects that can be compared. */
export function reading(asking: Asking, candidates: readonly string[], told: readonly Told[], recipe = RECIPE) {
  const made = read(
    question(asking),
    candidates.map((id) => {
      const t = told.find((one) => one.id === id);
      return { id, text: SAYINGS[t?.says ?? "nothing"].text, at: t?.day === undefined ? null : dayOfMay(t.day) };
    }),
    told.map(item),
    recipe,
  );
  return new Map(made.flatMap((one, at) => (one === undefined ? [] : [[candidates[at] as string, plain(one)]])));
}
const plain = (made: Reading): Reading => ({
  ...(Object.fromEntries(ALL_SIGNALS.map((name) => [name, made[name]])) as Record<SignalName, Signal>),
  relevance: made.relevance,
});
const dayOfMay = (day: number): Date => new Date(Date.UTC(2023, 4, day, 12));

const likeness = (a: readonly number[], b: readonly number[]): number => {
  const differ = a.reduce(
    (sum, byte, at) => sum + (byte ^ (b[at] as number)).toString(2).replaceAll("0", "").length,
    0,
  );
  return Math.max(0, Math.sin((Math.PI / 2) * (1 - (2 * differ) / (a.length * 8))));
};
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

export function naiveReading(asking: Asking, candidates: readonly string[], told: readonly Told[], recipe: Recipe) {
  const noTokens = asking.tokens.length === 0;
  const at = (t: Told, offset: number): Told | undefined =>
    offset === 0
      ? t
      : t.session === undefined || t.pieces > recipe.longPieces
        ? undefined
        : told.find((other) => other.session === t.session && other.ordinal === t.ordinal + offset);
  const around = (t: Told, gains: Readonly<Record<number, number>>): [Told, number][] =>
    [[0, 1] as const, ...Object.entries(gains)].flatMap(([offset, gain]) => {
      const turn = at(t, Number(offset));
      return turn === undefined ? [] : [[turn, gain] as [Told, number]];
    });
  const raws = candidates.flatMap((id) => {
    const t = told.find((one) => one.id === id);
    if (t === undefined) return [];
    const keywords = sum(
      asking.terms.map(({ word, count, idf }) => {
        const tf = sum(
          around(t, recipe.around.keywords).map(
            ([turn, gain]) =>
              (gain * turn.words.filter((w) => w === word).length) /
              (1 - 0.75 + (0.75 * turn.words.length) / asking.avgdl),
          ),
        );
        return (count * idf * tf * 2.2) / (tf + 1.2);
      }),
    );
    const matched = asking.tokens.map(
      ({ bits, weight }) =>
        weight *
        Math.max(
          0,
          ...around(t, recipe.around.tokens).map(
            ([turn, gain]) => gain * Math.max(0, ...(turn.tokens ?? []).map((x) => likeness(bits, x))),
          ),
        ),
    );
    const meaning = sum(around(t, recipe.around.meaning).map(([turn, gain]) => gain * (turn.cosine ?? 0)));
    return [
      {
        t,
        tokens: noTokens ? 0 : sum(matched) / sum(asking.tokens.map(({ weight }) => weight)),
        keywords,
        meaning: asking.hasVector ? meaning : 0,
        speaker: Number(asking.names.length === 1 && t.name === asking.names[0]),
        person: Number(t.withNamed),
        question: Number(t.asks && t.name !== undefined),
      },
    ];
  });
  const lengthOf = (t: Told): number => (noTokens ? t.words.length : (t.tokens?.length ?? 0));
  const kept = sum(raws.map(({ t }) => lengthOf(t))) / Math.max(1, raws.length);
  const long = Math.min(1, Math.max(0, (kept - recipe.shortAt) / (recipe.longAt - recipe.shortAt)));
  const weights = {
    tokens: noTokens ? 0 : recipe.tokens,
    keywords: noTokens ? 1 : recipe.keywords.always + recipe.keywords.short * (1 - long),
    meaning: !asking.hasVector ? 0 : noTokens ? 0.5 : recipe.meaning.always + recipe.meaning.long * long,
    speaker: recipe.speaker,
    person: recipe.person,
    question: -recipe.question,
  };
  const most = sum(Object.values(weights).filter((weight) => weight > 0)) + recipe.spare;
  const scaled = (signal: (typeof FIRST)[number], raw: number): number => {
    if (!["tokens", "keywords", "meaning"].includes(signal)) return raw;
    const all = raws.map((other) => other[signal]);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return high > low ? (raw - low) / (high - low) : raw > 0 ? 1 : 0;
  };
  const first = raws.map(({ t, ...raw }) => {
    const signals = FIRST.map((name) => ({ name, raw: raw[name], scaled: scaled(name, raw[name]) }));
    const total = sum(signals.map(({ name, scaled }) => scaled * weights[name]));
    return { t, signals, total, relevance: Math.min(1, Math.max(0, total / most)) };
  });
  return secondNaively(asking, first, recipe.second, { weights, most, long, longPieces: recipe.longPieces });
}

interface First {
  readonly t: Told;
  readonly signals: readonly { name: string; raw: number; scaled: number }[];
  readonly total: number;
  readonly relevance: number;
}

function secondNaively(
  asking: Asking,
  first: readonly First[],
  recipe: Recipe["second"],
  {
    weights,
    most,
    long,
    longPieces,
  }: { weights: Record<(typeof FIRST)[number], number> } & Record<"most" | "long" | "longPieces", number>,
) {
  const { when, list, dated } = ASKED[asking.asks];
  const all = {
    ...weights,
    answer: when ? 0 : (1 - long) * recipe.answer,
    self: (1 - long) * recipe.self,
    time: (1 - long) * (recipe.time.always + (when ? recipe.time.asked : 0)),
    session: list ? 0 : (1 - long) * recipe.session,
    date: (1 - long) * recipe.date,
  };
  const inSession = ({ t }: First) => t.session !== undefined && t.pieces <= longPieces;
  const made = first.map((one) => {
    const { t } = one;
    const named = t.name !== undefined && t.session !== undefined;
    const mates = first.filter((other) => inSession(one) && inSession(other) && other.t.session === t.session);
    const before = mates.find((other) => other.t.ordinal === t.ordinal - 1);
    const raw = {
      answer: named && before && SAYINGS[before.t.says].asks ? before.relevance : 0,
      self: named ? SAYINGS[t.says].self : 0,
      time: named ? SAYINGS[t.says].time : 0,
      session: Math.max(one.relevance, ...mates.map((mate) => mate.relevance)),
      date: Number(dated && t.day !== undefined && t.day >= 8 && t.day <= 15),
    };
    // Among long memories nothing is looked at a second time.
    const more = SECOND.map((name) => ({ name, raw: long === 1 ? 0 : raw[name], scaled: long === 1 ? 0 : raw[name] }));
    const total = one.total + sum(more.map(({ name, scaled }) => scaled * all[name]));
    return {
      id: t.id,
      signals: [...one.signals, ...more] as { name: (typeof SIGNALS)[number]; raw: number; scaled: number }[],
      total,
    };
  });
  const top = Math.max(most + all.session, ...made.map(({ total }) => total));
  return made.map(({ id, signals, total }) => ({
    ...{ id, signals, weights: all },
    relevance: Math.min(1, Math.max(0, total / top)),
  }));
}
