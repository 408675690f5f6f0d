/** `butler bench fleet`: many people over days, each a tenant of one store, on a clock that the benchmark moves. */
import { defaultButler } from "../../daemon/config/config.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import { DAY_MS } from "../../engine/domain/lifecycle/decay.ts";
import { jobNamed } from "../../engine/memory/keep/jobs.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import type { Context } from "../../main/program/command.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { type BenchHome, type BenchHomeOptions, thisMachine, withBenchHome } from "../bench-home.ts";
import { ownCpuMs } from "../family.ts";
import { round, spread } from "../figures.ts";
import { type KnownVectors, knownVectors } from "../known-vectors.ts";
import { distinct, picker, promptText } from "../sentences.ts";
import { serverCpuMs } from "../sql/server-cpu.ts";
import { type Backlog, backlogAt, tableSizes } from "../sql/tables.ts";
import {
  type Day,
  extrapolated,
  type FleetReport,
  fleetLines,
  fleetVerdicts,
  growthOf,
  type JobTime,
  NO_WORK,
  perUserOf,
  sum,
  type Work,
} from "./figures.ts";
import { newBank, newLife, newPerson, type Person, type Stay, session } from "./life.ts";

export interface FleetOptions extends BenchHomeOptions {
  readonly users: number;
  readonly days: number;
  /** Of each user, a day. */
  readonly sessions: number;
  /** How many of the users go on after the first day; the jobs are for all of them. */
  readonly sample: number;
  readonly json: boolean;
}

type Life = Pick<FleetOptions, "users" | "days" | "sessions" | "sample">;

/** The first day: any would do, but the same one for all runs. */
const START = Date.UTC(2026, 0, 5);
/** As the schedule has it: learning four times a day, the others once, in this order. */
const QUARTERS = 4;
const NIGHTLY = ["promote", "decay_sweep", "episode_cleanup", "retention"] as const;
const WEEKLY = "hygiene";

/** Sentences of each kind: more than anybody says in a year of days with ten sessions. */
const BANK = 4_000;
/** People whose sessions run at the same time: a server has as many connections. */
const AT_ONCE = { pglite: 1, postgres: 8 } as const;

interface Stage extends Stay {
  readonly people: readonly Person[];
  /** What was done since it was last taken. */
  readonly work: WorkMeter;
  readonly known: KnownVectors["counts"];
  set(now: number): void;
}

export async function benchFleet(options: FleetOptions, context: Context): Promise<void> {
  const report = await withBenchHome(options, context, (bench) => measure(bench, options));
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of fleetLines(report)) context.say(line);
}

async function measure(bench: BenchHome, life: Life): Promise<FleetReport> {
  const { users, days, sessions, sample } = life;
  const machine = thisMachine();
  let now = START;
  const clock: Clock = { now: () => new Date(now), fixed: true };
  const stores = { folder: bench.home.store, databaseUrl: bench.databaseUrl };
  const embedder = await openOnnxEmbedder(bench.model);
  const known = await knownVectors(embedder);
  const work = workMeter();
  const open = memoryOpener({ stores, clock, log: silentLog, meter: work.meter });
  const memory = await open(defaultButler(bench.butler.name), known.embedder);
  try {
    const people = Array.from({ length: users }, (_, index) => newPerson(index));
    const stage: Stage = {
      ...{ memory, people, sessions, work, known: known.counts, bank: newBank(BANK), lived: newLife() },
      set(at) {
        now = at;
      },
    };
    const db = asOwner(memory, "lab");
    const textMs = await textCpuMs(embedder);
    const before = await tableSizes(db);
    const by_day: Day[] = [];
    for (let day = 0; day < days; day++) {
      bench.progress.show(day, days, "days");
      by_day.push(await liveDay({ ...stage, people: day === 0 ? people : people.slice(0, sample) }, day));
    }
    const tables = growthOf(before, await tableSizes(db), by_day);
    const texts = { ...known.counts, cpu_ms_each: round(textMs, 2) };
    const per_user = perUserOf(by_day, tables, texts);
    const fleet = extrapolated({ per_user, by_day, texts });
    return {
      ...{ users, days, sessions, sample, store: bench.store, machine },
      calls: Object.fromEntries([...stage.lived.times].map(([tool, times]) => [tool, spread(times)])),
      errors: Object.fromEntries(stage.lived.errors),
      by_day,
      tables,
      texts,
      per_user,
      fleet,
      targets: fleetVerdicts({ by_day, fleet }),
    };
  } finally {
    await memory.close();
    await embedder.close();
  }
}

