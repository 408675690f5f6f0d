import type { Db } from "../../src/engine/adapters/db/port.ts";
import { SECURED } from "../../src/engine/store/access/row-security.ts";

const keysOf = (table: string, tenant: string) =>
  SECURED[table]?.rows.includes("key >> 40")
    ? `(t.key >> 40)::int4 in (select sk from shelves where tenant_id = ${tenant})`
    : SECURED[table]?.rows.includes("shelves")
      ? `t.sk in (select sk from shelves where tenant_id = ${tenant})`
      : `t.tenant_id = ${tenant}`;

/** Without what only notes that the others were changed, on a server. */
export const HOLDING = Object.keys(SECURED).filter((table) => table !== "changed_memories");

/** All rows of a tenant, table by table, read by a superuser. */
export async function holdings(db: Db, tenant: string): Promise<Record<string, string[]>> {
  const held: Record<string, string[]> = {};
  for (const table of HOLDING) {
    const rows = await db.query<{ row: string }>(`select t::text as row from ${table} t where ${keysOf(table, "$1")}`, [
      tenant,
    ]);
    held[table] = rows.map(({ row }) => row).toSorted();
  }
  return held;
}

/** What is in one and not in the other, table by table. */
export function differences(
  before: Readonly<Record<string, readonly string[]>>,
  after: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.keys({ ...before, ...after }).flatMap((table) => {
    const [old, now] = [before[table] ?? [], after[table] ?? []];
    const [was, is] = [new Set(old), new Set(now)];
    return [
      ...old.filter((row) => !is.has(row)).map((row) => `${table} − ${row}`),
      ...now.filter((row) => !was.has(row)).map((row) => `${table} + ${row}`),
      ...(old.length === now.length ? [] : [`${table}: ${old.length} rows, now ${now.length}`]),
    ].slice(0, 5);
  });
}
