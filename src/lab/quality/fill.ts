/** Stores the memories of a data set through `memory_ingest_batch`, unchanged, and records the id that each one got. */
import { maintain } from "../../engine/memory/keep/maintain.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import type { ToolInput } from "../../engine/tools/index.ts";
import { answerOf } from "../build.ts";
import { distinct, episodeText, picker } from "../sentences.ts";
import { PEOPLE } from "../vocabulary.ts";
import type { Corpus, DataMemory } from "./data.ts";

/** One corpus within a store. */
export interface Unit {
  /** Prefix of the corpus's ids, so that several corpora fit into one store. */
  readonly key: string;
  /** Prefix of the names of its sessions. */
  readonly sessions: string;
  readonly corpus: Corpus;
}

export interface Filled {
  /** From the id of a memory in the data (`idIn`) to the id of the stored one; two with the same text share one. */
  readonly stored: ReadonlyMap<string, string>;
  /** Why the tool refused the first row that it did not store, for example because it is too long. */
  readonly why: string | undefined;
}

export const idIn = (unit: Unit, id: string) => `${unit.key}\n${id}`;

interface Row {
  readonly key: string | undefined;
  readonly episode: ToolInput<"memory_ingest_batch">["episodes"][number];
}

const BATCH = 100;

export async function fill(
  memory: Memory,
  units: readonly Unit[],
  distractors: number,
  progress: (done: number, total: number) => void,
): Promise<Filled> {
  const rows = [...units.flatMap(rowsOf), ...invented(distractors)];
  const stored = new Map<string, string>();
  let why: string | undefined;
  for (let at = 0; at < rows.length; at += BATCH) {
    const batch = rows.slice(at, at + BATCH);
    const answer = await answerOf(memory, "memory_ingest_batch", { episodes: batch.map((row) => row.episode) });
    for (const [index, result] of answer.results.entries()) {
      const key = batch[index]?.key;
      if (!result.ok) why ??= result.error.message;
      else if (key !== undefined) stored.set(key, result.id);
    }
    progress(Math.min(rows.length, at + BATCH), rows.length);
  }
  await memory.afterwards.settled();
  await maintain(memory, { level: "full" });
  return { stored, why };
}

/** Refused rows that are evidence count as not found. */
export const refusedIn = ({ stored }: Filled, units: readonly Unit[]): number =>
  units.flatMap((unit) => unit.corpus.memories.filter(({ id }) => !stored.has(idIn(unit, id)))).length;

const rowsOf = (unit: Unit): Row[] =>
  unit.corpus.memories.map((memory) => ({ key: idIn(unit, memory.id), episode: episodeOf(unit, memory) }));

function episodeOf(unit: Unit, { text, session, speaker, time }: DataMemory): Row["episode"] {
  return {
    content: text,
    ...(session === undefined ? {} : { session_id: `${unit.sessions}/${session}` }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(time === undefined ? {} : { occurred_at: time }),
  };
}

const TURNS = 20;

/** Distractors are conversations of two people, one per session, as in a store that has seen many conversations. */
function invented(count: number): Row[] {
  const p = picker(20_260_401);
  let pair = [p.of(PEOPLE), p.of(PEOPLE)];
  return distinct(count, () => episodeText(p)).map((content, index) => {
    if (index % TURNS === 0) pair = [p.of(PEOPLE), p.of(PEOPLE)];
    const speaker = pair[index % 2] ?? "Ada";
    return { key: undefined, episode: { content, session_id: `invented/${Math.floor(index / TURNS)}`, speaker } };
  });
}
