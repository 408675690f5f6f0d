/**
 * Deletes and blanks, with the rights of the owner of the tables: nothing else rewrites the stream. Each statement is one of `STEPS`, so
 * that what a dry run counts is what is done.
 * All rows are named by ids that were read with the tenant's own rights: `$1` is the tenant, `$2` the memories, `$3` the marks that lose their notes.
 */
import type { Sql } from "../../adapters/db/port.ts";

interface Step {
  readonly table: string;
  readonly where: string;
  readonly change: "delete" | string;
}

const LIST = "$2::uuid[]";
const ERASED = "jsonb_build_object('erased', current_setting('butler.erasure'))";
/** The statements must all have the same parameters. */
const GIVEN = "$1::text is not null and $2::uuid[] is not null and $3::uuid[] is not null";

const RUN_CONCERNED = `tenant_id = $1 and (episode_ids && ${LIST}
  or exists (select from unnest(${LIST}) as g (id) where position(g.id::text in coalesce(input::text, '') || coalesce(decisions::text, '')) > 0))`;

/** Rows that hold others come after those that point to them. */
const STEPS: readonly Step[] = [
  {
    table: "memory_events",
    where: `tenant_id = $1 and entity_type in ('episode', 'fact', 'rule') and entity_id = any(${LIST})`,
    change: `payload = ${ERASED}`,
  },
  {
    // What a memory that goes has claimed against one that stays.
    table: "memory_events",
    where: `tenant_id = $1 and entity_type = 'fact' and entity_id <> all(${LIST}) and payload ? 'claim' and (
      payload ->> 'by' = any(${LIST}::text[]) or exists (
        select from jsonb_array_elements(payload -> 'links') as l where l ->> 'source_id' = any(${LIST}::text[])))`,
    change: `payload = payload - 'claim' || ${ERASED}`,
  },
  {
    table: "memory_events",
    where: `tenant_id = $1 and entity_type = 'rule' and entity_id <> all(${LIST})
      and payload -> 'application' ->> 'id' = any($3::uuid[]::text[]) and payload -> 'application' ->> 'note' is not null`,
    change: `payload = jsonb_set(payload, '{application,note}', 'null') || ${ERASED}`,
  },
  {
    table: "memory_events",
    where: `tenant_id = $1 and entity_type = 'rule' and entity_id <> all(${LIST}) and payload ? 'applications' and exists (
      select from jsonb_array_elements(payload -> 'applications') as a where a ->> 'id' = any($3::uuid[]::text[]) and a ->> 'note' is not null)`,
    change: `payload = jsonb_set(payload, '{applications}', (
      select jsonb_agg(case when a ->> 'id' = any($3::uuid[]::text[]) then jsonb_set(a, '{note}', 'null') else a end)
      from jsonb_array_elements(payload -> 'applications') as a)) || ${ERASED}`,
  },
  {
    table: "memory_events",
    where: `tenant_id = $1 and entity_type = 'consolidation' and payload ? 'error' and entity_id in (
      select id from consolidation_runs where tenant_id = $1 and episode_ids && ${LIST})`,
    change: `payload = payload - 'error' || ${ERASED}`,
  },
  {
    table: "idempotency_keys",
    // The kept answer of an episode holds its id alone; without it an agent that repeats its call would store the episode again.
    where: `tenant_id = $1 and not (answer ? 'tier' and answer ? 'duplicate') and exists (
      select from unnest(${LIST}) as g (id) where position(g.id::text in answer::text) > 0)`,
    change: "delete",
  },
  {
    table: "consolidation_runs",
    where: RUN_CONCERNED,
    change: "input = null, answer = null, decisions = null, error = null",
  },
  {
    table: "rule_applications",
    where: `tenant_id = $1 and rule_id <> all(${LIST}) and id = any($3::uuid[]) and note is not null`,
    change: "note = null",
  },
  { table: "rule_applications", where: `tenant_id = $1 and rule_id = any(${LIST})`, change: "delete" },
  {
    table: "memory_links",
    where: `tenant_id = $1 and (source_id = any(${LIST}) or target_id = any(${LIST}))`,
    change: "delete",
  },
  { table: "episode_references", where: `tenant_id = $1 and episode_id = any(${LIST})`, change: "delete" },
  { table: "embeddings", where: `memory_id = any(${LIST})`, change: "delete" },
  { table: "episodes", where: `tenant_id = $1 and id = any(${LIST})`, change: "delete" },
  { table: "facts", where: `tenant_id = $1 and id = any(${LIST})`, change: "delete" },
  { table: "rules", where: `tenant_id = $1 and id = any(${LIST})`, change: "delete" },
];

export interface Going {
  readonly tenant: string;
  readonly ids: readonly string[];
  /** Marks on rules that stay, with words of a session that goes. */
  readonly marks: readonly string[];
}

const paramsOf = ({ tenant, ids, marks }: Going) => [tenant, ids, marks];

/** How many rows of each table would be deleted or blanked; words in the index are counted too. */
export async function countGoing(sql: Sql, going: Going): Promise<Record<string, number>> {
  const parts = STEPS.map(
    ({ table, where }) => `select '${table}' as name, count(*) as n from ${table} where ${GIVEN} and ${where}`,
  );
  const words = `select 'lex_doc', count(*) from lex_doc where ${GIVEN} and memory_id = any(${LIST}) and state <> 2`;
  const rows = await sql.query<{ name: string; n: number }>(
    `select name, sum(n)::int4 as n from (${[...parts, words].join(" union all ")}) as c group by name having sum(n) > 0 order by name`,
    paramsOf(going),
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

/** The receipt must have been written in the same transaction: the stream refuses every other change. */
export async function eraseRows(sql: Sql, receipt: string, going: Going): Promise<void> {
  await sql.query("select set_config('butler.erasure', $1, true)", [receipt]);
  for (const { table, where, change } of STEPS)
    await sql.query(
      change === "delete"
        ? `delete from ${table} where ${GIVEN} and ${where}`
        : `update ${table} set ${change} where ${GIVEN} and ${where}`,
      paramsOf(going),
    );
  await sql.query("select set_config('butler.erasure', '', true)");
}

/** Facts that stay and superseded one that goes; they name it no more. */
export async function detachFacts(
  sql: Sql,
  tenant: string,
  ids: readonly string[],
): Promise<{ id: string; scope: string; validity: string }[]> {
  return sql.query(
    `update facts set supersedes_id = null where tenant_id = $1 and supersedes_id = any($2::uuid[]) and id <> all($2::uuid[])
     returning id, scope, validity`,
    [tenant, ids],
  );
}

export function linksGoing(sql: Sql, tenant: string, ids: readonly string[]) {
  return sql.query<{ source_id: string; target_id: string; relation: string }>(
    `select source_id, target_id, relation from memory_links
     where tenant_id = $1 and (source_id = any($2::uuid[]) or target_id = any($2::uuid[]))`,
    [tenant, ids],
  );
}

/** Shelves on which words of these memories lie. */
export async function shelvesOf(sql: Sql, ids: readonly string[]): Promise<number[]> {
  const rows = await sql.query<{ sk: number }>(
    `select distinct sk from lex_doc where memory_id = any($1::uuid[])
     union select distinct sk from embeddings where memory_id = any($1::uuid[])`,
    [ids],
  );
  return rows.map(({ sk }) => sk);
}
