/**
 * Deletes expired episodes, and evicts episodes from tiers that are over their capacity. Runs over all tenants.
 *
 * An episode that was not consolidated yet does not expire: after a grace period it becomes a dead letter, and stays one for as
 * long again, so that a person can redrive it.
 */
import type { Sql } from "../../adapters/db/port.ts";
import { DAY_MS } from "../../domain/lifecycle/decay.ts";
import { TIERS, type Tier } from "../../domain/lifecycle/tiers.ts";
import { clip } from "../../domain/text/text.ts";
import { appendForTenants } from "../../store/history/events.ts";
import { dropLexical } from "../../store/index/lexical.ts";
import {
  type Crowded,
  countEvictable,
  countExpired,
  countUnlearned,
  episodeWindowEnd,
  findCrowded,
  type Grace,
  type IdWindow,
  type Leaving,
  lockEvictable,
  lockExpired,
  lockUnlearned,
  type Unlearned,
} from "../../store/jobs/cleanup.ts";
import { type EpisodeStanding, setStanding } from "../../store/jobs/consolidation.ts";
import { FIRST_ID, foldedOn } from "../../store/jobs/sweep.ts";
import { deleteEpisodes } from "../../store/memories/episodes.ts";
import { tierPolicy } from "../settings.ts";
import { eventOf } from "../write.ts";
import { defineJob, type JobContext } from "./job.ts";
import { type DropFolder, dropFolder, type JobTally, jobCall, newTally } from "./job-call.ts";

const NAME = "episode_cleanup";

/** Deleted in one transaction: a search on the embedded store waits for it. */
const BATCH = { pglite: 100, postgres: 1000 } as const;

export const episodeCleanup = defineJob({
  name: NAME,
  about:
    "Deletes expired episodes that were learned from, and consolidated ones that nobody needs when a tier is over its capacity.",
  cron: "0 4 * * *",
  async run(context) {
    const tally = newTally();
    const complete =
      (await giveUpUnlearned(context, tally)) &&
      (await dropExpired(context, tally)) &&
      (await makeRoom(context, tally));
    return tally.report(complete);
  },
});

const graceOf = ({ memory, now }: JobContext): Grace => ({
  now,
  since: new Date(now.getTime() - memory.settings.episodes.unlearned_grace_days * DAY_MS),
});

async function giveUpUnlearned(context: JobContext, tally: JobTally): Promise<boolean> {
  const { memory } = context;
  const grace = graceOf(context);
  if (context.dryRun) {
    tally.count("dead_lettered", await countUnlearned(memory.db, grace));
    return true;
  }
  const limit = BATCH[memory.db.kind];
  for (;;) {
    if (context.interrupted()) return false;
    const given = await memory.db.tx(async (sql) => {
      const rows = await lockUnlearned(sql, grace, limit);
      const standings = rows.map((row) => ({ row, set: unlearned(context, row) }));
      await setStanding(
        sql,
        "pending",
        standings.map(({ row: { id }, set }) => ({ id, ...set })),
      );
      await appendForTenants(
        sql,
        standings.map(({ row, set }) =>
          eventOf(jobCall(context, NAME, row.tenant_id), {
            type: "episode.dead_lettered",
            entity: { type: "episode", id: row.id },
            scope: row.butler,
            payload: { set, from: "pending", why: "never learned from" },
          }),
        ),
      );
      return rows.length;
    });
    tally.count("dead_lettered", given);
    if (given < limit) return true;
  }
}

function unlearned({ memory }: JobContext, row: Unlearned): EpisodeStanding {
  const waited = `Not learned from within ${memory.settings.episodes.unlearned_grace_days} days after its time was over`;
  const error = row.last_consolidation_error;
  return {
    consolidation_status: "dead_letter",
    consolidation_attempts: row.consolidation_attempts,
    last_consolidation_error: clip(error === null ? `${waited}.` : `${waited}; the last time: ${error}`, 500),
    next_consolidation_retry_at: null,
  };
}

