/** Which episodes go: those whose time is over, and those a tier has no room for. */
import type { Sql } from "../adapters/db/port.ts";
import { TIERS, type Tier } from "../domain/tiers.ts";

export interface Leaving {
  readonly id: string;
  readonly tenant_id: string;
  readonly butler: string;
  readonly tier: Tier;
  readonly expires_at: Date;
  readonly last_referenced_at: Date | null;
  readonly reference_count: number;
}

const LEAVING = "id, tenant_id, butler, tier, expires_at, last_referenced_at, reference_count";

/** Forgotten ones too: their time to be restored ends with their time. Rows in other hands are left for the next run. */
export function lockExpired(sql: Sql, now: Date, limit: number): Promise<Leaving[]> {
  return sql.query<Leaving>(
    `select ${LEAVING} from episodes where expires_at <= $1 order by expires_at, id limit $2 for update skip locked`,
    [now, limit],
  );
}

export async function countExpired(sql: Sql, now: Date): Promise<number> {
  const [row] = await sql.query<{ n: number }>(`select count(*)::int4 as n from episodes where expires_at <= $1`, [
    now,
  ]);
  return row?.n ?? 0;
}

export interface Crowded {
  readonly tenant_id: string;
  readonly butler: string;
  readonly tier: Tier;
  readonly entries: number;
}

/** Tiers that hold more than they may, by tenant and butler. */
export function findCrowded(sql: Sql, capacity: Readonly<Record<Tier, number>>, now: Date): Promise<Crowded[]> {
  return sql.query<Crowded>(
    `select e.tenant_id, e.butler, e.tier, count(*)::int4 as entries
     from episodes e join unnest($2::text[], $3::int4[]) as c (tier, capacity) on c.tier = e.tier
     where e.validity = 'active' and e.expires_at > $1
     group by e.tenant_id, e.butler, e.tier, c.capacity having count(*) > c.capacity
     order by e.tenant_id, e.butler, e.tier`,
    [now, TIERS, TIERS.map((tier) => capacity[tier])],
  );
}

/**
 * What may make room, the one that nobody has needed for longest first. Only what consolidation has learned from, and of
 * the long tier only what was never referenced: everything else stays until its time is over, however crowded it is.
 */
const ALLOWED = `tenant_id = $1 and butler = $2 and tier = $3 and validity = 'active' and expires_at > $4
    and consolidation_status = 'consolidated' and (tier <> 'long' or reference_count = 0)`;

export function lockEvictable(sql: Sql, crowded: Crowded, now: Date, limit: number): Promise<Leaving[]> {
  return sql.query<Leaving>(
    `select ${LEAVING} from episodes where ${ALLOWED}
     order by coalesce(last_referenced_at, created_at), created_at, id limit $5 for update skip locked`,
    [crowded.tenant_id, crowded.butler, crowded.tier, now, limit],
  );
}

export async function countEvictable(sql: Sql, crowded: Crowded, now: Date): Promise<number> {
  const [row] = await sql.query<{ n: number }>(`select count(*)::int4 as n from episodes where ${ALLOWED}`, [
    crowded.tenant_id,
    crowded.butler,
    crowded.tier,
    now,
  ]);
  return row?.n ?? 0;
}
