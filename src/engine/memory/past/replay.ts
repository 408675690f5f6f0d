/** Rebuilds every row from the event stream; `verifyReplay` proves that the rebuilt rows equal the stored ones. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { applyEvent, emptyLedger, type ReplayEvent, type RowJson, touchedBy } from "../../domain/replay.ts";
import { checkpointMark } from "../../store/history/checkpoints.ts";
import {
  type Columns,
  countEvents,
  dropConstraints,
  loadRows,
  REPLAYED,
  readEvents,
  replayedColumns,
  tenantsWithEvents,
  writeLedger,
} from "../../store/history/replay.ts";
import { keyDigests, rowsUnder } from "../../store/history/replay-check.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { type ReceiptsReport, verifyReceipts } from "../erase/receipts.ts";
import { type CheckpointsReport, verifyCheckpoints } from "../retention/checkpoints.ts";

/** Limits what is held in memory: at worst 1,000 episodes of 100,000 characters. */
const EVENT_PAGE = 1000;
const KEY_PAGE = 2000;
/** A table with more differing keys is wrong as a whole, and is not compared further. */
const DIFFERING_KEYS = 1000;
const SHOWN = 20;
const ATTEMPTS = 3;
const FIRST_UUID = "00000000-0000-0000-0000-000000000000";

export interface Replayed {
  events: number;
  /** The last `seq` of each tenant: where a later call goes on. */
  readonly reached: Map<string, string>;
  orphanCount: number;
  /** The first few events about memories that no event stored. */
  readonly orphans: string[];
  /** See `Ledger`. */
  readonly readThrough: Map<string, bigint>;
}

export interface Difference {
  readonly table: string;
  readonly id: string;
  /** `*` when the whole row is missing on one side. */
  readonly column: string;
  readonly stored: unknown;
  readonly replayed: unknown;
}

export interface ReplayReport {
  readonly equal: boolean;
  readonly events: number;
  /** Rows compared, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Rows that differ, by table. */
  readonly differing: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
  readonly orphans: readonly string[];
  /** Receipts of erasures, and what is wrong with them. */
  readonly receipts: ReceiptsReport;
  /** Checkpoints after which events were folded or removed, and what is wrong with them or with the folded events. */
  readonly checkpoints: CheckpointsReport;
  /** True when a table had so many differing keys that the rest of it was not compared. */
  readonly cutShort: boolean;
}

export type ReplayProgress = (step: { readonly what: string; readonly done: number; readonly total: number }) => void;

const newReplay = (): Replayed => ({
  ...{ events: 0, reached: new Map(), orphanCount: 0, orphans: [] },
  readThrough: new Map(),
});

/** Rebuilds every row in `into`, a migrated store without memories. Called again with its answer, it goes on from there. */
export async function replay(
  from: Sql,
  into: Db,
  so: Replayed = newReplay(),
  tell: (events: number) => void = () => undefined,
): Promise<Replayed> {
  const columns = await replayedColumns(into);
  for (const tenant of await tenantsWithEvents(from)) {
    let page = await readEvents(from, tenant, so.reached.get(tenant) ?? "0", EVENT_PAGE);
    while (page.length > 0) {
      const last = page.at(-1)?.seq ?? "0";
      // The next page is read while this one is written.
      const [next] = await Promise.all([
        page.length < EVENT_PAGE ? [] : readEvents(from, tenant, last, EVENT_PAGE),
        writePage(into, columns, page, so),
      ]);
      so.reached.set(tenant, last);
      so.events += page.length;
      tell(so.events);
      page = next;
    }
  }
  return so;
}

async function writePage(into: Db, columns: Columns, page: readonly ReplayEvent[], so: Replayed): Promise<void> {
  await into.tx(async (sql) => {
    const ledger = emptyLedger(so.readThrough);
    const touched = touchedBy(page);
    for (const type of ["episode", "fact", "rule"] as const)
      for (const [id, row] of await loadRows(sql, type, touched[type])) ledger.memories[type].set(id, row);
    for (const event of page) applyEvent(ledger, event);
    await writeLedger(sql, columns, ledger);
    so.orphanCount += ledger.orphans.length;
    so.orphans.push(...ledger.orphans.slice(0, SHOWN - so.orphans.length));
  });
}

/**
 * `verifyReplay` with a scratch store that is opened, migrated and closed for it. Events that were folded while it was reading them are
 * found neither as they were nor as they are, so it then begins again.
 */
export async function verifyInScratch(
  source: Db,
  open: () => Promise<Db>,
  progress: ReplayProgress,
): Promise<ReplayReport> {
  for (let attempt = 1; ; attempt++) {
    const scratch = await open();
    try {
      await migrate(scratch);
      const mark = await checkpointMark(source);
      const report = await verifyReplay(source, scratch, progress);
      if (report.equal || attempt === ATTEMPTS || mark === (await checkpointMark(source))) return report;
    } finally {
      await scratch.close();
    }
  }
}

