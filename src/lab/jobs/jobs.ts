/** The stores that `butler bench jobs` measures on: thrown away afterwards, without a model. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultButler } from "../../daemon/config/config.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { openPglite } from "../../engine/adapters/db/pglite.ts";
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { migrate } from "../../engine/store/schema/migrate.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { residentMb } from "../latency/processes.ts";
import { measureReplay, measureSweep, type ReplayFigures, type SweepFigures } from "./measure.ts";

export interface JobFigures {
  readonly store: "pglite" | "postgres";
  readonly decay_sweep: SweepFigures;
  readonly replay: ReplayFigures;
}

const REPLAYED_EPISODES = 5000;

export async function benchJobs(facts: number, databaseUrl: string | undefined): Promise<JobFigures> {
  const folder = await mkdtemp(join(tmpdir(), "butler-bench-"));
  const butler = defaultButler(`bench_${process.pid}`);
  const place = { folder: (name: string) => join(folder, name), databaseUrl };
  try {
    const memory = await memoryOpener({ stores: place, clock: systemClock, log: silentLog })(butler, undefined);
    try {
      // The replay comes first: the facts of the sweep are inserted by SQL and have no events.
      const scratch = await openPglite({ dir: undefined });
      await migrate(scratch);
      const replayed = await measureReplay(memory, REPLAYED_EPISODES, scratch).finally(() => scratch.close());
      const sweep = await measureSweep(memory, facts, () => residentMb(process.pid) ?? 0);
      return { store: memory.db.kind, decay_sweep: sweep, replay: replayed };
    } finally {
      await memory.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    if (databaseUrl !== undefined) await dropButler(databaseUrl, butler.name);
  }
}

async function dropButler(url: string, name: string): Promise<void> {
  const db = await openPostgres({ url, max: 1 });
  await db.exec(`drop database if exists "butler_${name}" with (force)`);
  await db.close();
}

export function jobLines({ store, decay_sweep: sweep, replay }: JobFigures): string[] {
  const facts = sweep.facts.toLocaleString("en");
  const meanwhile = sweep.search_meanwhile;
  return [
    `decay_sweep over ${facts} facts on ${store}: ${sweep.seconds} s, ${sweep.changed.toLocaleString("en")} changed`,
    `  the same again: ${sweep.again_seconds} s, nothing to change`,
    `  memory_search beside it: p50 ${meanwhile.p50} ms, p95 ${meanwhile.p95} ms (${meanwhile.count} calls)`,
    `  resident memory of this process at most ${sweep.peak_mb} MB`,
    `replay into an empty store: ${replay.events_per_second.toLocaleString("en")} events a second (${replay.events.toLocaleString("en")} events)`,
  ];
}
