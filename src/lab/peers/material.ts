/** What all peers are given: the same memories and the same questions, in the same order. */
import { readFile } from "node:fs/promises";
import { readData } from "../quality/data.ts";
import { distinct, episodeText, picker, queryText } from "../sentences.ts";
import { PEOPLE } from "../vocabulary.ts";
import { type PeerMemory, spoken } from "./peer.ts";

export interface PeerQuestion {
  readonly text: string;
  /** Keys of the memories that answer it; empty where nobody knows. */
  readonly evidence: readonly string[];
}

export interface Material {
  readonly memories: readonly PeerMemory[];
  readonly questions: readonly PeerQuestion[];
  /** Asked eight at once; none of them was asked before, because embedders remember. */
  readonly at_once: readonly string[];
  /** For the model alone: of the same sort and length as the questions, and none of them. */
  readonly alone: readonly string[];
  /** The file that the labelled questions are from. */
  readonly data: string | undefined;
}

const TURNS = 20;

export async function materialOf(n: number, queries: number, file: string | undefined): Promise<Material> {
  const p = picker(20_261_101);
  const invented = distinct(3 * queries, () => queryText(p));
  const [first, at_once, alone] = [0, 1, 2].map((part) => invented.slice(part * queries, (part + 1) * queries)) as [
    string[],
    string[],
    string[],
  ];
  if (file === undefined)
    return {
      memories: talk(n),
      questions: first.map((text) => ({ text, evidence: [] })),
      at_once,
      alone,
      data: undefined,
    };
  const { corpora, name } = readData(await readFile(file, "utf8"), file);
  const keyIn = (corpus: string, id: string) => `${corpus}/${id}`;
  const told = corpora.flatMap(({ id: corpus, memories }) =>
    memories.map(({ id, text, session, speaker, time }) => ({
      key: keyIn(corpus, id),
      text,
      session: session === undefined ? undefined : keyIn(corpus, session),
      speaker,
      time,
    })),
  );
  const { memories, keyOf } = withoutTwins([...told, ...talk(Math.max(0, n - told.length))]);
  const asked = corpora.flatMap(({ id: corpus, questions }) =>
    questions.map(({ question, evidence }) => ({
      text: question,
      evidence: [...new Set(evidence.map((id) => keyOf(keyIn(corpus, id))))],
    })),
  );
  const { questions, others } = chosen(asked, queries);
  return { memories, questions, at_once, alone: [...others, ...alone].slice(0, queries), data: name };
}

/**
 * Every so-many-th question, so that all corpora are asked about; in an order in which a part of them asks about all corpora too, for a peer whose time
 * is over before the last. The others are what the model alone is asked.
 */
function chosen(asked: readonly PeerQuestion[], queries: number): { questions: PeerQuestion[]; others: string[] } {
  const step = Math.max(1, asked.length / queries);
  const taken = new Set(Array.from({ length: Math.min(queries, asked.length) }, (_, i) => Math.floor(i * step)));
  const questions = asked.filter((_, index) => taken.has(index));
  const texts = new Set(questions.map(({ text }) => text));
  const others = asked.filter(({ text }, index) => !taken.has(index) && !texts.has(text)).map(({ text }) => text);
  return { questions: shuffled(questions), others: shuffled([...new Set(others)]) };
}

function shuffled<T>(list: readonly T[]): T[] {
  const p = picker(20_261_102);
  return list
    .map((value) => ({ value, at: p.number(1_000_000) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** Two turns with the same words are one memory to some peers and two to others: all are given the first one only. */
export function withoutTwins(all: readonly PeerMemory[]): {
  memories: PeerMemory[];
  keyOf: (key: string) => string;
} {
  const first = new Map<string, PeerMemory>();
  const keys = new Map<string, string>();
  for (const memory of all) {
    const text = spoken(memory);
    if (!first.has(text)) first.set(text, memory);
    keys.set(memory.key, first.get(text)?.key ?? memory.key);
  }
  return { memories: [...first.values()], keyOf: (key) => keys.get(key) ?? key };
}

/** Conversations of two people, twenty turns each. */
function talk(count: number): PeerMemory[] {
  const p = picker(20_260_401);
  let pair = [p.of(PEOPLE), p.of(PEOPLE)];
  return distinct(count, () => episodeText(p)).map((text, index) => {
    if (index % TURNS === 0) pair = [p.of(PEOPLE), p.of(PEOPLE)];
    const speaker = pair[index % 2] ?? "Ada";
    return { key: `invented/${index}`, text, session: `invented/${Math.floor(index / TURNS)}`, speaker };
  });
}
