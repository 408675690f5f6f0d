/** Which episodes are deleted: those whose time is over, and those a tier has no room for. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import { TIERS, type Tier } from "../../domain/lifecycle/tiers.ts";
import { isKept, isLiveEpisode } from "../memories/live.ts";

export type Leaving = Pick<
  Episode,
  "id" | "tenant_id" | "butler" | "tier" | "expires_at" | "last_referenced_at" | "reference_count"
>;

const LEAVING = "id, tenant_id, butler, tier, expires_at, last_referenced_at, reference_count";

/** Rows of a window by id: `expires_at` is in no index, and one statement must not read a whole store. */
export interface IdWindow {
  readonly after: string;
  /** Undefined: to the end. */
  readonly to: string | undefined;
}

/** The id that ends a window of `size` episodes after `after`; undefined when fewer are left. */
export async function episodeWindowEnd(sql: Sql, after: string, size: number): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>("select id from episodes where id > $1 order by id offset $2 limit 1", [
    after,
    size - 1,
  ]);
  return row?.id;
}

export interface Grace {
  readonly now: Date;
  /** Episodes that expired before this time are not kept for consolidation any more, and dead letters from before it are deleted. */
  readonly since: Date;
}

/** Forgotten episodes too: they can be restored only until they expire. An episode that waits for consolidation stays. */
const OVER = `e.expires_at <= $1 and (e.validity <> 'active' or e.consolidation_status in ('consolidated', 'failed')
    or (e.consolidation_status = 'dead_letter' and not exists (select from memory_events v
      where v.tenant_id = e.tenant_id and v.entity_id = e.id and v.event_type = 'episode.dead_lettered'
        and v.occurred_at > $2::timestamptz)))`;

/** Rows that another transaction has locked are left for the next run. */
export function lockExpired(
  sql: Sql,
  { now, since }: Grace,
  { after, to }: IdWindow,
  limit: number,
): Promise<Leaving[]> {
  return sql.query<Leaving>(
    `select ${LEAVING} from episodes e where ${OVER} and id > $3 and ($4::uuid is null or id <= $4::uuid)
     order by expires_at, id limit $5 for update of e skip locked`,
    [now, since, after, to ?? null, limit],
  );
}

export async function countExpired(sql: Sql, { now, since }: Grace): Promise<number> {
  const [row] = await sql.query<{ n: number }>(`select count(*)::int4 as n from episodes e where ${OVER}`, [
    now,
    since,
  ]);
  return row?.n ?? 0;
}

export type Unlearned = Pick<
  Episode,
  "id" | "tenant_id" | "butler" | "consolidation_attempts" | "last_consolidation_error"
>;

/** Leaves out the episodes of a consolidation run that is under way. */
const UNLEARNED = `from episodes e where e.consolidation_status = 'pending' and ${isKept("e")} and e.expires_at <= $1
    and not exists (select from consolidation_runs r where r.tenant_id = e.tenant_id and r.butler = e.butler
      and r.state = 'running' and e.id = any(r.episode_ids))`;

export function lockUnlearned(sql: Sql, { since }: Grace, limit: number): Promise<Unlearned[]> {
  return sql.query<Unlearned>(
    `select e.id, e.tenant_id, e.butler, e.consolidation_attempts, e.last_consolidation_error ${UNLEARNED}
     order by e.created_at, e.id limit $2 for update of e skip locked`,
    [since, limit],
  );
}

export async function countUnlearned(sql: Sql, { since }: Grace): Promise<number> {
  const [row] = await sql.query<{ n: number }>(`select count(*)::int4 as n ${UNLEARNED}`, [since]);
  return row?.n ?? 0;
}

export interface Crowded extends Pick<Episode, "tenant_id" | "butler" | "tier"> {
  readonly entries: number;
}

/** Tiers that hold more than they may, by tenant and butler. */
export function findCrowded(sql: Sql, capacity: Readonly<Record<Tier, number>>, now: Date): Promise<Crowded[]> {
  return sql.query<Crowded>(
    `select e.tenant_id, e.butler, e.tier, count(*)::int4 as entries
     from episodes e join unnest($2::text[], $3::int4[]) as c (tier, capacity) on c.tier = e.tier
     where ${isLiveEpisode("e", "$1")}
     group by e.tenant_id, e.butler, e.tier, c.capacity having count(*) > c.capacity
     order by e.tenant_id, e.butler, e.tier`,
    [now, TIERS, TIERS.map((tier) => capacity[tier])],
  );
}

/**
 * What may be evicted, the least recently referenced first. Only what consolidation has learned from, and of the long tier
 * only what is not protected: everything else stays until its time is over, however full the tier is.
 */
const ALLOWED = `tenant_id = $1 and butler = $2 and tier = $3 and ${isLiveEpisode("", "$4")}
    and consolidation_status = 'consolidated' and (tier <> 'long' or reference_count < $5)`;

export function lockEvictable(
  sql: Sql,
  crowded: Crowded,
  now: Date,
  longProtectedFrom: number,
  limit: number,
): Promise<Leaving[]> {
  return sql.query<Leaving>(
    `select ${LEAVING} from episodes where ${ALLOWED}
     order by coalesce(last_referenced_at, created_at), created_at, id limit $6 for update skip locked`,
    [crowded.tenant_id, crowded.butler, crowded.tier, now, longProtectedFrom, limit],
  );
}

export async function countEvictable(
  sql: Sql,
  crowded: Crowded,
  now: Date,
  longProtectedFrom: number,
): Promise<number> {
  const [row] = await sql.query<{ n: number }>(`select count(*)::int4 as n from episodes where ${ALLOWED}`, [
    crowded.tenant_id,
    crowded.butler,
    crowded.tier,
    now,
    longProtectedFrom,
  ]);
  return row?.n ?? 0;
}
