/** What is true. */
import type { Sql } from "../adapters/db/port.ts";
import type { Permanence } from "../domain/decay.ts";
import type { Validity } from "../domain/lifecycle.ts";
import type { FadingColumns } from "./columns.ts";
import { insertRows } from "./rows.ts";

export interface Fact extends FadingColumns {
  readonly subject: string;
  readonly predicate: string;
  readonly subject_text: string;
  readonly predicate_text: string;
  readonly validity: Validity;
  readonly permanence: Permanence;
  readonly supersedes_id: string | null;
  readonly superseded_at: Date | null;
  readonly valid_from: Date | null;
  readonly valid_to: Date | null;
}

const COLUMNS = `id tenant_id subject predicate subject_text predicate_text content scope validity permanence
  supersedes_id superseded_at valid_from valid_to forgotten_at forget_reason confidence decay_rate last_confirmed_at
  source_butler source source_episode_id request_id trust created_at reference_count last_referenced_at
  prior_referenced_at importance tags metadata`.split(/\s+/);
const LIST = COLUMNS.join(", ");

export async function insertFact(sql: Sql, fact: Fact): Promise<void> {
  await insertRows(sql, "facts", COLUMNS, [{ ...fact }]);
}

export interface FactKey {
  readonly tenant: string;
  readonly scope: string;
  readonly subject: string;
  readonly predicate: string;
}

/**
 * The live holder of a key, and the key itself, locked until the transaction ends. The row alone is not enough: a writer
 * that waited for it finds it superseded, does not see its successor, and runs into the unique index again and again.
 */
export async function lockLiveFact(sql: Sql, key: FactKey): Promise<Fact | undefined> {
  const name = JSON.stringify([key.tenant, key.scope, key.subject, key.predicate]);
  await sql.query("select pg_advisory_xact_lock(hashtextextended($1, 7032))", [name]);
  const [row] = await sql.query<Fact>(
    `select ${LIST} from facts
     where tenant_id = $1 and scope = $2 and subject = $3 and predicate = $4 and validity in ('active', 'fading')
     for update`,
    [key.tenant, key.scope, key.subject, key.predicate],
  );
  return row;
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
