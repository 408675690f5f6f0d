/** Checkpoints of the stream. The table refuses every change but a new row. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Checkpoint, FoldedEvent, NewCheckpoint } from "../../domain/retention/checkpoint.ts";

const COLUMNS = "id, tenant_id, kind, through, until, made_at, entries, counts, before, hash";

/** From now on this transaction may fold and remove events in its name. */
export async function insertCheckpoint(sql: Sql, checkpoint: Checkpoint): Promise<void> {
  const { id, tenant_id, kind, through, until, made_at, entries, counts, before, hash } = checkpoint;
  await sql.query(
    `insert into event_checkpoints (id, tenant_id, kind, through, until, made_at, entries, counts, before, hash)
     values ($1, $2, $3, $4::int8, $5, $6, $7::jsonb, $8::jsonb, $9, $10)`,
    [id, tenant_id, kind, through, until, made_at, JSON.stringify(entries), JSON.stringify(counts), before, hash],
  );
  await sql.query("select set_config('butler.checkpoint', $1, true)", [id]);
}

/** One writer of a tenant's checkpoints at a time, and none beside an erasure: both locks are held until the transaction ends. */
export async function lastHash(sql: Sql, tenant: string): Promise<Uint8Array | undefined> {
  await sql.query(
    `select pg_advisory_xact_lock(hashtextextended($1, 7033)), pg_advisory_xact_lock(hashtextextended($1, 7034))`,
    [tenant],
  );
  const [row] = await sql.query<{ hash: Uint8Array }>(
    "select hash from event_checkpoints where tenant_id = $1 order by seq desc limit 1",
    [tenant],
  );
  return row?.hash;
}

/** In order. Their entries may be long, so they come one by one. */
export async function nextCheckpoint(
  sql: Sql,
  tenant: string,
  after: string,
): Promise<(Checkpoint & { readonly seq: string }) | undefined> {
  const [row] = await sql.query<Checkpoint & { seq: string }>(
    `select seq, ${COLUMNS} from event_checkpoints where tenant_id = $1 and seq > $2::int8 order by seq limit 1`,
    [tenant, after],
  );
  return row;
}

export async function tenantsWithCheckpoints(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ tenant_id: string }>(
    "select distinct tenant_id from event_checkpoints order by tenant_id",
  );
  return rows.map(({ tenant_id }) => tenant_id);
}

/** Changes whenever something was folded or removed. */
export async function checkpointMark(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ seq: string }>("select coalesce(max(seq), 0)::text as seq from event_checkpoints");
  return row?.seq ?? "0";
}

/** Since when single events of memories are kept; undefined when none was ever folded or removed. */
export async function knownSince(sql: Sql, tenant: string): Promise<Date | undefined> {
  const [row] = await sql.query<{ until: Date | null }>(
    "select max(until) as until from event_checkpoints where tenant_id = $1 and kind in ('memories', 'events')",
    [tenant],
  );
  return row?.until ?? undefined;
}

export type Payloads = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** The hashes of payloads as the database would write them. */
export async function digestsOf(sql: Sql, payloads: Payloads): Promise<NewCheckpoint["entries"]> {
  const rows = await sql.query<{ id: string; digest: string }>(
    `select e.key as id, encode(sha256(convert_to(e.value::text, 'UTF8')), 'hex') as digest from jsonb_each($1::jsonb) e`,
    [JSON.stringify(Object.fromEntries(payloads))],
  );
  return Object.fromEntries(rows.map(({ id, digest }) => [id, digest]));
}

export async function foldedEvents(
  sql: Sql,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, FoldedEvent>> {
  const rows = await sql.query<FoldedEvent>(
    `select id::text, encode(sha256(convert_to(payload::text, 'UTF8')), 'hex') as digest, payload ? 'erased' as erased
     from memory_events where tenant_id = $1 and id = any($2::uuid[])`,
    [tenant, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Checkpoints that folded events name. */
export async function checkpointsNamed(sql: Sql): Promise<{ tenant_id: string; id: string }[]> {
  return sql.query(
    `select distinct tenant_id, payload #>> '{folded,checkpoint}' as id from memory_events
     where payload ? 'folded' order by 1, 2`,
  );
}

export async function writePayloads(sql: Sql, payloads: Payloads): Promise<void> {
  if (payloads.size === 0) return;
  await sql.query(
    `update memory_events e set payload = n.value from jsonb_each($1::jsonb) n where e.id = n.key::uuid`,
    [JSON.stringify(Object.fromEntries(payloads))],
  );
}

export async function removeEvents(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql.query("delete from memory_events where id = any($1::uuid[])", [ids]);
}
