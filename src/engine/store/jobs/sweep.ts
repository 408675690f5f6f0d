/** Fading in bulk: what must change is found and changed by the database, a window of rows at a time. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Validity } from "../../domain/lifecycle/lifecycle.ts";
import type { MaturityBars } from "../../domain/lifecycle/maturity.ts";
import type { Rule } from "../../domain/rule.ts";
import { lockStreams } from "../history/events.ts";
import { daysUnconfirmed, effective, isLive, isLiveEpisode, isVisible, TABLE_OF } from "../memories/live.ts";

export type Swept = "fact" | "rule";

const VALID_TO: Readonly<Record<Swept, string>> = { fact: "m.valid_to", rule: "null::timestamptz" };

export const FIRST_ID = "00000000-0000-0000-0000-000000000000";

export interface Thresholds {
  readonly retrieval: number;
  readonly expiry: number;
}

/** The id that ends a window of `size` live rows after `after`; `undefined` when fewer are left. */
export async function windowEnd(sql: Sql, type: Swept, after: string, size: number): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `select m.id from ${TABLE_OF[type]} m where ${isLive("m")} and m.id > $1
     order by m.id offset $2 limit 1`,
    [after, size - 1],
  );
  return row?.id;
}

export interface Due {
  readonly id: string;
  readonly tenant_id: string;
  readonly from: Validity;
  readonly to: "active" | "fading" | "expired";
  readonly effective: number;
}

/** The memories of the window whose state does not fit their effective confidence any more; with `lock`, locked until the transaction ends. */
export function findDue(
  sql: Sql,
  type: Swept,
  window: { after: string; to: string | undefined },
  thresholds: Thresholds,
  now: Date,
  lock: boolean,
): Promise<Due[]> {
  const ended = `coalesce(${VALID_TO[type]} <= $3::timestamptz, false)`;
  const e = effective("m", "$3::timestamptz");
  return sql.query<Due>(
    `select m.id, m.tenant_id, m.validity as "from", ${e} as effective,
       case when ${ended} or ${e} < $5 then 'expired' when ${e} < $4 then 'fading' else 'active' end as "to"
     from ${TABLE_OF[type]} m
     where ${isLive("m")} and m.id > $1 and ($2::uuid is null or m.id <= $2::uuid)
       and (${ended} or ${e} < $5::float8 or (m.validity = 'active') = (${e} < $4::float8))
     order by m.id${lock ? " for update skip locked" : ""}`,
    [window.after, window.to ?? null, now, thresholds.retrieval, thresholds.expiry],
  );
}

export interface SweepEvents {
  readonly ids: readonly string[];
  readonly butler: string;
  readonly actor: string;
}

/** Changes the states and writes an event for each change, with the numbers that caused it, in one statement. */
export async function moveDue(
  sql: Sql,
  type: Swept,
  due: readonly Due[],
  thresholds: Thresholds,
  now: Date,
  events: SweepEvents,
): Promise<void> {
  await lockStreams(
    sql,
    due.map((row) => row.tenant_id),
  );
  await sql.query(
    `with due as (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as u (id, event_id, was, becomes)),
     changed as (
       update ${TABLE_OF[type]} m set validity = due.becomes from due where m.id = due.id and m.validity = due.was
       returning due.*, m.tenant_id, m.scope, ${effective("m", "$5::timestamptz")} as effective, ${daysUnconfirmed("m", "$5::timestamptz")} as days,
         m.confidence, m.decay_rate, ${VALID_TO[type]} as valid_to)
     insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
     select event_id, tenant_id, $8, scope,
       $10 || '.' || case becomes when 'fading' then 'faded' when 'expired' then 'expired' else 'revived' end,
       $10, id, $5, $9,
       jsonb_build_object(
         'set', jsonb_build_object('validity', becomes), 'from', was, 'effective', effective, 'days', days,
         'confidence', confidence, 'decay_rate', decay_rate,
         'threshold', case when becomes = 'expired' then $7::float8 else $6::float8 end,
         'why', case when becomes = 'expired' and valid_to <= $5 then 'valid_to' else 'confidence' end)
       || case when becomes = 'expired' and valid_to <= $5 then jsonb_build_object('valid_to', valid_to) else '{}' end
     from changed order by event_id`,
    [
      due.map((row) => row.id),
      events.ids,
      due.map((row) => row.from),
      due.map((row) => row.to),
      now,
      thresholds.retrieval,
      thresholds.expiry,
      events.butler,
      events.actor,
      type,
    ],
  );
}

export interface ReviewDue {
  readonly id: string;
  readonly tenant_id: string;
}

/** Facts or rules whose time on the review list is over; with `lock`, locked until the transaction ends. */
export function findReviewed(sql: Sql, type: Swept, now: Date, limit: number, lock: boolean): Promise<ReviewDue[]> {
  return sql.query<ReviewDue>(
    `select id, tenant_id from ${TABLE_OF[type]} where review_until <= $1
     order by tenant_id, review_until, id limit $2${lock ? " for update skip locked" : ""}`,
    [now, limit],
  );
}