/** Rows read by one statement: about 10 ms on the embedded store. */
const WINDOW = 2_000;

async function dropExpired(context: JobContext, tally: JobTally): Promise<boolean> {
  const { memory } = context;
  const grace = graceOf(context);
  if (context.dryRun) {
    tally.count("expired", await countExpired(memory.db, grace));
    return true;
  }
  const limit: number = BATCH[memory.db.kind];
  const folds = dropFolder(memory);
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    const window: IdWindow = { after, to: await episodeWindowEnd(memory.db, after, WINDOW) };
    for (let gone = limit; gone === limit; ) {
      if (context.interrupted()) return false;
      gone = await remove(context, folds, (sql) => lockExpired(sql, grace, window, limit), whyExpired);
      tally.count("expired", gone);
    }
    after = window.to;
  }
  return true;
}

const whyExpired = (row: Leaving) => ({ why: "expired", tier: row.tier, expires_at: row.expires_at });

async function makeRoom(context: JobContext, tally: JobTally): Promise<boolean> {
  const { memory, now } = context;
  const capacity = capacityOf(context);
  for (const crowded of await findCrowded(memory.db, capacity, now)) {
    const over = crowded.entries - capacity[crowded.tier];
    const evicted = await evict(context, crowded, over, capacity[crowded.tier]);
    tally.count("evicted", evicted);
    if (context.interrupted()) return false;
    if (evicted < over)
      tally.note(
        `${crowded.tier} of ${crowded.tenant_id}/${crowded.butler} is ${over - evicted} over its ${capacity[crowded.tier]}: ` +
          "the rest is not consolidated yet, or protected because it was referenced",
      );
  }
  return true;
}

function capacityOf({ memory }: JobContext): Record<Tier, number> {
  const entries = TIERS.map((tier) => [tier, tierPolicy(memory.settings, tier).maxEntries] as const);
  return Object.fromEntries(entries) as Record<Tier, number>;
}

async function evict(context: JobContext, crowded: Crowded, over: number, capacity: number): Promise<number> {
  const { memory, now } = context;
  const { protection_threshold } = memory.settings.long;
  if (context.dryRun) return Math.min(over, await countEvictable(memory.db, crowded, now, protection_threshold));
  let evicted = 0;
  const folds = dropFolder(memory);
  while (evicted < over && !context.interrupted()) {
    const limit = Math.min(over - evicted, BATCH[memory.db.kind]);
    const entries = crowded.entries - evicted;
    const gone = await remove(
      context,
      folds,
      (sql) => lockEvictable(sql, crowded, now, protection_threshold, limit),
      ({ tier, last_referenced_at, reference_count }) => ({
        why: "capacity",
        tier,
        entries,
        capacity,
        last_referenced_at,
        reference_count,
      }),
    );
    evicted += gone;
    if (gone < limit) break;
  }
  return evicted;
}

/** One batch: rows, words, vectors and references are deleted together, with an event for each episode. */
async function remove(
  context: JobContext,
  folds: DropFolder,
  pick: (sql: Sql) => Promise<Leaving[]>,
  payload: (row: Leaving) => Record<string, unknown>,
): Promise<number> {
  const { db } = context.memory;
  const { gone, shelves } = await db.tx(async (sql) => {
    const rows = await pick(sql);
    if (rows.length === 0) return { gone: 0, shelves: [] };
    const ids = rows.map((row) => row.id);
    const shelves = await foldedOn(sql, ids);
    await dropLexical(sql, ids);
    await deleteEpisodes(sql, ids);
    const events = rows.map((row) =>
      eventOf(jobCall(context, NAME, row.tenant_id), {
        type: "episode.deleted",
        entity: { type: "episode", id: row.id },
        scope: row.butler,
        payload: payload(row),
      }),
    );
    await appendForTenants(sql, events);
    return { gone: rows.length, shelves };
  });
  await folds.dropped(shelves);
  return gone;
}
