/** What the counting of readings changed of some memories: a tenth of what reading them whole takes. */
import type { Sql } from "../../adapters/db/port.ts";
import type { ReadCounts } from "../../domain/read-model/rows.ts";
import { isLive } from "../memories/live.ts";

const ms = (column: string) => `extract(epoch from ${column}) * 1000`;
const COUNTS = `m.id, m.reference_count, ${ms("m.last_referenced_at")} as last, ${ms("m.prior_referenced_at")} as prior`;

type Counted = [
  id: string,
  count: number,
  last: number | null,
  prior: number | null,
  expires: number | null,
  hasVector: boolean,
  visible: number | null,
];

export async function readCounts(sql: Sql, ids: readonly string[], version: number): Promise<ReadCounts[]> {
  const [all] = await sql.query<{ counts: string | null }>(
    `with w as materialized (select distinct unnest($1::uuid[]) as id)
     select json_agg(json_build_array(c.id, c.reference_count, c.last, c.prior, c.expires, v.memory_id is not null,
       case when isfinite(v.visible_until) then ${ms("v.visible_until")} end))::text as counts
     from (
       select ${COUNTS}, ${ms("m.expires_at")} as expires from w join episodes m on m.id = w.id
       union all
       select ${COUNTS}, null from w join facts m on m.id = w.id where ${isLive("m")}
       union all
       select ${COUNTS}, null from w join rules m on m.id = w.id where ${isLive("m")}) as c
     left join embeddings v on v.memory_id = c.id and v.version_id = $2`,
    [ids, version],
  );
  return (JSON.parse(all?.counts ?? "[]") as Counted[]).map(
    ([id, reference_count, last_referenced_at, prior_referenced_at, expires_at, hasVector, visible]) => ({
      ...{ id, reference_count, last_referenced_at, prior_referenced_at, expires_at },
      visibleUntil: hasVector ? (visible ?? Number.POSITIVE_INFINITY) : undefined,
    }),
  );
}
