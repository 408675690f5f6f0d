/** What was done, with tools, to the memories that the reader of the `local` extractor learned. */

import type { Sql } from "../../adapters/db/port.ts";
import { JUDGED_BY, type Judgement } from "../../domain/learning/adapt-bars.ts";
import { KINDS, type Kind } from "../../domain/learning/kinds.ts";

export interface JudgedMemory {
  readonly type: "fact" | "rule";
  readonly id: string;
  readonly scope: string;
  readonly validity: string;
  readonly kind: Kind;
  readonly judgement: Judgement;
  /** How sure the reader was of it. */
  readonly sureness: number | null;
  /** As it was learned. */
  readonly content: string;
  readonly judged_at: Date;
}

/** The event that judgements before it count no more. */
export const RESET_EVENT = "learning.reset";

/** A bar has gone nearly all of its way after fifty examples; more than these would change nothing. */
const MOST = 1_000;
/** Of one memory there may be several. */
const MOST_EVENTS = 5_000;

/** In these words, so that PostgreSQL takes the index `memory_events_judged`. */
const JUDGING = Object.keys(JUDGED_BY)
  .map((type) => `'${type}'`)
  .join(", ");

export interface JudgedQuery {
  readonly tenant: string;
  /** Without a project. */
  readonly butler: string;
  /** Of recall: a hint below it was not learned yet. */
  readonly threshold: number;
}

type Row = Omit<JudgedMemory, "judgement"> & { readonly event_type: string };

/**
 * The last judgement of each memory that this butler learned, in all of its projects, latest first. What jobs and consolidation
 * confirm or supersede is no judgement: nobody looked at it. Nor is what a tool stored an example, whatever its metadata claims, nor a hint that nobody was told.
 */
export async function judgedMemories(sql: Sql, asked: JudgedQuery): Promise<JudgedMemory[]> {
  const { tenant, butler, threshold } = asked;
  const rows = await sql.query<Row>(
    `with latest as materialized (
       select e.entity_id, e.event_type, e.seq, e.occurred_at, e.payload ->> 'superseded_by' as by
       from memory_events e
       where e.tenant_id = $1 and e.event_type in (${JUDGING}) and e.actor not like 'job:%' and not e.payload ? 'run'
         and e.seq > (select coalesce(max(r.seq), 0) from memory_events r
           where r.tenant_id = $1 and r.event_type = '${RESET_EVENT}' and split_part(r.butler, '/', 1) = $2)
       order by e.seq desc limit ${MOST_EVENTS}),
     judged as (
       select distinct on (entity_id) entity_id, event_type, seq, occurred_at from latest
       where event_type <> 'fact.superseded'
         or exists (select from facts n where n.id = by::uuid and n.source not like 'consolidation:%')
       order by entity_id, seq desc)
     select m.type, m.id, m.scope, m.validity, m.content, m.learned ->> 'kind' as kind,
       case jsonb_typeof(m.learned -> 'sureness') when 'number' then (m.learned ->> 'sureness')::float8 end as sureness,
       j.event_type, j.occurred_at as judged_at
     from judged j cross join lateral (
       select 'fact' as type, id, tenant_id, confidence, scope, validity, content, source, source_butler, metadata -> 'learned' as learned
       from facts where id = j.entity_id
       union all
       select 'rule', id, tenant_id, confidence, scope, validity, coalesce(original_content, content), source, source_butler,
         metadata -> 'learned' from rules where id = j.entity_id
       limit 1) m
     where m.tenant_id = $1 and m.source like 'consolidation:%' and split_part(m.source_butler, '/', 1) = $2
       and m.learned ->> 'by' like 'reader-%' and m.learned ->> 'kind' = any($3::text[])
       and not (m.learned @> '{"hint": true}' and m.confidence < $4)
     order by j.seq desc limit ${MOST}`,
    [tenant, butler, KINDS, threshold],
  );
  return rows.flatMap(({ event_type, ...row }) => {
    const judgement = JUDGED_BY[event_type];
    return judgement === undefined ? [] : [{ ...row, judgement }];
  });
}

/** Tenants of whom anything was judged at all: one look at the index for each of them, in one statement. */
export async function judgingTenants(sql: Sql): Promise<Set<string>> {
  const next = (after: string) =>
    `select e.tenant_id from memory_events e
     where e.event_type in (${JUDGING}) and e.actor not like 'job:%'${after} order by e.tenant_id, e.seq limit 1`;
  const rows = await sql.query<{ tenant_id: string }>(
    `with recursive t (tenant_id) as (
       (${next("")}) union all select (${next(" and e.tenant_id > t.tenant_id")}) from t where t.tenant_id is not null)
     select tenant_id from t where tenant_id is not null`,
  );
  return new Set(rows.map(({ tenant_id }) => tenant_id));
}

/** When the bars were last set back to the shipped ones. */
export async function lastReset(sql: Sql, tenant: string, butler: string): Promise<Date | undefined> {
  const [row] = await sql.query<{ at: Date | null }>(
    `select max(occurred_at) as at from memory_events
     where tenant_id = $1 and event_type = '${RESET_EVENT}' and split_part(butler, '/', 1) = $2`,
    [tenant, butler],
  );
  return row?.at ?? undefined;
}
