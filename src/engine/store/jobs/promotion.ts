/** Episodes that keep being referenced: finding them with their evidence, and raising them to the next tier. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import type { PromotionBar, ReferenceEvidence } from "../../domain/lifecycle/promotion.ts";
import type { Tier } from "../../domain/lifecycle/tiers.ts";
import { ladderOf } from "../../domain/scope.ts";
import { isLiveEpisode } from "../memories/live.ts";
import type { Reference } from "../memories/references.ts";

export interface Candidate extends ReferenceEvidence, Episode {}

const EVIDENCE = `cross join lateral (
    select count(distinct session_id)::int4 as sessions, count(distinct day)::int4 as days
    from episode_references r where r.episode_id = e.id) as s`;

/** Ids of live episodes of the tier that meet the bar, in order; engine/domain/lifecycle/promotion.ts decides again once they are locked. */
export async function findRising(
  sql: Sql,
  tier: Tier,
  bar: PromotionBar,
  now: Date,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select e.id from episodes e ${EVIDENCE}
     where e.tier = $1 and ${isLiveEpisode("e", "$2")} and e.reference_count >= $3
       and coalesce(e.promoted_at, e.created_at) <= $4 and e.id > $5 and s.sessions >= $6 and s.days >= $7
     order by e.id limit $8`,
    [tier, now, bar.references, new Date(now.getTime() - bar.ageMs), after, bar.sessions, bar.days, limit],
  );
  return rows.map((row) => row.id);
}

/** The candidates with their evidence; with `lock`, held until the transaction ends. */
export function readCandidates(sql: Sql, ids: readonly string[], lock: boolean): Promise<Candidate[]> {
  return sql.query<Candidate>(
    `select e.*, e.reference_count as "references", s.sessions, s.days from episodes e ${EVIDENCE}
     where e.id = any($1::uuid[]) order by e.id${lock ? " for update of e" : ""}`,
    [ids],
  );
}

export interface Raised extends Pick<Episode, "id" | "tier" | "expires_at"> {
  readonly summary: string;
  readonly promoted_at: Date;
  readonly seen_until: Date;
}

/** The indexes keep the words and the vector of the whole text; the vector is visible for as long as the episode now lives. */
export async function raiseEpisodes(sql: Sql, raised: readonly Raised[]): Promise<void> {
  const rows = `jsonb_to_recordset($1::jsonb)
    as u (id uuid, tier text, summary text, promoted_at timestamptz, expires_at timestamptz, seen_until timestamptz)`;
  const json = JSON.stringify(raised);
  await sql.query(
    `update episodes e set tier = u.tier, summary = u.summary, promoted_at = u.promoted_at, expires_at = u.expires_at
     from ${rows} where e.id = u.id`,
    [json],
  );
  await sql.query(`update embeddings e set visible_until = u.seen_until from ${rows} where e.memory_id = u.id`, [json]);
}

/** Facts and rules that were derived from an episode already, by consolidation or by hand. */
export function derivedFrom(sql: Sql, tenant: string, episodeId: string): Promise<Reference[]> {
  return sql.query<Reference>(
    `select source_type as type, source_id as id from memory_links
     where tenant_id = $1 and target_id = $2 and relation = 'derived_from' and source_type in ('fact', 'rule')
     order by created_at, source_id`,
    [tenant, episodeId],
  );
}

/** Whether the butler has ever held anything under this key, even if it was superseded or forgotten since. */
export async function factKnown(
  sql: Sql,
  key: { tenant: string; butler: string; subject: string; predicate: string },
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from facts where tenant_id = $1 and scope = any($2::text[]) and subject = $3 and predicate = $4 limit 1`,
    [key.tenant, ladderOf(key.butler), key.subject, key.predicate],
  );
  return rows.length > 0;
}

export async function ruleKnown(
  sql: Sql,
  key: { tenant: string; butler: string; contentKey: Uint8Array },
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from rules where tenant_id = $1 and scope = any($2::text[]) and content_key = $3 limit 1`,
    [key.tenant, ladderOf(key.butler), key.contentKey],
  );
  return rows.length > 0;
}
