/** `butler bench fleet`: many people over days, each a tenant of one store, on a clock that the benchmark moves. */
import { defaultButler } from "../../daemon/config/config.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { DAY_MS } from "../../engine/domain/lifecycle/decay.ts";
import { jobNamed } from "../../engine/memory/keep/jobs.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import type { Context } from "../../main/program/command.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { type BenchHome, type BenchHomeOptions, thisMachine, withBenchHome } from "../bench-home.ts";
import { ownCpuMs } from "../family.ts";
import { round, spread } from "../figures.ts";
import { picker } from "../sentences.ts";
import { type Backlog, backlogAt, tableSizes } from "../sql/tables.ts";
import {
  type Day,
  extrapolated,
  type FleetReport,
  fleetLines,
  fleetVerdicts,
  growthOf,
  type JobTime,
  perUserOf,
} from "./figures.ts";
import { type Lived, newLife, type Person, session } from "./life.ts";

export interface FleetOptions extends BenchHomeOptions {
  readonly users: number;
  readonly days: number;
  /** Of each user, a day. */
  readonly sessions: number;
  readonly json: boolean;
}

type Life = Pick<FleetOptions, "users" | "days" | "sessions">;

/** The first day: any would do, but the same one for all runs. */
const START = Date.UTC(2026, 0, 5);
/** As the schedule has it: learning four times a day, the others once, in this order. */
const QUARTERS = 4;
const NIGHTLY = ["promote", "decay_sweep", "episode_cleanup", "retention"] as const;
const WEEKLY = "hygiene";

interface Stage {
  readonly memory: Memory;
  readonly people: readonly Person[];
  readonly lived: Lived;
  set(now: number): void;
}

export async function benchFleet(options: FleetOptions, context: Context): Promise<void> {
  const report = await withBenchHome(options, context, (bench) => measure(bench, options));
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of fleetLines(report)) context.say(line);
}

async function measure(bench: BenchHome, life: Life): Promise<FleetReport> {
  const { users, days, sessions } = life;
  const machine = thisMachine();
  let now = START;
  const clock: Clock = { now: () => new Date(now), fixed: true };
  const stores = { folder: bench.home.store, databaseUrl: bench.databaseUrl };
  const embedder = await openOnnxEmbedder(bench.model);
  const memory = await memoryOpener({ stores, clock, log: silentLog })(defaultButler(bench.butler.name), embedder);
  try {
    const people = Array.from({ length: users }, (_, index) => ({
      tenant: `user-${index}`,
      p: picker(31_337 * (index + 1)),
      rules: [],
    }));
    const stage: Stage = {
      memory,
      people,
      lived: newLife(),
      set(at) {
        now = at;
      },
    };
    const before = await tableSizes(asOwner(memory, "lab"));
    const by_day: Day[] = [];
    for (let day = 0; day < days; day++) {
      bench.progress.show(day, days, "days");
      by_day.push(await liveDay(stage, day, sessions));
    }
    const tables = growthOf(before, await tableSizes(asOwner(memory, "lab")), users);
    const figures = { users, by_day, per_user: perUserOf(by_day, tables, users) };
    const fleet = extrapolated(figures);
    return {
      ...{ users, days, sessions, store: bench.store, machine },
      calls: Object.fromEntries([...stage.lived.times].map(([tool, times]) => [tool, spread(times)])),
      errors: Object.fromEntries(stage.lived.errors),
      by_day,
      tables,
      per_user: figures.per_user,
      fleet,
      targets: fleetVerdicts({ by_day, fleet }),
    };
  } finally {
    await memory.close();
    await embedder.close();
  }
}

/** Sessions are spread over the day; every six hours what was said is learned from, and at its end the nightly jobs run. */
async function liveDay(stage: Stage, day: number, sessions: number): Promise<Day> {
  const { memory, people, lived } = stage;
  const start = START + day * DAY_MS;
  const db = asOwner(memory, "lab");
  const jobs: JobTime[] = [];
  let worst: Backlog = { waiting: 0, age_hours: 0 };
  let [callCpu, jobCpu] = [0, 0];
  for (let quarter = 0; quarter < QUARTERS; quarter++) {
    const cpu = ownCpuMs();
    for (let number = quarter; number < sessions; number += QUARTERS)
      for (const [index, person] of people.entries()) {
        const share = (number / sessions + index / people.length) / QUARTERS;
        stage.set(start + ((quarter + Math.min(0.99, share)) * DAY_MS) / QUARTERS);
        await session(memory, person, `day-${day}-${number}`, sessions, lived);
      }
    await memory.afterwards.settled();
    callCpu += cpuSeconds(cpu);
    stage.set(start + ((quarter + 1) * DAY_MS) / QUARTERS - 1);
    const backlog = await backlogAt(db, memory.clock.now());
    if (backlog.age_hours >= worst.age_hours) worst = backlog;
    const since = ownCpuMs();
    jobs.push(await runJob(memory, "consolidate"));
    jobCpu += cpuSeconds(since);
  }
  const left = (await backlogAt(db, memory.clock.now())).waiting;
  const since = ownCpuMs();
  for (const job of day % 7 === 6 ? [...NIGHTLY, WEEKLY] : NIGHTLY) jobs.push(await runJob(memory, job));
  jobCpu += cpuSeconds(since);
  const sizes = await tableSizes(db);
  const total = (of: "rows" | "bytes") => sizes.reduce((sum, size) => sum + size[of], 0);
  const cpu = { call_cpu_seconds: round(callCpu, 2), job_cpu_seconds: round(jobCpu, 2) };
  return { day, backlog: worst, left, jobs, ...cpu, rows: total("rows"), bytes: total("bytes") };
}

const cpuSeconds = (since: number) => (ownCpuMs() - since) / 1_000;

async function runJob(memory: Memory, job: string): Promise<JobTime> {
  const started = performance.now();
  const context = { memory, now: memory.clock.now(), dryRun: false, interrupted: () => false };
  const report = await jobNamed(job)?.run(context);
  return { job, seconds: round((performance.now() - started) / 1_000, 3), changed: report?.changed ?? 0 };
}
