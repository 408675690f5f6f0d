/** Facts: what is true. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Fact, FactKey } from "../../domain/fact.ts";
import type { Validity } from "../../domain/lifecycle/lifecycle.ts";
import { isLive } from "./live.ts";
import { insertRows } from "./rows.ts";

const COLUMNS = `id tenant_id subject predicate subject_text predicate_text content scope validity permanence
  supersedes_id superseded_at valid_from valid_to waits_until forgotten_at forget_reason confidence decay_rate last_confirmed_at
  source_butler source source_episode_id request_id trust corroborated_at review_until created_at reference_count last_referenced_at
  prior_referenced_at importance tags metadata`.split(/\s+/);
const LIST = COLUMNS.join(", ");

export async function insertFact(sql: Sql, fact: Fact): Promise<void> {
  await insertRows(sql, "facts", COLUMNS, [{ ...fact }]);
}

/**
 * The live facts of a key, those that wait among them in the order of their days, and the key itself, locked until the
 * transaction ends. The rows alone are not enough: a writer that waited for one finds it superseded, does not see its successor,
 * and runs into the unique index again and again.
 */
export async function lockFacts(sql: Sql, key: FactKey): Promise<Fact[]> {
  const name = JSON.stringify([key.tenant_id, key.scope, key.subject, key.predicate]);
  await sql.query("select pg_advisory_xact_lock(hashtextextended($1, 7032))", [name]);
  return sql.query<Fact>(
    `select ${LIST} from facts
     where tenant_id = $1 and scope = $2 and subject = $3 and predicate = $4 and ${isLive()}
     order by waits_until nulls first for update`,
    [key.tenant_id, key.scope, key.subject, key.predicate],
  );
}

/** Keys of which a waiting fact's day has come, the longest overdue first; of these keys only, when some are given. */
export function dueKeys(
  sql: Sql,
  now: Date,
  limit: number,
  among?: {
    readonly tenant: string;
    readonly scopes: readonly string[];
    readonly keys: readonly Pick<FactKey, "subject" | "predicate">[];
  },
): Promise<FactKey[]> {
  const params: unknown[] = [now, limit];
  if (among !== undefined)
    params.push(
      among.tenant,
      among.scopes,
      among.keys.map((key) => key.subject),
      among.keys.map((key) => key.predicate),
    );
  return sql.query<FactKey>(
    `select tenant_id, scope, subject, predicate from facts
     where waits_until <= $1 and ${isLive()}${
       among === undefined
         ? ""
         : ` and tenant_id = $3 and scope = any($4::text[]) and (subject, predicate) in (
             select u.subject, u.predicate from unnest($5::text[], $6::text[]) as u (subject, predicate))`
     }
     group by 1, 2, 3, 4 order by min(waits_until), 1, 2, 3, 4 limit $2`,
    params,
  );
}

/** When the next waiting fact begins. */
export async function nextBeginning(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql.query<{ at: Date | null }>(
    `select min(waits_until) as at from facts where waits_until is not null and ${isLive()}`,
  );
  return row?.at ?? undefined;
}

export async function findFact(sql: Sql, tenant: string, id: string, lock = false): Promise<Fact | undefined> {
  const [row] = await sql.query<Fact>(
    `select ${LIST} from facts where tenant_id = $1 and id = $2${lock ? " for update" : ""}`,
    [tenant, id],
  );
  return row;
}

/** What lesser sources have claimed instead of a live fact. None of it is live itself. */
export function claimsAgainst(sql: Sql, tenant: string, id: string): Promise<Fact[]> {
  return sql.query<Fact>(
    `select ${LIST} from facts where tenant_id = $1 and validity = 'expired' and id in (
       select source_id from memory_links
       where tenant_id = $1 and target_id = $2 and relation = 'contradicts' and source_type = 'fact')
     order by created_at desc, id limit 100`,
    [tenant, id],
  );
}

/** The columns a fact's life can change. */
export type FactChange = Partial<
  Pick<
    Fact,
    | "validity"
    | "superseded_at"
    | "forgotten_at"
    | "forget_reason"
    | "confidence"
    | "decay_rate"
    | "permanence"
    | "importance"
    | "last_confirmed_at"
    | "valid_from"
    | "valid_to"
    | "trust"
    | "corroborated_at"
    | "review_until"
    | "waits_until"
    | "supersedes_id"
  >
>;

/** Changes a fact that is still in the state the decision was made on; false when it has moved meanwhile. */
export async function changeFact(sql: Sql, id: string, from: Validity, set: FactChange): Promise<boolean> {
  const columns = Object.keys(set);
  const assignments = columns.map((column, index) => `${column} = $${index + 3}`).join(", ");
  const rows = await sql.query(`update facts set ${assignments} where id = $1 and validity = $2 returning 1`, [
    id,
    from,
    ...Object.values(set),
  ]);
  return rows.length === 1;
}
