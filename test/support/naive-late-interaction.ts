/** Late interaction once more, slowly, from the words of the recipe: bits are counted one by one, neighbours looked up in a list. */
import { type MemoryEvidence, type Question, read } from "../../src/engine/domain/ranking/late-interaction.ts";
import { encodeForward, h40 } from "../../src/engine/domain/ranking/postings.ts";
import { RECIPE, type Recipe } from "../../src/engine/domain/ranking/recipe.ts";

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
}

export interface Asking {
  readonly terms: readonly { readonly word: string; readonly count: number; readonly idf: number }[];
  readonly avgdl: number;
  readonly tokens: readonly { readonly bits: readonly number[]; readonly weight: number }[];
  readonly hasVector: boolean;
  readonly names: readonly string[];
}

export const SIGNALS = ["tokens", "keywords", "meaning", "speaker", "person", "answer", "question"] as const;

const item = (told: Told): MemoryEvidence => {
  const { words, tokens, ...rest } = told;
  const { len, x } = encodeForward(words);
  return { ...rest, speaker: told.name, len, words: x, tokens: tokens && new Uint8Array(tokens.flat()) };
};
const question = ({ terms, tokens, ...rest }: Asking): Question => ({
  ...rest,
  terms: terms.map(({ word, count, idf }) => ({ hash: h40(word), count, idf })),
  tokens: tokens.map(({ bits, weight }) => ({ bits: new Uint8Array(bits), weight })),
});
export const reading = (asking: Asking, candidates: readonly string[], told: readonly Told[], recipe = RECIPE) =>
  read(question(asking), candidates, new Map(told.map((t) => [t.id, item(t)])), recipe);

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
        answer: Number(t.name !== undefined && at(t, -1)?.asks === true),
        question: Number(t.asks && t.name !== undefined),
      },
    ];
  });
  const kept = sum(raws.map(({ t }) => t.tokens?.length ?? 0)) / Math.max(1, raws.length);
  const long = Math.min(1, Math.max(0, (kept - recipe.shortAt) / (recipe.longAt - recipe.shortAt)));
  const weights = {
    tokens: noTokens ? 0 : recipe.tokens,
    keywords: noTokens ? 1 : recipe.keywords.always + recipe.keywords.short * (1 - long),
    meaning: !asking.hasVector ? 0 : noTokens ? 0.5 : recipe.meaning.always + recipe.meaning.long * long,
    speaker: recipe.speaker,
    person: recipe.person,
    answer: recipe.answer,
    question: -recipe.question,
  };
  const most = sum(Object.values(weights).filter((weight) => weight > 0));
  const scaled = (signal: (typeof SIGNALS)[number], raw: number): number => {
    if (!["tokens", "keywords", "meaning"].includes(signal)) return raw;
    const all = raws.map((other) => other[signal]);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return high > low ? (raw - low) / (high - low) : raw > 0 ? 1 : 0;
  };
  return raws.map(({ t, ...raw }) => {
    const signals = SIGNALS.map((name) => ({ name, raw: raw[name], scaled: scaled(name, raw[name]) }));
    const total = sum(signals.map(({ name, scaled }) => scaled * weights[name]));
    return { id: t.id, signals, weights, relevance: Math.min(1, Math.max(0, total / most)) };
  });
}
