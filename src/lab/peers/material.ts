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
  /** The file that the labelled questions are from. */
  readonly data: string | undefined;
}

const TURNS = 20;

export async function materialOf(n: number, queries: number, file: string | undefined): Promise<Material> {
  const p = picker(20_261_101);
  const invented = distinct(2 * queries, () => queryText(p));
  if (file === undefined) {
    const questions = invented.slice(0, queries).map((text) => ({ text, evidence: [] }));
    return { memories: talk(n), questions, at_once: invented.slice(queries), data: undefined };
  }
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
  // Every so-many-th, so that all corpora are asked about.
  const step = Math.max(1, asked.length / queries);
  const questions = Array.from({ length: Math.min(queries, asked.length) }, (_, i) => asked[Math.floor(i * step)]);
  return {
    memories,
    questions: questions.filter((question) => question !== undefined),
    at_once: invented.slice(queries),
    data: name,
  };
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
