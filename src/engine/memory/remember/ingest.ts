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
  const hashes = await mapInTurns(inputs, ({ content }) => content.length, inputHash);
  const keys = [...new Set(inputs.flatMap((input) => input.idempotency_key ?? []))];
  // Most rows of a transcript that is read again are known: those need no vector.
  const answered = await findAnswers(memory.db, owner, keys);
  const known = (input: KeyedEpisode) => input.idempotency_key !== undefined && answered.has(input.idempotency_key);
  const unknown = inputs.flatMap((input, index) => (known(input) ? [] : [index]));
  const drafts = await prepareEpisodes(
    call,
    unknown.flatMap((index) => inputs[index] ?? []),
  );
  const prepared = new Map(unknown.map((index, at) => [index, drafts[at] as PreparedEpisode]));
  const { answer, repeated } = await write(call, "memory_ingest_batch", asked, async (writing) => {
    const kept = new Map([...answered, ...(await findAnswers(writing.sql, owner, keys))]);
    const answers: (EpisodeAnswer | undefined)[] = inputs.map(() => undefined);
    const firstOf = new Map<string, number>();
    const fresh: number[] = [];
    // Part of the kept answer: a repeat of the whole call gets the same refusals.
    const refused: Record<string, string> = {};
    inputs.forEach((input, index) => {
      const key = input.idempotency_key;
      const before = key === undefined ? undefined : kept.get(key);
      const first = key === undefined ? undefined : firstOf.get(key);
      const hash = hashes[index] as Uint8Array;
      try {
        if (before) {
          answers[index] = { ...(sameInput(before.input_hash, hash, before.answer) as EpisodeAnswer), duplicate: true };
        } else if (first !== undefined) {
          sameInput(hashes[first] as Uint8Array, hash, undefined);
          fresh.push(index);
        } else {
          if (key !== undefined) firstOf.set(key, index);
          fresh.push(index);
        }
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        refused[index] = error.message;
      }
    });
    const stored = await storeEpisodes(
      call,
      writing,
      fresh.flatMap((index) => prepared.get(index) ?? []),
      sk,
    );
    fresh.forEach((index, at) => {
      answers[index] = stored[at];
    });
    const toKeep = [...firstOf].map(([key, index]) => ({
      key,
      input_hash: hashes[index] as Uint8Array,
      answer: answers[index] as Record<string, unknown>,
    }));
    if (!(await keepAnswers(writing.sql, owner, toKeep, now)))
      throw Object.assign(new Error("another call kept one of these keys first"), { code: "23505" });
    return { answers, refused };
  });
  foldSoon(memory, sk, repeated ? 0 : inputs.length);
  return inputs.map((_, index) => {
    const refusal = answer.refused[index];
    return refusal === undefined ? (answer.answers[index] as EpisodeAnswer) : conflict(refusal);
  });
}