/** Sessions are spread over the day; every six hours what was said is learned from, and at its end the nightly jobs run. */
async function liveDay(stage: Stage, day: number): Promise<Day> {
  const { memory, people } = stage;
  const start = START + day * DAY_MS;
  const db = asOwner(memory, "lab");
  const jobs: JobTime[] = [];
  let worst: Backlog = { waiting: 0, age_hours: 0 };
  let calls: Work = NO_WORK;
  for (let quarter = 0; quarter < QUARTERS; quarter++) {
    calls = sum(calls, await worked(stage, () => liveQuarter(stage, day, quarter)));
    stage.set(start + ((quarter + 1) * DAY_MS) / QUARTERS - 1);
    const backlog = await backlogAt(db, memory.clock.now());
    if (backlog.age_hours >= worst.age_hours) worst = backlog;
    jobs.push(await runJob(stage, "consolidate"));
  }
  const left = (await backlogAt(db, memory.clock.now())).waiting;
  for (const job of day % 7 === 6 ? [...NIGHTLY, WEEKLY] : NIGHTLY) jobs.push(await runJob(stage, job));
  const sizes = await tableSizes(db);
  const total = (of: "rows" | "bytes") => sizes.reduce((all, size) => all + size[of], 0);
  return { day, users: people.length, backlog: worst, left, jobs, calls, rows: total("rows"), bytes: total("bytes") };
}

async function liveQuarter(stage: Stage, day: number, quarter: number): Promise<void> {
  const { memory, people, sessions } = stage;
  const group = AT_ONCE[memory.db.kind];
  for (let number = quarter; number < sessions; number += QUARTERS)
    for (let from = 0; from < people.length; from += group) {
      const share = (number / sessions + from / people.length) / QUARTERS;
      stage.set(START + day * DAY_MS + ((quarter + Math.min(0.99, share)) * DAY_MS) / QUARTERS);
      const some = people.slice(from, from + group);
      await Promise.all(some.map((person) => session(stage, person, `day-${day}-${number}`)));
    }
  await memory.afterwards.settled();
}

async function runJob(stage: Stage, job: string): Promise<JobTime> {
  const { memory, known } = stage;
  const started = performance.now();
  const before = known.known;
  let changed = 0;
  const work = await worked(stage, async () => {
    const context = { memory, now: memory.clock.now(), dryRun: false, interrupted: () => false };
    changed = (await jobNamed(job)?.run(context))?.changed ?? 0;
  });
  const seconds = round((performance.now() - started) / 1_000, 3);
  return { job, seconds, changed, known_texts: known.known - before, ...work };
}

/** What some work took of this process, of a server, and how many statements it made. */
async function worked({ memory, work }: Stage, act: () => Promise<void>): Promise<Work> {
  const db = asOwner(memory, "lab");
  const server = async () => (memory.db.kind === "postgres" ? await serverCpuMs(db) : null);
  const [cpu, before] = [ownCpuMs(), await server()];
  work.take();
  await act();
  const statements = work.take();
  const after = await server();
  return {
    cpu_seconds: round((ownCpuMs() - cpu) / 1_000, 3),
    server_cpu_seconds: before === null || after === null ? null : round((after - before) / 1_000, 3),
    statements,
  };
}

const SAMPLE_TEXTS = 40;

/** What one text costs the model. */
async function textCpuMs(embedder: Embedder): Promise<number> {
  const p = picker(20_270_102);
  const texts = distinct(2 * SAMPLE_TEXTS, () => promptText(p));
  for (const text of texts.slice(SAMPLE_TEXTS)) await embedder.embed(text, "write");
  const cpu = ownCpuMs();
  for (const text of texts.slice(0, SAMPLE_TEXTS)) await embedder.embed(text, "write");
  return (ownCpuMs() - cpu) / SAMPLE_TEXTS;
}

interface WorkMeter {
  readonly meter: Meter;
  /** Statements since it was last taken; those that begin and end a transaction are not counted. */
  take(): number;
}

function workMeter(): WorkMeter {
  let statements = 0;
  return {
    meter: {
      observe(name) {
        if (name === "butler_store_statement_seconds") statements++;
      },
      count: () => undefined,
    },
    take() {
      const taken = statements;
      statements = 0;
      return taken;
    },
  };
}
