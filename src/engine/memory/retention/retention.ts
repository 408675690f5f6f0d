/**
 * Keeps the stream from growing for ever. Readings of old days are added up, and, where the settings say how long events are kept, all
 * older events of a memory become one. Every batch is one transaction with a checkpoint, after which replay comes to the same rows: a
 * killed run is simply run again. Runs over all tenants.
 */
import { DAY_MS } from "../../domain/lifecycle/decay.ts";
import { readsOf } from "../../domain/replay.ts";
import { tenantsWithEvents } from "../../store/history/replay.ts";
import {
  countMergeable,
  countOld,
  foldable,
  hasUnlinked,
  otherEvents,
  type ReadsReach,
  reachBefore,
  readEventsOf,
  readsBefore,
} from "../../store/history/retention.ts";
import { FIRST_ID } from "../../store/jobs/sweep.ts";
import { defineJob, type JobContext } from "../keep/job.ts";
import { type JobTally, newTally } from "../keep/job-call.ts";
import { type Folding, fold, holdCheckpoints } from "./checkpoints.ts";
import { foldBatch } from "./fold-old-memories.ts";
import { mergeOldReads } from "./merge-old-reads.ts";

/** Memories, or events about none, in one transaction: a search on the embedded store waits for it. */
const BATCH = { pglite: 50, postgres: 200 } as const;

/** Tenants that one statement is asked about: of how many there is nothing old is known without asking each. */
const TENANTS = 200;

export const retention = defineJob({
  name: "retention",
  about:
    "Adds up the readings of old days, and makes one event of all that are older than events are kept; replay starts there.",
  cron: "30 4 * * *",
  async run(context) {
    const tally = newTally();
    const tenants = await tenantsWithEvents(context.memory.db);
    for (let at = 0; at < tenants.length; at += TENANTS)
      if (!(await keepSome(context, tally, tenants.slice(at, at + TENANTS)))) return tally.report(false);
    return tally.report(true);
  },
});

/** The beginning of a day in UTC: a day is added up when it is over. */
const dayBefore = (now: Date, days: number): Date => new Date(Math.floor(now.getTime() / DAY_MS - days) * DAY_MS);

async function keepSome(context: JobContext, tally: JobTally, tenants: readonly string[]): Promise<boolean> {
  const { memory, now } = context;
  const old = await readsBefore(memory.db, tenants, dayBefore(now, memory.settings.events.keep_reads_days));
  const reaches = new Map(old.map((reach) => [reach.tenant, reach]));
  for (const tenant of tenants)
    if (!(await keepReads(context, tally, reaches.get(tenant))) || !(await keepEvents(context, tally, tenant)))
      return false;
  return true;
}

async function keepReads(context: JobContext, tally: JobTally, reach: ReadsReach | undefined): Promise<boolean> {
  if (reach === undefined) return true;
  const { from, ...through } = reach;
  if (!context.dryRun) return mergeOldReads(context, tally, through, from);
  tally.count("reads_added_up", await countMergeable(context.memory.db, through, from));
  return true;
}

async function keepEvents(context: JobContext, tally: JobTally, tenant: string): Promise<boolean> {
  const { memory, now, dryRun } = context;
  const { keep_days } = memory.settings.events;
  if (keep_days === undefined) return true;
  // That an episode was given up is told by an event for so long.
  const days = Math.max(keep_days, memory.settings.episodes.unlearned_grace_days);
  const reached = await reachBefore(memory.db, tenant, new Date(now.getTime() - days * DAY_MS));
  if (reached === undefined) return true;
  const reach = { tenant, through: reached.through };
  if (dryRun) {
    const { folded, removed } = await countOld(memory.db, reach);
    tally.count("events_folded", folded);
    tally.count("events_removed", removed);
    if (folded + removed > 0)
      tally.note(`${tenant}: single events would be kept since ${reached.until.toISOString()}.`);
    return true;
  }
  const folding = (kind: Folding["kind"]): Folding => ({ id: memory.ids.next(now), kind, now, ...reach, ...reached });
  const waiting = await foldAll(context, tally, folding);
  if (waiting === undefined || !(await removeOthers(context, tally, folding, waiting))) return false;
  for (const [why, n] of counted(waiting))
    tally.note(`${tenant}: all events of ${n === 1 ? "a memory" : `${n} memories`} stay: ${why}.`);
  return true;
}

type NewFolding = (kind: Folding["kind"]) => Folding;

/** Gives the memories whose events stay; undefined when it was interrupted. */
async function foldAll({ memory, interrupted }: JobContext, tally: JobTally, folding: NewFolding) {
  const limit = BATCH[memory.db.kind];
  const first = folding("memories");
  const unlinks = await hasUnlinked(memory.db, first.tenant);
  const waiting = new Map<string, string>();
  const some = async (ids: readonly string[]) => {
    const { removed, refused } = await foldBatch(memory, folding("memories"), ids, unlinks);
    tally.count("events_folded", removed);
    for (const [id, why] of refused) waiting.set(id, why);
  };
  const done = new Set<string>();
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    if (interrupted()) return undefined;
    const ids: string[] = await foldable(memory.db, first, after, limit);
    if (ids.length > 0) await some(ids);
    for (const id of ids) done.add(id);
    after = ids.length < limit ? undefined : ids.at(-1);
  }
  // Memories that were read, and of which nothing else happened.
  for (let after: string | undefined = "0"; after !== undefined; ) {
    const page = await readEventsOf(memory.db, { ...first, after, limit });
    const read = [...new Set(page.flatMap((event) => readsOf(event).map(({ id }) => id)))].filter(
      (id) => !done.has(id),
    );
    for (let from = 0; from < read.length; from += limit) {
      if (interrupted()) return undefined;
      await some(read.slice(from, from + limit));
    }
    for (const id of read) done.add(id);
    after = page.length < limit ? undefined : page.at(-1)?.seq;
  }
  return waiting;
}

async function removeOthers(
  { memory, interrupted }: JobContext,
  tally: JobTally,
  folding: NewFolding,
  waiting: ReadonlyMap<string, string>,
): Promise<boolean> {
  const limit = BATCH[memory.db.kind] * 10;
  for (;;) {
    if (interrupted()) return false;
    const next = folding("events");
    const removed = await memory.db.tx(async (sql) => {
      const before = await holdCheckpoints(sql, next.tenant);
      const old = await otherEvents(sql, next, [...waiting.keys()], limit);
      if (old.length > 0) await fold(sql, next, before, new Map(), old);
      return old.length;
    });
    tally.count("events_removed", removed);
    if (removed < limit) return true;
  }
}

function counted(waiting: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const why of waiting.values()) counts.set(why, (counts.get(why) ?? 0) + 1);
  return counts;
}
