/** What an undo reads of the stream, and what it writes. */
import type { Sql } from "../../adapters/db/port.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { RowJson } from "../../domain/replay.ts";
import type { Chronicle, LinkKey, Mark, PastEvent } from "../../domain/undo/chronicle.ts";
import { conditions } from "../browse/conditions.ts";
import { TABLE_OF } from "../memories/live.ts";

export interface Place {
  readonly tenant: string;
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
}

export type Cause =
  | { readonly kind: "request" | "session" | "run" | "source" | "event"; readonly value: string }
  | { readonly kind: "since"; readonly value: Date };

export interface CausedEvent {
  readonly id: string;
  readonly entity_id: string;
  readonly event_type: string;
  /** The run of consolidation that it was part of. */
  readonly run: string | null;
  /** It stands for older events too, which cannot be told apart any more. */
  readonly folded: boolean;
}

const OF_MEMORIES = "entity_type in ('episode', 'fact', 'rule')";

/** Each is read by an index of the stream, or begins with the rows that name the cause. `$3` is the value. */
const CAUSED: Readonly<Record<Cause["kind"], string>> = {
  request: "request_id = $3",
  session: `(session_id = $3
    or event_type = 'episode.stored' and payload -> 'row' ->> 'session_id' = $3
    or entity_id in (select rule_id from rule_applications where tenant_id = $1 and session_id = $3)
      and payload -> 'application' ->> 'session_id' = $3)`,
  run: `payload ->> 'run' = $3 and entity_id in (
    select unnest(episode_ids) from consolidation_runs where tenant_id = $1 and id::text = $3
    union all select (c ->> 'id')::uuid from consolidation_runs r, jsonb_array_elements(r.decisions -> 'changes') as c
      where r.tenant_id = $1 and r.id::text = $3 and c ->> 'id' <> '')`,
  source: `(actor = $3 or entity_id in (
    select id from facts where tenant_id = $1 and source = $3
    union all select id from rules where tenant_id = $1 and source = $3
    union all select id from episodes where tenant_id = $1 and source = $3) and event_type like '%.stored')`,
  // A supersession is undone with the fact that did it.
  event: `(id = $3::uuid or event_type = 'fact.stored' and entity_id in (
    select (payload ->> 'superseded_by')::uuid from memory_events where tenant_id = $1 and id = $3::uuid))`,
  since: "occurred_at >= $3::timestamptz",
};

export function eventsOfCause(
  sql: Sql,
  { tenant, scopes }: Place,
  cause: Cause,
  limit: number,
): Promise<CausedEvent[]> {
  return sql.query<CausedEvent>(
    `select id, entity_id, event_type, payload ->> 'run' as run, payload ? 'folded' as folded from memory_events
     where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[])) and ${OF_MEMORIES} and ${CAUSED[cause.kind]}
     order by seq limit $4`,
    [tenant, scopes ?? null, cause.value, limit],
  );
}

/** What the caller may not see is left out. */
export async function chroniclesOf(sql: Sql, place: Place, ids: readonly string[]): Promise<Chronicle[]> {
  if (ids.length === 0) return [];
  const where = conditions();
  where.add([place.tenant, ids], (tenant, all) => `tenant_id = ${tenant} and entity_id = any(${all}::uuid[])`);
  where.given(place.scopes, (scopes) => `scope = any(${scopes}::text[])`);
  const events = await sql.query<PastEvent>(
    `select seq, id, event_type, entity_type, entity_id, scope, occurred_at, actor, session_id, request_id, payload
     from memory_events where ${OF_MEMORIES} and ${where.sql()} order by seq`,
    where.params,
  );
  const rows = await rowsOf(sql, place.tenant, ids);
  const marks = await sql.query<Mark & { rule_id: string }>(
    "select id, rule_id, counted from rule_applications where tenant_id = $1 and rule_id = any($2::uuid[]) order by id",
    [place.tenant, ids],
  );
  const own = new Map<string, PastEvent[]>();
  for (const event of events) own.set(event.entity_id, [...(own.get(event.entity_id) ?? []), event]);
  return [...own].flatMap(([id, told]): Chronicle[] => {
    const [first] = told;
    if (first === undefined) return [];
    const counted = marks.filter((mark) => mark.rule_id === id).map((mark) => ({ id: mark.id, counted: mark.counted }));
    return [{ type: first.entity_type, id, scope: first.scope, row: rows.get(id), events: told, marks: counted }];
  });
}

