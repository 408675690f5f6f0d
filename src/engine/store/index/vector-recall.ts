/** How many of the truly nearest vectors the index finds: the same question with it and without. */
import type { Sql } from "../../adapters/db/port.ts";
import { isVisible } from "../memories/live.ts";
import { hasGraph, withWidth } from "./nearest.ts";

export interface Probe {
  readonly a: string;
  readonly b: string;
  /** The shelves of one tenant. */
  readonly sks: number[];
}

/**
 * Questions that nobody asked: each is the sum of the vectors of two memories of one tenant, which lies, as a real one does, between
 * memories and is none of them. Large tenants are asked more often.
 */
export const probesOf = (sql: Sql, version: number, count: number): Promise<Probe[]> =>
  sql.query<Probe>(
    `with held as (select greatest(reltuples, 1)::float8 as n from pg_class where oid = 'embeddings'::regclass),
     picked as materialized (
       select e.memory_id, s.tenant_id, row_number() over (partition by s.tenant_id order by e.memory_id) as at
       from (select memory_id, sk from embeddings where version_id = $1 and random() < (select 20.0 * $2::int4 / n from held)
             limit 20 * $2::int4) as e join shelves s on s.sk = e.sk)
     select x.memory_id as a, y.memory_id as b, array(select sk from shelves where tenant_id = x.tenant_id) as sks
     from picked x join picked y on y.tenant_id = x.tenant_id and y.at = x.at + 1
     order by random() limit $2::int4`,
    [version, count],
  );

/** Version and type stand in the text, so that the planner can use the version's index. */
export async function nearestTo(
  sql: Sql,
  probe: Probe,
  query: { version: number; as: string; now: Date; exact: boolean; limit: number },
): Promise<string[]> {
  const { version, as, exact, limit } = query;
  const of = (param: string) =>
    `(select (q.embedding::${as}) from embeddings q where q.version_id = ${version} and q.memory_id = ${param})`;
  const distance = `(e.embedding::${as}) <=> (${of("$1")} + ${of("$2")})`;
  const near = (more = "") => `select e.memory_id as id, ${distance} as distance from embeddings e
       where e.version_id = ${version} and e.sk = any($3::int4[]) and ${isVisible("e", "$4")}${more}
       order by ${exact ? `(${distance}) + 0` : distance} limit $5`;
  const list = exact || !hasGraph(query) ? `(${near()})` : withWidth("$3::int4[]", near(" and w.ef is not null"));
  const rows = await sql.query<{ id: string }>(`select id from ${list} as found order by distance, id`, [
    probe.a,
    probe.b,
    probe.sks,
    query.now,
    limit,
  ]);
  return rows.map(({ id }) => id);
}
