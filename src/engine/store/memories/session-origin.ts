/** Which facts and rules a session has taught all by itself. */
import type { Sql } from "../../adapters/db/port.ts";

/**
 * Of these facts and rules, those whose every source is an episode of the session. What has no source was told directly, and an
 * episode that is gone may have been of any session: neither counts as the session's.
 */
export async function taughtBySession(
  sql: Sql,
  tenant: string,
  session: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select k.id from (
       select source_id as id, target_id as episode from memory_links
         where tenant_id = $1 and source_id = any($3::uuid[]) and target_type = 'episode' and relation = 'derived_from'
       union all
       select target_id, source_id from memory_links
         where tenant_id = $1 and target_id = any($3::uuid[]) and source_type = 'episode' and relation = 'supports') k
     left join episodes e on e.id = k.episode and e.tenant_id = $1
     group by k.id having bool_and(coalesce(e.session_id = $2, false))`,
    [tenant, session, ids],
  );
  return rows.map(({ id }) => id);
}
