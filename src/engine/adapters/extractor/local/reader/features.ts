/**
 * A sentence as numbers: its words and pairs of words, the shapes of its words, its marks and their pairs, and the marks of its neighbours.
 * Each has a place in one long list, found by a hash.
 */
import { marksOf } from "./marks.ts";
import type { Said } from "./split.ts";
import { shapeOf, wordsOf } from "./words.ts";

export const PLACES = 1 << 15;

export interface Features {
  readonly places: Int32Array;
  readonly values: Float64Array;
}

/** What each group counts beside the others: the values of a group are scaled to this length. */
export const LENGTHS = { words: 3, shapes: 2, neighbours: 1 } as const;
/** Marks are counted one by one. */
const MARK = 1;
const PAIR = 0.5;

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
    addGroup(values, wordNames(own.words), LENGTHS.words);
    addGroup(values, shapeNames(own), LENGTHS.shapes);
    addGroup(values, [...around("before", parts[at - 1]), ...around("after", parts[at + 1])], LENGTHS.neighbours);
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

function around(side: string, parts: Parts | undefined): string[] {
  if (parts === undefined) return [`${side} nothing`];
  return [...parts.marks.map((mark) => `${side} ${mark}`), `${side} first ${parts.words[0] ?? ""}`];
}
