/** What becomes of the runs of jobs that a store has from before they waited and held leases in `job_runs`. */
import { expect, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { mem_0008_waiting_runs } from "../../src/engine/store/migrations/mem_0008_waiting_runs.ts";
import { kyselyOver } from "../../src/engine/store/schema/kysely.ts";
import { migratedSnapshot } from "../support/stores.ts";

const SLOT = "2026-03-02T03:00:00.000Z";

it("what was to be tried again waits, what was under way has failed, and all that ended stays", async () => {
  const db = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
  const chain = kyselyOver(db);
  await mem_0008_waiting_runs.down(chain);
  const run = (job: string, state: string, attempt: number, report: object | null, slot: string | null = SLOT) =>
    db.query(
      `insert into job_runs (id, job, state, trigger, slot, attempt, started_at, finished_at, report)
       values (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, $8::jsonb)`,
      [
        ...[job, state, slot === null ? "manual" : "schedule", slot, attempt, SLOT, state === "running" ? null : SLOT],
        report === null ? null : JSON.stringify(report),
      ],
    );
  await run("decay_sweep", "failed", 1, null);
  await run("promote", "running", 2, null);
  await run("reembed", "failed", 1, { complete: false });
  await run("consolidate", "failed", 1, { complete: true, failed: "no provider" });
  await run("hygiene", "dead_letter", 4, null);
  await run("episode_cleanup", "failed", 1, null, null);

  const rows = (columns: string) =>
    db.query<Record<string, unknown>>(`select ${columns} from job_runs order by job, attempt`);
  const shown = async (columns: string) => (await rows(columns)).map((row) => Object.values(row));
  await mem_0008_waiting_runs.up(chain);
  expect(await shown("job, state, attempt, retries, due_at <= now() as due")).toEqual([
    ["consolidate", "failed", 1, 0, null],
    ["decay_sweep", "failed", 1, 0, null],
    ["decay_sweep", "waiting", 2, 1, true],
    ["episode_cleanup", "failed", 1, 0, null],
    ["hygiene", "dead_letter", 4, 0, null],
    ["promote", "failed", 2, 0, null],
    ["promote", "waiting", 3, 2, true],
    ["reembed", "failed", 1, 0, null],
    ["reembed", "waiting", 2, 1, true],
  ]);
  await mem_0008_waiting_runs.down(chain);
  expect(await shown("job, state")).toHaveLength(6);
  await db.close();
});
