/** Stores many episodes in one transaction. A row whose key was used before gets its first answer, a row that is refused the reason. */
import { mapInTurns } from "../../adapters/turns.ts";
import { conflict, MemoryError } from "../../domain/errors.ts";
import { findAnswers, keepAnswers } from "../../store/memories/idempotency.ts";
import type { Call } from "../memory.ts";
import { inputHash, sameInput, write } from "../write.ts";
import { foldSoon, shelfOf } from "./index-memory.ts";
import {
  type EpisodeAnswer,
  type EpisodeInput,
  type PreparedEpisode,
  prepareEpisodes,
  storeEpisodes,
} from "./store-episode.ts";

export interface KeyedEpisode extends EpisodeInput {
  readonly idempotency_key?: string | undefined;
}

export type Ingested = EpisodeAnswer | MemoryError;

/** Row keys are shared with `memory_store_episode`: the same event told by either tool is stored once. */
const KEYED_TOOL = "memory_store_episode";

export async function ingest(call: Call, asked: unknown, inputs: readonly KeyedEpisode[]): Promise<Ingested[]> {
  const { memory, caller, now } = call;
  const sk = await shelfOf(call, caller.butler, "episode");
  const owner = { tenant: caller.tenant, butler: caller.butler, tool: KEYED_TOOL };
  const rows = await mapInTurns(inputs, ({ content }) => content.length, rowOf);
  const keys = [...new Set(rows.flatMap(({ key }) => key ?? []))];
  // Most rows of a transcript that is read again are known: those need no vector.
  const answered = await findAnswers(memory.db, owner, keys);
  const prepared = await prepareRows(
    call,
    rows.filter(({ key }) => key === undefined || !answered.has(key)),
  );
  const { answer, repeated } = await write(call, "memory_ingest_batch", asked, async (writing) => {
    const kept = new Map([...answered, ...(await findAnswers(writing.sql, owner, keys))]);
    const answers = new Map<Row, EpisodeAnswer>();
    const firstOf = new Map<string, Row>();
    const fresh: Row[] = [];
    // Part of the kept answer: a repeat of the whole call gets the same refusals.
    const refused: Record<string, string> = {};
    for (const [index, row] of rows.entries()) {
      const { key, hash } = row;
      const before = key === undefined ? undefined : kept.get(key);
      const first = key === undefined ? undefined : firstOf.get(key);
      try {
        if (before) {
          const same = sameInput(before.input_hash, hash, before.answer) as EpisodeAnswer;
          answers.set(row, { ...same, duplicate: true });
          continue;
        }
        if (first !== undefined) sameInput(first.hash, hash, undefined);
        else if (key !== undefined) firstOf.set(key, row);
        fresh.push(row);
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        refused[index] = error.message;
      }
    }
    const stored = await storeEpisodes(
      call,
      writing,
      fresh.flatMap((row) => prepared.get(row) ?? []),
      sk,
    );
    for (const [at, row] of fresh.entries()) answers.set(row, answerAt(stored, at));
    const toKeep = [...firstOf].flatMap(([key, row]) => {
      const given = answers.get(row);
      return given === undefined ? [] : [{ key, input_hash: row.hash, answer: given, created_at: now }];
    });
    if (!(await keepAnswers(writing.sql, owner, toKeep)))
      throw Object.assign(new Error("another call kept one of these keys first"), { code: "23505" });
    return { answers: rows.map((row) => answers.get(row)), refused };
  });
  foldSoon(memory, sk, repeated ? 0 : inputs.length);
  return inputs.map((_, index) => {
    const refusal = answer.refused[index];
    return refusal === undefined ? answerAt(answer.answers, index) : conflict(refusal);
  });
}

interface Row {
  readonly input: KeyedEpisode;
  readonly key: string | undefined;
  readonly hash: Uint8Array;
}

const rowOf = (input: KeyedEpisode): Row => ({ input, key: input.idempotency_key, hash: inputHash(input) });

async function prepareRows(call: Call, rows: readonly Row[]): Promise<Map<Row, PreparedEpisode>> {
  const episodes = await prepareEpisodes(
    call,
    rows.map(({ input }) => input),
  );
  const prepared = new Map<Row, PreparedEpisode>();
  for (const [at, row] of rows.entries()) {
    const episode = episodes[at];
    if (episode !== undefined) prepared.set(row, episode);
  }
  return prepared;
}

function answerAt(answers: readonly (EpisodeAnswer | undefined)[], at: number): EpisodeAnswer {
  const answer = answers[at];
  if (answer === undefined) throw new Error("a row of a batch was stored without an answer");
  return answer;
}
