/**
 * Runs one job on a prepared store and is killed on the way: a real kill -9 by its own hand, at a gate that the test
 * chose. Gates are numbered by what the job asks of the store, so the same number is the same moment in every run.
 */
import { fileURLToPath } from "node:url";
import { fixedClock } from "../../src/engine/adapters/clock.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";
import type { JobName, JobReport } from "../../src/engine/memory/keep/job.ts";
import { jobNamed } from "../../src/engine/memory/keep/jobs.ts";
import { openMemory } from "../../src/engine/memory/open.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { hashEmbedder } from "./hash-embedder.ts";

/** `alone`: a statement outside of a transaction, or the first of one. `inside`: a later one. `commit`: all but the end. */
export type Gate = "alone" | "inside" | "commit";

export type Place = { readonly dir: string } | { readonly url: string };

export interface Sentence {
  readonly place: Place;
  readonly job: JobName;
  /** The number of the gate, from 0. */
  readonly gate: number;
  /** Not before the statement but while the store is at work on it. */
  readonly during: boolean;
}

/** When the jobs run; the store is furnished in the sixty days before. */
export const RUN_AT = new Date("2026-04-30T12:00:00.000Z");

const settings = Settings.parse({
  eden: { max_entries: 100 },
  long: { max_entries: 5 },
  events: { keep_days: 15, keep_reads_days: 1 },
  retrieval: { vector_index: "ivfflat" },
});

export const openPlace = (place: Place, durable = true): Promise<Db> =>
  "dir" in place ? openPglite({ ...place, durable }) : openPostgres(place);

/** Tells each gate before it opens. With `small`, batches are those of the embedded store, so that there are several. */
function gated(db: Db, small: boolean, pass: (gate: Gate) => void): Db {
  return wrapDb(db, (given) => ({
    kind: small ? "pglite" : db.kind,
    query(text, params) {
      pass("alone");
      return given.query(text, params);
    },
    exec(script) {
      pass("alone");
      return given.exec(script);
    },
    tx: (work) =>
      given.tx(async (sql) => {
        let gate: Gate = "alone";
        const inner: Sql = {
          query(text, params) {
            pass(gate);
            gate = "inside";
            return sql.query(text, params);
          },
        };
        const result = await work(inner);
        pass("commit");
        return result;
      }),
  }));
}

export type Run = (pass?: (gate: Gate) => void) => Promise<JobReport>;

/** Opens the store with another model than it was furnished with, to run one job in it, and closes it again. */
export async function withJob<T>(db: Db, name: JobName, use: (run: Run) => Promise<T>): Promise<T> {
  let told: (gate: Gate) => void = () => undefined;
  const memory = await openMemory({
    butler: "general",
    role: "butler",
    // An index is built in another way on a server, and that way must stand a kill too.
    db: gated(db, name !== "reembed" && name !== "hygiene", (gate) => told(gate)),
    clock: fixedClock(RUN_AT),
    ids: uuidv7Source(),
    embedder: hashEmbedder("b"),
    tokenizer: await openTokenizer("o200k_base"),
    settings,
    log: silentLog,
  });
  const job = jobNamed(name);
  if (!job) throw new Error(`there is no job ${name}`);
  try {
    return await use((pass = () => undefined) => {
      told = pass;
      return job.run({ memory, now: RUN_AT, dryRun: false, interrupted: () => false });
    });
  } finally {
    await memory.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { place, job, gate, during } = JSON.parse(process.argv[2] ?? "") as Sentence;
  const die = () => process.kill(process.pid, "SIGKILL");
  let passed = 0;
  await withJob(await openPlace(place), job, (run) =>
    run(() => {
      if (passed++ !== gate) return;
      if (during) setImmediate(die);
      else die();
    }),
  );
}
