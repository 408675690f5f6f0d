/** All that a tenant has which ranking reads, by id. */
import type { Sql } from "../../adapters/db/port.ts";
import { isLive } from "../memories/live.ts";

const SIZE = 16;

/**
 * The ids of a tenant in their order, of 16 bytes each: memories then lie in the model as they came, the turns of a session side by side. In no order
 * every step of a search took up to twice as long, because it met other lines of the caches each time. No more than `most` of each kind are looked at. Facts and rules that are over are found
 * by nothing; an episode's speaker counts even then, and words that are filed count wherever they are. All at once and not page by page: no
 * index has the ids of a tenant in their order, and a list of 200,000 takes 3 MB.
 */
export async function tenantIds(sql: Sql, tenant: string, most: number): Promise<TenantIds> {
  const filed = (state: string) =>
    `(select d.memory_id from shelves s join lex_doc d on d.sk = s.sk where s.tenant_id = $1 and ${state} limit $2)`;
  const [row] = await sql.query<{ ids: Uint8Array | null }>(
    `select string_agg(uuid_send(id), ''::bytea order by id) as ids from (
       (select id from episodes where tenant_id = $1 limit $2) union
       (select id from facts where tenant_id = $1 and ${isLive()} limit $2) union
       (select id from rules where tenant_id = $1 and ${isLive()} limit $2) union
       ${filed("d.state = 1")} union ${filed("d.state <> 1 and d.state <> 2")}) as m`,
    [tenant, most],
  );
  const bytes = Buffer.from(row?.ids ?? []);
  const idAt = (at: number) => {
    const hex = bytes.toString("hex", at, at + SIZE);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
  return {
    count: bytes.length / SIZE,
    part: (from, to) =>
      Array.from({ length: Math.min(to, bytes.length / SIZE) - from }, (_, nth) => idAt((from + nth) * SIZE)),
  };
}

export interface TenantIds {
  readonly count: number;
  part(from: number, to: number): string[];
}