/** Takes them off the list, with an event for each. */
export async function endReviews(
  sql: Sql,
  type: Swept,
  due: readonly ReviewDue[],
  now: Date,
  events: SweepEvents,
): Promise<void> {
  await lockStreams(
    sql,
    due.map((row) => row.tenant_id),
  );
  await sql.query(
    `with due as (
       select u.id, u.event_id, m.review_until as waited from unnest($1::uuid[], $2::uuid[]) as u (id, event_id)
         join ${TABLE_OF[type]} m on m.id = u.id),
     changed as (
       update ${TABLE_OF[type]} m set review_until = null from due where m.id = due.id
       returning due.*, m.tenant_id, m.scope, m.validity)
     insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
     select event_id, tenant_id, $4, scope, $6 || '.review_expired', $6, id, $3, $5,
       jsonb_build_object('set', jsonb_build_object('review_until', null), 'from', validity, 'waited_until', waited)
     from changed order by event_id`,
    [due.map((row) => row.id), events.ids, now, events.butler, events.actor, type],
  );
}

/** Hides the vectors of expired memories from every search. Vectors whose `visible_until` has passed are hidden already and stay untouched. */
export async function hideVectors(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await sql.query(
    `update embeddings set visible_until = $2 where memory_id = any($1::uuid[]) and ${isVisible("", "$2::timestamptz")}`,
    [ids, now],
  );
}

/** Makes the vectors of memories that are active again visible until they will fade; at the threshold itself a memory is still visible. */
export async function showVectors(sql: Sql, type: Swept, ids: readonly string[], retrieval: number): Promise<void> {
  await sql.query(
    `update embeddings e set visible_until = least(coalesce(${VALID_TO[type]}, 'infinity'),
       case when m.decay_rate = 0 or $2::float8 <= 0 then 'infinity'::timestamptz
         else m.last_confirmed_at + make_interval(secs => 0.001 + least(1e11, ln(m.confidence / $2) / m.decay_rate * 86400)) end)
     from ${TABLE_OF[type]} m where m.id = e.memory_id and m.id = any($1::uuid[])`,
    [ids, retrieval],
  );
}

/** How many of these memories are folded into each shelf; once they are dropped, so many rows wait there to be folded away. */
export function foldedOn(sql: Sql, memoryIds: readonly string[]): Promise<{ sk: number; n: number }[]> {
  return sql.query(
    `select sk, count(*)::int4 as n from lex_doc where memory_id = any($1::uuid[]) and state = 1 group by sk order by sk`,
    [memoryIds],
  );
}

/**
 * Live rules whose evidence has earned another maturity than they have: by harm, or by help and age. A fall needs harm.
 * engine/domain/lifecycle/maturity.ts decides; this only keeps the many that stay as they are out of its way.
 */
export function findUnsettled(
  sql: Sql,
  bars: MaturityBars,
  now: Date,
  after: string,
  limit: number,
): Promise<Pick<Rule, "id" | "tenant_id">[]> {
  const { promote_to_established: e, promote_to_proven: p, harmful_to_antipattern: a } = bars;
  return sql.query(
    `select id, tenant_id from (
       select r.*, effect, array_position(array['candidate', 'established', 'proven'], r.maturity) as level, case
         when success_count >= $3 and effect >= $4 and date_part('epoch', $1::timestamptz - created_at) / 86400 >= $5 then 3
         when success_count >= $6 and effect >= $7 then 2 else 1 end as earned
       from rules r, lateral (
         select success_count / (success_count + 4 * harmful_count + 0.01::float8) as effect) as judged
       where ${isLive("r")} and r.maturity <> 'anti_pattern' and r.applied_count > 0 and r.id > $2) as m
     where (harmful_count >= $8 and effect < $9) or earned > level or (earned < level and harmful_count > 0)
     order by id limit $10`,
    [
      now,
      after,
      p.min_successes,
      p.min_effectiveness,
      p.min_age_days,
      e.min_successes,
      e.min_effectiveness,
      a.min_harmful,
      a.max_effectiveness,
      limit,
    ],
  );
}

/** Live episodes of the sessions in which a rule did harm, as far as they are this butler's own. */
export async function findHarmed(
  sql: Sql,
  rule: Pick<Rule, "id" | "tenant_id">,
  butler: string,
  now: Date,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from episodes
     where tenant_id = $1 and butler = $2 and ${isLiveEpisode("", "$4")} and session_id in (
       select session_id from rule_applications where rule_id = $3 and outcome = 'harmful')
     order by created_at, id limit 20`,
    [rule.tenant_id, butler, rule.id, now],
  );
  return rows.map((row) => row.id);
}
