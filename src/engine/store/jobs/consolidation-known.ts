/** The memories that an answer may touch: those under the same keys, near in meaning, or shown to the extractor, each with its evidence. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import type { KnownFact, KnownRule } from "../../domain/learning/change.ts";
import { PROJECT_SUBJECT } from "../../domain/learning/person.ts";
import type { Rule } from "../../domain/rule.ts";
import { isLive, isVisible, TABLE_OF } from "../memories/live.ts";
import { vectorLiteral } from "../memories/rows.ts";

export interface Near {
  readonly nth: number;
  readonly id: string;
  readonly cosine: number;
}

export interface NearQuery {
  readonly version: number;
  /** `comparedAs` */
  readonly as: string;
  readonly type: "fact" | "rule";
  readonly sks: readonly number[];
  readonly vectors: readonly Float32Array[];
  readonly now: Date;
}

/** So many for each vector. */
export const MOST_NEAR = 5;

/** The nearest memories of these shelves for each vector. */
export async function nearest(sql: Sql, query: NearQuery): Promise<Near[]> {
  if (query.vectors.length === 0 || query.sks.length === 0) return [];
  const distance = `(e.embedding::${query.as}) <=> q.v`;
  return sql.query<Near>(
    // Read once: as part of the comparison each vector would be parsed anew for each row.
    `with q as materialized (
       select u.v::${query.as} as v, u.nth from unnest($1::text[]) with ordinality as u (v, nth))
     select (q.nth - 1)::int4 as nth, n.memory_id as id, 1 - n.distance as cosine
     from q cross join lateral (
       select e.memory_id, ${distance} as distance from embeddings e
       where e.version_id = ${query.version} and e.sk = any($2::int4[])
         and (${isVisible("e", "$3")} or ${isHeard(query.type)})
       order by ${distance} limit ${MOST_NEAR}) n`,
    [query.vectors.map(vectorLiteral), query.sks, query.now],
  );
}

/** A hint is out of sight; what is said now may be its second saying. */
const IS_HINT = `${isLive("m")} and m.metadata @> '{"learned": {"hint": true}}'`;

const isHeard = (type: "fact" | "rule"): string =>
  `exists (select 1 from ${TABLE_OF[type]} m where m.id = e.memory_id and ${IS_HINT})`;

/** Which of these are hints. */
export async function heardOf(sql: Sql, type: "fact" | "rule", ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const query = `select m.id from ${TABLE_OF[type]} m where m.id = any($1::uuid[]) and ${IS_HINT}`;
  return new Set((await sql.query<{ readonly id: string }>(query, [ids])).map(({ id }) => id));
}

type FactRow = Omit<KnownFact, "label" | "witnesses" | "disputers"> & Pick<Fact, "corroborated_at">;

export function knownFacts(
  sql: Sql,
  tenant: string,
  scopes: readonly string[],
  keys: readonly Pick<Fact, "subject" | "predicate">[],
  ids: readonly string[],
): Promise<FactRow[]> {
  return sql.query<FactRow>(
    `select f.id, f.subject, f.predicate, f.content, f.scope, f.confidence, f.trust, f.corroborated_at, f.valid_to, f.waits_until,
       f.last_confirmed_at as observed_at
     from facts f where f.tenant_id = $1 and f.scope = any($2::text[]) and ${isLive("f")}
       and (f.id = any($3::uuid[]) or (f.subject, f.predicate) in (
         select u.subject, u.predicate from unnest($4::text[], $5::text[]) as u (subject, predicate)))
     order by f.created_at, f.id for update`,
    [tenant, scopes, ids, keys.map(({ subject }) => subject), keys.map(({ predicate }) => predicate)],
  );
}

/** Facts of the project that one name stands for, those that were confirmed last in the end. */
export async function settledFacts(
  sql: Sql,
  tenant: string,
  scopes: readonly string[],
  most: number,
): Promise<Pick<Fact, "id" | "subject" | "predicate" | "content" | "scope">[]> {
  return sql.query(
    `select id, subject, predicate, content, scope from (
       select * from facts f where f.tenant_id = $1 and f.scope = any($2::text[]) and f.subject = $3
         and position(':' in f.predicate) = 0 and ${isLive("f")}
       order by f.last_confirmed_at desc, f.id desc limit $4) as f
     order by last_confirmed_at, id`,
    [tenant, scopes, PROJECT_SUBJECT, most],
  );
}

type RuleRow = Omit<KnownRule, "label" | "witnesses"> & Pick<Rule, "corroborated_at">;

/** All of a scope, up to a bound: people have dozens of rules, and each must be compared with what they say now. */
export function knownRules(
  sql: Sql,
  tenant: string,
  scopes: readonly string[],
  ids: readonly string[],
): Promise<RuleRow[]> {
  return sql.query<RuleRow>(
    `select id, coalesce(original_content, content) as content, scope, confidence, trust, corroborated_at from (
       select r.*, r.id = any($3::uuid[]) as asked from rules r
       where r.tenant_id = $1 and r.scope = any($2::text[]) and ${isLive("r")}
       order by asked desc, r.created_at desc, r.id limit 500 for update) as r
     order by created_at, id`,
    [tenant, scopes, ids],
  );
}

export interface Evidence {
  readonly id: string;
  readonly episode: string;
  readonly against: boolean;
  readonly occurred_at: Date | null;
}

/** Episodes that speak for or against these memories. One that is gone is still known by its link. */
export function evidenceOf(sql: Sql, ids: readonly string[]): Promise<Evidence[]> {
  return sql.query<Evidence>(
    `select k.id, k.episode, k.relation = 'contradicts' as against, e.occurred_at
     from (select source_id as id, target_id as episode, relation from memory_links
           where source_id = any($1::uuid[]) and relation = 'derived_from'
           union all
           select target_id, source_id, relation from memory_links
           where target_id = any($1::uuid[]) and source_type = 'episode' and relation in ('supports', 'contradicts')) k
     left join episodes e on e.id = k.episode`,
    [ids],
  );
}