/**
 * Replays `source` into `scratch`, an empty migrated store, and compares all rows in both directions. It may run beside
 * writers: pages are short statements, and what differs is looked at again at the end, in one transaction in which the
 * stream and the rows agree.
 */
export async function verifyReplay(
  source: Db,
  scratch: Db,
  progress: ReplayProgress = () => undefined,
): Promise<ReplayReport> {
  const total = await countEvents(source);
  await dropConstraints(scratch);
  const so = await replay(source, scratch, newReplay(), (done) =>
    progress({ what: "replaying events", done, total: Math.max(total, done) }),
  );
  const rows: Record<string, number> = {};
  const suspects = new Map<string, string[]>();
  for (const table of Object.keys(REPLAYED)) {
    const compared = await compareTable(source, scratch, table, (done) =>
      progress({ what: `comparing ${table.replaceAll("_", " ")}`, done, total: done }),
    );
    rows[table] = compared.rows;
    if (compared.differing.length > 0) suspects.set(table, compared.differing);
  }
  const found = suspects.size === 0 ? NOTHING : await settle(source, scratch, so, suspects);
  const receipts = await verifyReceipts(source);
  const checkpoints = await verifyCheckpoints(source);
  const whole = receipts.faults.length + checkpoints.faults.length + so.orphanCount === 0;
  return {
    equal: found.differences.length === 0 && whole,
    events: so.events,
    rows,
    ...found,
    orphans: so.orphans,
    receipts,
    checkpoints,
    cutShort: [...suspects.values()].some((keys) => keys.length >= DIFFERING_KEYS),
  };
}

const NOTHING: { differing: Record<string, number>; differences: Difference[] } = { differing: {}, differences: [] };

/** Keys whose rows do not agree. Both sides come in the order of their keys, so each is read once. */
async function compareTable(source: Sql, scratch: Sql, table: string, tell: (rows: number) => void) {
  const differing: string[] = [];
  let rows = 0;
  let after = FIRST_UUID;
  for (;;) {
    const [stored, replayed] = await Promise.all([
      keyDigests(source, table, after, KEY_PAGE),
      keyDigests(scratch, table, after, KEY_PAGE),
    ]);
    const ends = [stored, replayed].filter((page) => page.length === KEY_PAGE).map((page) => page.at(-1)?.key ?? after);
    // Keys beyond the end of the shorter page are compared with the next pages.
    const [until] = ends.toSorted();
    const inside = (page: typeof stored) => page.filter(({ key }) => until === undefined || key <= until);
    const other = new Map(inside(replayed).map(({ key, digest }) => [key, digest]));
    for (const { key, digest, rows: n } of inside(stored)) {
      if (other.get(key) !== digest) differing.push(key);
      other.delete(key);
      rows += n;
    }
    differing.push(...other.keys());
    tell(rows);
    if (until === undefined || differing.length >= DIFFERING_KEYS) return { rows, differing };
    after = until;
  }
}

/** Compares the suspects again in one snapshot, after replaying what was written meanwhile: that is no difference. */
async function settle(source: Db, scratch: Db, so: Replayed, suspects: ReadonlyMap<string, readonly string[]>) {
  await replay(source, scratch, so);
  return source.tx(async (sql) => {
    await sql.query("set transaction isolation level repeatable read, read only");
    await replay(sql, scratch, so);
    const differing: Record<string, number> = {};
    const differences: Difference[] = [];
    for (const [table, keys] of suspects) {
      const [stored, replayed] = await Promise.all([rowsUnder(sql, table, keys), rowsUnder(scratch, table, keys)]);
      for (const id of new Set([...stored.keys(), ...replayed.keys()])) {
        const found = differencesOf(table, id, stored.get(id), replayed.get(id));
        if (found.length === 0) continue;
        differing[table] = (differing[table] ?? 0) + 1;
        differences.push(...found.slice(0, SHOWN - differences.length));
      }
    }
    return { differing, differences };
  });
}

function differencesOf(table: string, id: string, stored?: RowJson, replayed?: RowJson): Difference[] {
  if (!stored || !replayed)
    return [{ table, id, column: "*", stored: stored ? "a row" : "no row", replayed: replayed ? "a row" : "no row" }];
  return Object.keys({ ...stored, ...replayed })
    .filter((column) => JSON.stringify(stored[column]) !== JSON.stringify(replayed[column]))
    .map((column) => ({ table, id, column, stored: stored[column], replayed: replayed[column] }));
}
