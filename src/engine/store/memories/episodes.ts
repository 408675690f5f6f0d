/** Episodes: what happened. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import { isKept } from "./live.ts";
import { byteaLiteral, insertRows } from "./rows.ts";

export interface NewEpisode extends Episode {
  readonly content_key: Uint8Array;
}

const COLUMNS = `id tenant_id butler session_id ordinal speaker content summary tier promoted_at consolidation_status
  consolidation_attempts last_consolidation_error next_consolidation_retry_at validity forgotten_at forget_reason
  occurred_at expires_at source_butler source source_episode_id request_id trust created_at reference_count
  last_referenced_at prior_referenced_at importance tags metadata`.split(/\s+/);

export const episodeJson = (episode: NewEpisode) => ({
  ...episode,
  content_key: byteaLiteral(episode.content_key),
});

/** Ids of the rows that were really made; the others repeat a live episode. */
export async function insertEpisodes(sql: Sql, episodes: readonly NewEpisode[]): Promise<Set<string>> {
  const made = await insertRows(
    sql,
    "episodes",
    [...COLUMNS, "content_key"],
    episodes.map(episodeJson),
    // Without the key: where the table is divided, it is a trigger that leaves a repeated episode out.
    "on conflict do nothing returning id",
  );
  return new Set(made.map((row) => row.id as string));
}

export type EpisodeTwin = Pick<NewEpisode, "id" | "content_key" | "tier" | "expires_at">;

/** Live rows with the same content key. The keys are made into one array first: row security keeps a condition that calls a function from the index. */
export function findTwins(
  sql: Sql,
  tenant: string,
  butler: string,
  keys: readonly Uint8Array[],
): Promise<EpisodeTwin[]> {
  return sql.query<EpisodeTwin>(
    `select id, content_key, tier, expires_at from episodes
     where tenant_id = $1 and butler = $2 and ${isKept()}
       and content_key = any (array(select decode(k, 'hex') from unnest($3::text[]) as k))`,
    [tenant, butler, keys.map((key) => Buffer.from(key).toString("hex"))],
  );
}

/**
 * The episodes first: whoever counts readings of them holds them, and what it adds for their readers is seen by the statements that come after
 * that wait. The other way round a server kept readers of an episode that was gone.
 */
export async function deleteEpisodes(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query(`delete from episodes where id = any($1::uuid[])`, [ids]);
  await sql.query(`delete from episode_references where episode_id = any($1::uuid[])`, [ids]);
  await sql.query(`delete from embeddings where memory_id = any($1::uuid[])`, [ids]);
}

/** The next free ordinal in each of these sessions. */
export async function nextOrdinals(
  sql: Sql,
  tenant: string,
  sessions: readonly string[],
): Promise<Map<string, number>> {
  if (sessions.length === 0) return new Map();
  const rows = await sql.query<{ session_id: string; next: number }>(
    `select s.session_id, coalesce((select max(ordinal) + 1 from episodes e
       where e.tenant_id = $1 and e.session_id = s.session_id), 0)::int4 as next
     from unnest($2::text[]) as s(session_id)`,
    [tenant, sessions],
  );
  return new Map(rows.map((row) => [row.session_id, row.next]));
}

export async function findEpisode(
  sql: Sql,
  tenant: string,
  id: string,
  lock?: "for update" | "for share",
): Promise<Episode | undefined> {
  const [row] = await sql.query<Episode>(
    `select ${COLUMNS.join(", ")} from episodes where tenant_id = $1 and id = $2 ${lock ?? ""}`,
    [tenant, id],
  );
  return row;
}

export async function setEpisodeValidity(
  sql: Sql,
  id: string,
  from: Episode["validity"],
  set: Pick<Episode, "validity" | "forgotten_at" | "forget_reason">,
): Promise<boolean> {
  const rows = await sql.query(
    `update episodes set validity = $3, forgotten_at = $4, forget_reason = $5 where id = $1 and validity = $2 returning 1`,
    [id, from, set.validity, set.forgotten_at, set.forget_reason],
  );
  return rows.length === 1;
}