async function rowsOf(sql: Sql, tenant: string, ids: readonly string[]): Promise<Map<string, RowJson>> {
  const one = (type: MemoryType) =>
    `select id, to_jsonb(t) as row from ${TABLE_OF[type]} t where tenant_id = $1 and id = any($2::uuid[])`;
  const rows = await sql.query<{ id: string; row: RowJson }>(
    `${one("fact")} union all ${one("rule")} union all ${one("episode")}`,
    [tenant, ids],
  );
  return new Map(rows.map(({ id, row }) => [id, row]));
}

/** The other ends of the links of these memories. */
export async function neighboursOf(sql: Sql, tenant: string, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select source_id as id from memory_links where tenant_id = $1 and target_id = any($2::uuid[])
     union select target_id from memory_links where tenant_id = $1 and source_id = any($2::uuid[])`,
    [tenant, ids],
  );
  return rows.map(({ id }) => id);
}

/** Facts of the same keys, whatever became of them. */
export async function keyMatesOf(sql: Sql, tenant: string, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select distinct m.id from facts f join facts m using (tenant_id, scope, subject, predicate)
     where f.tenant_id = $1 and f.id = any($2::uuid[])`,
    [tenant, ids],
  );
  return rows.map(({ id }) => id);
}

/** Of rules and episodes that are out of sight: the one that says the same and is there. */
export async function twinsOf(sql: Sql, tenant: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql.query<{ id: string; twin: string }>(
    `select r.id, t.id as twin from rules r join rules t using (tenant_id, scope, content_key)
       where r.tenant_id = $1 and r.id = any($2::uuid[]) and t.id <> r.id and t.validity <> 'retracted'
     union all
     select e.id, t.id from episodes e join episodes t using (tenant_id, butler, content_key)
       where e.tenant_id = $1 and e.id = any($2::uuid[]) and t.id <> e.id and t.validity = 'active'`,
    [tenant, ids],
  );
  return new Map(rows.map(({ id, twin }) => [id, twin]));
}

/**
 * Holds the keys of facts, then the rows, each in one order: no other writer changes them until the transaction ends. Keys first,
 * as `lockFacts` does.
 */
export async function holdMemories(sql: Sql, tenant: string, ids: readonly string[]): Promise<void> {
  const keys = await sql.query<{ scope: string; subject: string; predicate: string }>(
    "select distinct scope, subject, predicate from facts where tenant_id = $1 and id = any($2::uuid[])",
    [tenant, ids],
  );
  const names = keys.map(({ scope, subject, predicate }) => JSON.stringify([tenant, scope, subject, predicate])).sort();
  await sql.query("select pg_advisory_xact_lock(hashtextextended(k, 7032)) from unnest($1::text[]) as k", [names]);
  for (const table of ["episodes", "facts", "rules"])
    await sql.query(`select 1 from ${table} where tenant_id = $1 and id = any($2::uuid[]) order by id for update`, [
      tenant,
      ids,
    ]);
}

/** Sets columns from JSON as events hold them. */
export async function setColumns(sql: Sql, type: MemoryType, id: string, set: RowJson): Promise<void> {
  const columns = Object.keys(set);
  if (columns.length === 0) return;
  const table = TABLE_OF[type];
  const assignments = columns.map((column) => `${column} = v.${column}`).join(", ");
  await sql.query(
    `update ${table} t set ${assignments} from jsonb_populate_record(null::${table}, $2::jsonb) as v where t.id = $1`,
    [id, JSON.stringify(set)],
  );
}

export async function removeLinks(sql: Sql, tenant: string, links: readonly LinkKey[]): Promise<void> {
  if (links.length === 0) return;
  await sql.query(
    `delete from memory_links l using unnest($2::uuid[], $3::uuid[], $4::text[]) as u (source_id, target_id, relation)
     where l.tenant_id = $1 and (l.source_id, l.target_id, l.relation) = (u.source_id, u.target_id, u.relation)`,
    [tenant, links.map((l) => l.source_id), links.map((l) => l.target_id), links.map((l) => l.relation)],
  );
}

/** Those that count no more come first: a session counts once for each outcome. */
export async function recountMarks(sql: Sql, marks: readonly Mark[]): Promise<void> {
  for (const counted of [false, true]) {
    const ids = marks.filter((mark) => mark.counted === counted).map(({ id }) => id);
    if (ids.length > 0)
      await sql.query("update rule_applications set counted = $2 where id = any($1::uuid[])", [ids, counted]);
  }
}
