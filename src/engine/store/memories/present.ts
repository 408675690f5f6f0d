/** engine/domain/present.ts in SQL: whether a fact is the value of its key for a reader. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import { TRUST } from "../../domain/learning/trust.ts";
import type { Look } from "../../domain/present.ts";
import { effective, hasBegun, isLive, stillHolds } from "./live.ts";

/** Adds a parameter to the statement and gives its `$n`. */
type Param = (value: unknown) => string;

const rank = (fact: string) => `array_position(array['${TRUST.join("', '")}'], ${fact}.trust)`;

/** The condition under which the other fact `n` stands before `m`; one look into the index of live keys for each step. */
function before(m: string, { ladder, now, threshold }: Look, param: Param): string {
  const [steps, at, least] = [
    `${param(ladder ?? null)}::text[]`,
    `${param(now)}::timestamptz`,
    `${param(threshold)}::float8`,
  ];
  const standing = (fact: string) =>
    `(${rank(fact)}, coalesce(array_position(${steps}, ${fact}.scope), 0), coalesce(${fact}.waits_until, '-infinity'))`;
  return `n.tenant_id = ${m}.tenant_id and n.scope = any(coalesce(${steps}, array[${m}.scope]))
    and n.subject = ${m}.subject and n.predicate = ${m}.predicate and ${isLive("n")} and n.id <> ${m}.id
    and ${hasBegun("n", at)}
    and ${standing("n")} > ${standing(m)}
    and (n.scope = ${m}.scope or (${stillHolds("n", at)}
      and ${effective("n", at)} >= ${least}))`;
}

/** Of a live fact `m`. */
export function isValueSql(m: string, look: Look, param: Param): string {
  return `${hasBegun(m, `${param(look.now)}::timestamptz`)}
    and not exists (select 1 from facts n where ${before(m, look, param)})`;
}

export type Rival = Pick<Fact, "id" | "scope">;

/** The facts that are told instead of this one. */
export function rivalsOf(sql: Sql, tenant: string, id: string, look: Look): Promise<Rival[]> {
  const params: unknown[] = [tenant, id];
  const param: Param = (value) => `$${params.push(value)}`;
  return sql.query<Rival>(
    `select n.id, n.scope from facts m, facts n where m.tenant_id = $1 and m.id = $2 and ${before("m", look, param)}
     order by n.created_at, n.id`,
    params,
  );
}
