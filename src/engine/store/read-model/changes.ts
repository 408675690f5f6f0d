/**
 * Which memories of a tenant were changed on a server, by whomever. Triggers on every table that ranking reads note the ids of each statement
 * in `changed_memories`, with the number of its transaction. A reader keeps the snapshot of the database that it has read up to: what a later
 * one shows and this one does not was committed since, whatever the order of numbers and commits was. It costs a writer one small row for
 * each memory that it writes; NOTIFY would make all commits of the server wait for each other, and a pooler hides it.
 *
 * Both tables are unlogged: a server that crashed, or a replica that took its place, begins with empty ones. Transactions that it has lost may
 * have been read before, and their numbers are given out again; so whoever finds another log than the one it has read of reads everything anew.
 */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { OPERATIONS, triggerOf, WATCHED } from "./triggers.ts";

/** Part of the triggers' names: whoever changes them takes the next number, and drops the old ones. */
const PREFIX = "noted_1";

/** So many ids are compared with what the transaction has noted before: a memory is written by three statements or more, and noted once. */
const NOTED_ONCE = 20;

const noteIds = (ids: string) => `declare
       told record;
       counting boolean := coalesce(current_setting('butler.counting', true) = 'on', false);
     begin
       for told in select tenant_id, array_agg(distinct id) as ids from (${ids}) as c group by tenant_id loop
         if cardinality(told.ids) <= ${NOTED_ONCE} then
           continue when current_setting('butler.noted', true) = concat(counting, told.ids);
           perform set_config('butler.noted', concat(counting, told.ids), true);
         end if;
         insert into changed_memories (tenant_id, ids, counted) values (told.tenant_id, told.ids, counting);
       end loop;
       return null;
     end`;

/** One queue for everybody who makes them. */
const ONE_AT_A_TIME = "select pg_advisory_xact_lock(hashtextextended('read model', 7032))";

/**
 * Makes the triggers, unless they are there, and the log. One table at a time: whoever held the locks of several would wait in a circle with
 * writers. A writer that has seen no trigger on a table has committed before its trigger was there.
 */
export async function noteChanges(db: Db): Promise<void> {
  const [made] = await db.query<{ n: number; log: boolean }>(
    `select (select count(distinct tgname)::int4 from pg_trigger t join pg_class c on c.oid = t.tgrelid
         where tgname like $1 and c.relnamespace = current_schema()::regnamespace and not c.relispartition) as n,
       exists (select from change_log) as log`,
    [`${PREFIX.replaceAll("_", "\\_")}\\_%`],
  );
  if (made?.n !== WATCHED.length * OPERATIONS.length)
    for (const watched of WATCHED)
      await db.tx(async (sql) => {
        await sql.query(ONE_AT_A_TIME);
        // Writers queue up behind a lock that is waited for. An index that is built beside them waits for this transaction in turn: it gives up
        // before the server looks for a deadlock, after a second, and would end one of the two.
        await sql.query("set local lock_timeout = '500ms'");
        for (const operation of OPERATIONS)
          for (const statement of triggerOf(PREFIX, watched, operation, noteIds)) await sql.query(statement);
      });
  if (made?.log === true) return;
  await db.tx(async (sql) => {
    await sql.query(ONE_AT_A_TIME);
    await sql.query(
      "insert into change_log (id, dropped) select gen_random_uuid(), '0'::xid8 where not exists (select from change_log)",
    );
  });
}

export interface Seen {
  /** Of which log. */
  readonly log: string;
  /** What was committed, as the database tells it. */
  readonly snapshot: string;
}

export interface Changes extends Seen {
  /** By id: whether more than one transaction has changed it. */
  readonly changed: ReadonlyMap<string, { readonly again: boolean }>;
  /** Only read, and counted as such. */
  readonly counted: ReadonlySet<string>;
  /** Some of the counts are older than a moment. */
  readonly countsAreOld: boolean;
}

/** Where the log is now. */
export async function lookAtLog(sql: Sql): Promise<Seen | undefined> {
  const [row] = await sql.query<Seen>("select id as log, pg_current_snapshot()::text as snapshot from change_log");
  return row;
}

/** What was changed since; undefined where that is not known any more. */
export async function changesSince(sql: Sql, tenant: string, seen: Seen): Promise<Changes | undefined> {
  const rows = await sql.query<{
    log: string;
    whole: boolean;
    snapshot: string;
    xid: string | null;
    ids: string[] | null;
    counted: boolean | null;
    old: boolean | null;
  }>(
    `select l.id as log, l.dropped < pg_snapshot_xmin($2::pg_snapshot) as whole, pg_current_snapshot()::text as snapshot,
       c.xid::text as xid, c.ids, c.counted, c.at < now() - interval '1 second' as old
     from change_log l left join changed_memories c on c.tenant_id = $1
       and c.xid >= pg_snapshot_xmin($2::pg_snapshot) and not pg_visible_in_snapshot(c.xid, $2::pg_snapshot)`,
    [tenant, seen.snapshot],
  );
  const [first] = rows;
  if (first === undefined || first.log !== seen.log || !first.whole) return undefined;
  const changed = new Map<string, { xid: string | null; again: boolean }>();
  const counted = new Set<string>();
  for (const { xid, ids, counted: only } of rows)
    for (const id of ids ?? []) {
      if (only) counted.add(id);
      const before = changed.get(id);
      if (before !== undefined) before.again ||= before.xid !== xid;
      else if (!only) changed.set(id, { xid, again: false });
    }
  // How often it was read is read with the rest of it, and is no longer what its writer has handed over.
  for (const id of counted) {
    const known = changed.get(id);
    if (known === undefined) continue;
    known.again = true;
    counted.delete(id);
  }
  const countsAreOld = rows.some(({ counted, old }) => counted === true && old === true);
  return { log: first.log, snapshot: first.snapshot, changed, counted, countsAreOld };
}

/** Whoever has not asked for so long reads everything anew. */
const KEPT = "2 hours";

export async function dropOldChanges(sql: Sql): Promise<void> {
  await sql.query(
    `with gone as (delete from changed_memories where at < now() - interval '${KEPT}' returning xid)
     update change_log set dropped = greatest(dropped, (select xid from gone order by xid desc limit 1)) where exists (select from gone)`,
  );
}
