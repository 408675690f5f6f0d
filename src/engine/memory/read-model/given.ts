/**
 * A new memory in the form in which the read model would read it from the store. Its writer has all of it at hand, so that nobody
 * waits for the store to tell it: `test/flow/given.test.ts` compares the two.
 */
import { halvesOf } from "../../domain/read-model/halves.ts";
import type { ReadCounts, ReadMemory, ReadRow, ReadVector, ReadWords } from "../../domain/read-model/rows.ts";
import type { NewEpisode } from "../../store/memories/episodes.ts";
import type { CountedRow } from "../../store/memories/references.ts";
import type { Indexed } from "../remember/index-memory.ts";

export interface Given {
  readonly row: ReadRow;
  readonly words: ReadWords;
  readonly indexed: Indexed;
}

export const givenEpisode = (episode: NewEpisode, indexed: Indexed, words: Omit<ReadWords, "sk">): Given => ({
  row: episodeRow(episode),
  words: { ...words, sk: indexed.sk },
  indexed,
});

/** With the vector of this version of the model. */
export const readAs = ({ row, words, indexed }: Given, version: number): ReadMemory => ({
  id: row.id,
  row,
  words,
  vector: vectorOf(indexed, version),
  links: [],
});

function vectorOf({ sk, vector, visibleUntil }: Indexed, version: number): ReadVector | undefined {
  const made = vector?.find((embedded) => embedded.version === version);
  return (
    made && {
      sk,
      visibleUntil: visibleUntil?.getTime() ?? Number.POSITIVE_INFINITY,
      halves: halvesOf(made.vector),
      pieces: made.tokens?.pieces ?? 0,
      tokens: made.tokens?.bits,
    }
  );
}

/** Counts of a memory: the last row has them, and one of the rows its vector of this version, if that is seen for longer now. */
export function countsAs(rows: readonly CountedRow[] | undefined, version: number): ReadCounts[] {
  const last = rows?.at(-1);
  if (rows === undefined || last === undefined) return [];
  const seen = rows.findLast((row) => row.version === version)?.visible_until ?? null;
  return [
    {
      id: last.id,
      reference_count: last.reference_count,
      last_referenced_at: time(last.last_referenced_at),
      prior_referenced_at: time(last.prior_referenced_at),
      expires_at: time(last.expires_at ?? null),
      visibleUntil: time(seen) ?? undefined,
    },
  ];
}

const time = (at: Date | null): number | null => at?.getTime() ?? null;

const episodeRow = (episode: NewEpisode): ReadRow => ({
  type: "episode",
  id: episode.id,
  tenant_id: episode.tenant_id,
  scope: episode.butler,
  state: episode.validity,
  content: episode.summary ?? episode.content,
  importance: episode.importance,
  tags: episode.tags,
  reference_count: episode.reference_count,
  created_at: episode.created_at.getTime(),
  last_referenced_at: time(episode.last_referenced_at),
  prior_referenced_at: time(episode.prior_referenced_at),
  trust: episode.trust,
  confidence: 1,
  decay_rate: 0,
  last_confirmed_at: episode.created_at.getTime(),
  ...{ subject_key: null, predicate_key: null, subject: null, predicate: null, permanence: null },
  ...{ valid_from: null, valid_to: null, waits_until: null, maturity: null, effectiveness: null },
  tier: episode.tier,
  session_id: episode.session_id,
  ordinal: episode.ordinal,
  speaker: episode.speaker,
  occurred_at: episode.occurred_at.getTime(),
  expires_at: time(episode.expires_at),
  corroborated_at: null,
  asks: [...episode.content.slice(-4)].slice(-2).includes("?"),
});
