/** Stores the memories of a data set through the product's own tool, as they stand, and notes which is which. */
import { maintain } from "../../engine/memory/keep/maintain.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import type { ToolInput } from "../../engine/tools/index.ts";
import { answerOf } from "../build.ts";
import { distinct, episodeText, picker } from "../sentences.ts";
import { PEOPLE } from "../vocabulary.ts";
import type { Corpus, DataMemory } from "./data.ts";

/** One corpus within a store. */
export interface Unit {
  /** Keeps the ids of several corpora in one store apart. */
  readonly key: string;
  /** Before the name of each session. */
  readonly sessions: string;
  readonly corpus: Corpus;
}

export interface Filled {
  /** From a memory of the data (`idIn`) to the stored one; two that were told alike have the same. */
  readonly stored: ReadonlyMap<string, string>;
  /** Why the first row was refused that the tool did not take, for example because it is too long. */
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

/** As evidence they count as not found. */
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

/** Talk between two people a session: what a store of many conversations is full of. */
function invented(count: number): Row[] {
  const p = picker(20_260_401);
  let pair = [p.of(PEOPLE), p.of(PEOPLE)];
  return distinct(count, () => episodeText(p)).map((content, index) => {
    if (index % TURNS === 0) pair = [p.of(PEOPLE), p.of(PEOPLE)];
    const speaker = pair[index % 2] ?? "Ada";
    return { key: undefined, episode: { content, session_id: `invented/${Math.floor(index / TURNS)}`, speaker } };
  });
}
