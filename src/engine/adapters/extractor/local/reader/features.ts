/**
 * A sentence as numbers: its words, their pairs, endings and shapes, its marks and their pairs, and what stands around it in the message.
 * Each has a place in one long list, found by a hash. The list is long so that a word that was never trained with seldom meets the place
 * of another: with 32,768 places the collisions cost 0.012 of the area under the curve.
 */
import { marksOf } from "./marks.ts";
import type { Said } from "./split.ts";
import { shapeOf, wordsOf } from "./words.ts";

export const PLACES = 1 << 22;

export interface Features {
  readonly places: Int32Array;
  readonly values: Float64Array;
}

/** What each group counts beside the others: the values of a group are scaled to this length. */
const LENGTHS = { words: 3, shapes: 2, rest: 1 } as const;
/** Marks are counted one by one. */
const MARK = 1;
const PAIR = 0.5;
/** Sentences before and after, of which the words count. */
const AROUND = 3;

function placeOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 13), 0x5bd1e995);
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}

interface Parts {
  readonly said: Said;
  readonly words: readonly string[];
  readonly shapes: readonly string[];
  readonly marks: readonly string[];
}

function partsOf(said: Said): Parts {
  const raw = wordsOf(said.text);
  const words = raw.map((word) => (/^\d/.test(word) ? "#" : word.toLowerCase()));
  const marks = marksOf(said.text, words);
  return { said, words, shapes: raw.map(shapeOf), marks: said.question ? [...marks, "?"] : marks };
}

/** Of every sentence of one message. */
export function featuresOf(message: readonly Said[]): Features[] {
  const parts = message.map(partsOf);
  const length = parts.reduce((sum, { words }) => sum + words.length, 0);
  return parts.map((own, at) => {
    const values = new Map<number, number>();
    const others = [...parts.slice(Math.max(0, at - AROUND), at), ...parts.slice(at + 1, at + 1 + AROUND)];
    addGroup(values, wordNames(own.words), LENGTHS.words);
    addGroup(values, shapeNames(own), LENGTHS.shapes);
    addGroup(values, [...beside("before", parts[at - 1]), ...beside("after", parts[at + 1])], LENGTHS.rest);
    addGroup(values, endingNames(own.words), LENGTHS.rest);
    addGroup(values, markedNames(own), LENGTHS.rest);
    addGroup(values, positionNames(at, parts.length), LENGTHS.rest);
    addGroup(values, [...new Set(others.flatMap(({ marks }) => marks.map((mark) => `near ${mark}`)))], LENGTHS.rest);
    addGroup(
      values,
      others.flatMap(({ words }) => words.map((word) => `around ${word}`)),
      LENGTHS.rest,
    );
    addMarks(values, own.marks);
    add(values, "words here", Math.min(1, own.words.length / 30));
    add(values, "words in all", Math.min(1, length / 80));
    if (own.words.length <= 4) add(values, "short", 1);
    return { places: Int32Array.from(values.keys()), values: Float64Array.from(values.values()) };
  });
}

function add(values: Map<number, number>, name: string, value: number): void {
  const place = placeOf(name);
  values.set(place, (values.get(place) ?? 0) + value);
}

function addGroup(values: Map<number, number>, names: readonly string[], length: number): void {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  let squares = 0;
  for (const count of counts.values()) squares += count * count;
  for (const [name, count] of counts) add(values, name, (length * count) / Math.sqrt(squares));
}

function addMarks(values: Map<number, number>, marks: readonly string[]): void {
  for (const [at, mark] of marks.entries()) {
    add(values, `mark ${mark}`, MARK);
    for (const other of marks.slice(at + 1)) add(values, `marks ${mark} ${other}`, PAIR);
  }
}

function wordNames(words: readonly string[]): string[] {
  const names = words.flatMap((word, at) => {
    const next = words[at + 1];
    return next === undefined ? [`word ${word}`] : [`word ${word}`, `pair ${word} ${next}`];
  });
  const [first, second = ""] = words;
  return first === undefined ? names : [...names, `first ${first}`, `first ${first} ${second}`, `last ${words.at(-1)}`];
}

/** Of words that are not all ending. */
const endingNames = (words: readonly string[]): string[] =>
  words.flatMap((word) =>
    [2, 3, 4].filter((length) => word.length > length + 1).map((length) => `ending ${word.slice(-length)}`),
  );

/** A word means something else beside one of these. */
const DECISIVE = new Set(["we", "i", "general", "now", "not", "if", "task", "past", "perhaps"]);

function markedNames({ words, marks }: Parts): string[] {
  const decisive = marks.filter((mark) => DECISIVE.has(mark));
  return [...new Set(words)].flatMap((word) => decisive.map((mark) => `${mark} with ${word}`));
}

const positionNames = (at: number, of: number): string[] => [
  `at ${Math.min(at, 4)}`,
  `left ${Math.min(of - 1 - at, 4)}`,
  `of ${Math.min(of, 6)}`,
];

function shapeNames({ shapes, said }: Parts): string[] {
  const line = ["^", ...shapes, said.question ? "?" : "$"];
  const names = line.flatMap((shape, at) => {
    const [next, over] = [line[at + 1], line[at + 2]];
    if (next === undefined) return [];
    const pair = `shapes ${shape} ${next}`;
    return over === undefined ? [pair] : [pair, `shapes ${shape} ${next} ${over}`, `shapes ${shape} _ ${over}`];
  });
  return [...names, `opening ${line.slice(0, 4).join(" ")}`];
}

function beside(side: string, parts: Parts | undefined): string[] {
  if (parts === undefined) return [`${side} nothing`];
  return [...parts.marks.map((mark) => `${side} ${mark}`), `${side} first ${parts.words[0] ?? ""}`];
}
