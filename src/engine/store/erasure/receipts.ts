/** Receipts of erasures. The table refuses every change but a new row. */
import type { Sql } from "../../adapters/db/port.ts";
import type { ErasureTold, Receipt } from "../../domain/erasure/receipt.ts";

const COLUMNS = "id, tenant_id, butler, kind, erased_at, actor, memories, counts, before, hash";

export async function insertReceipt(sql: Sql, receipt: Receipt): Promise<void> {
  const { id, tenant_id, butler, kind, erased_at, actor, memories, counts, before, hash } = receipt;
  await sql.query(
    `insert into erasure_receipts (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7::uuid[], $8::jsonb, $9, $10)`,
    [id, tenant_id, butler, kind, erased_at, actor, memories, JSON.stringify(counts), before, hash],
  );
}

/** Oldest first. One erasure of a tenant at a time reads the last one: the lock is held until its transaction ends. */
export async function receiptsOf(sql: Sql, tenant: string, lock = false): Promise<Receipt[]> {
  if (lock) await sql.query("select pg_advisory_xact_lock(hashtextextended($1, 7033))", [tenant]);
  return sql.query<Receipt>(`select ${COLUMNS} from erasure_receipts where tenant_id = $1 order by seq`, [tenant]);
}

export async function tenantsWithReceipts(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ tenant_id: string }>(
    `select tenant_id from erasure_receipts union select tenant_id from event_totals where event_type = 'erasure.done' order by 1`,
  );
  return rows.map(({ tenant_id }) => tenant_id);
}

export function erasuresTold(sql: Sql, tenant: string): Promise<ErasureTold[]> {
  return sql.query<ErasureTold>(
    `select entity_id::text as receipt, payload ->> 'hash' as hash from memory_events
     where tenant_id = $1 and event_type = 'erasure.done' order by seq`,
    [tenant],
  );
}

/** Receipts that blanked payloads name. */
export async function receiptsNamed(sql: Sql, tenant: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select distinct payload ->> 'erased' as id from memory_events where tenant_id = $1 and payload ? 'erased' and entity_type <> 'erasure'`,
    [tenant],
  );
  return rows.map(({ id }) => id);
}
