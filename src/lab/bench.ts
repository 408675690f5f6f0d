import { MOST_PROMPTS } from "./intent/memories.ts";

export { usage } from "../main/commands/bench.ts";

import type { ExitCode } from "../doors/failures.ts";
import { invalid } from "../engine/domain/errors.ts";
import { type CommandModule, type Context, readOptions } from "../main/program/command.ts";
import { benchHomeOptions, flag, readCount, serverOf, takeFill, text } from "./bench-options.ts";
import { benchConsolidation } from "./consolidation/consolidation.ts";
import { benchEveryday } from "./everyday/everyday.ts";
import { benchWeek } from "./everyday/week/week.ts";
import { benchFleet } from "./fleet/fleet.ts";
import { benchHooks } from "./hooks/hooks.ts";
import { benchIntent } from "./intent/intent.ts";
import { benchJobs, jobLines } from "./jobs/jobs.ts";
import { benchLatency } from "./latency/latency.ts";
import { benchLearning } from "./learning/learning.ts";
import { benchLoad } from "./load/load.ts";
import { MOST_BURST } from "./load/schedule.ts";
import { benchPages } from "./pages/pages.ts";
import { benchPeers, measureJob } from "./peers/peers.ts";
import { benchQuality, type QualityOptions } from "./quality/quality.ts";
import { benchScale } from "./scale/scale.ts";
import { benchTenants } from "./tenants/tenants.ts";

const BENCHES: Readonly<Record<string, CommandModule["run"]>> = {
  latency,
  scale,
  pages,
  jobs,
  hooks,
  everyday,
  quality,
  intent,
  consolidation,
  learning,
  week,
  tenants,
  load,
  peers,
  fleet,
};

export async function run([what = "", ...args]: readonly string[], context: Context): Promise<ExitCode> {
  const bench = Object.hasOwn(BENCHES, what) ? BENCHES[what] : undefined;
  if (bench === undefined)
    throw invalid(
      "arguments",
      "Say what to measure: butler bench latency, scale, pages, jobs, hooks, everyday, week, quality, intent, learning, consolidation, tenants, load, peers or fleet.",
    );
  return bench(args, context);
}

async function latency(args: readonly string[], context: Context): Promise<ExitCode> {
  await benchLatency(benchHomeOptions(args, context), context);
  return 0;
}

async function hooks(args: readonly string[], context: Context): Promise<ExitCode> {
  const { fill, rest } = takeFill(args);
  await benchHooks({ ...benchHomeOptions(rest, context), fill }, context);
  return 0;
}

async function tenants(args: readonly string[], context: Context): Promise<ExitCode> {
  const options = { n: text, queries: text, store: text, json: flag } as const;
  const { n = "1000", queries = "200", store, json = false } = readOptions(args, options).values;
  const counts = { n: readCount(n, "--n", 100), queries: readCount(queries, "--queries", 20) };
  await benchTenants({ ...counts, databaseUrl: serverOf(store, context), keep: undefined, json }, context);
  return 0;
}

async function load(args: readonly string[], context: Context): Promise<ExitCode> {
  const rates = { seconds: text, reads: text, writes: text, burst: text } as const;
  const { values } = readOptions(args, { n: text, store: text, keep: text, json: flag, ...rates } as const);
  const { seconds = "600", reads = "50", writes = "40", burst = "2", n = "10000", keep, json = false } = values;
  const shape = {
    seconds: readCount(seconds, "--seconds", 1),
    reads: readCount(reads, "--reads", 1),
    writes: readCount(writes, "--writes", 1),
    burst: readCount(burst, "--burst", 1),
  };
  if (shape.burst > MOST_BURST) throw invalid("--burst", `--burst is ${burst}; at most it is ${MOST_BURST}.`);
  const databaseUrl = serverOf(values.store, context);
  await benchLoad({ n: readCount(n, "--n", 100), queries: 0, databaseUrl, keep, json, shape }, context);
  return 0;
}

async function peers(args: readonly string[], context: Context): Promise<ExitCode> {
  const texts = { n: text, queries: text, data: text, only: text, minutes: text, keep: text, job: text } as const;
  const { values } = readOptions(args, { ...texts, install: flag, json: flag } as const);
  const { n = "2000", queries = "200", minutes = "10", data, only, keep, job } = values;
  // A process that this command starts for each peer.
  if (job !== undefined) {
    await measureJob(job, context);
    return 0;
  }
  const counts = { n: readCount(n, "--n", 10), queries: readCount(queries, "--queries", 1) };
  const { install = false, json = false } = values;
  const limit = { minutes: readCount(minutes, "--minutes", 1) };
  await benchPeers({ ...counts, ...limit, data, only, keep, install, json }, context);
  return 0;
}

async function fleet(args: readonly string[], context: Context): Promise<ExitCode> {
  const options = { users: text, days: text, sessions: text, sample: text, store: text, json: flag } as const;
  const { users = "10", days = "10", sessions = "6", sample, store, json = false } = readOptions(args, options).values;
  const life = {
    sample: readCount(sample ?? users, "--sample", 1),
    users: readCount(users, "--users", 1),
    days: readCount(days, "--days", 1),
    sessions: readCount(sessions, "--sessions", 1),
  };
  const databaseUrl = serverOf(store, context);
  await benchFleet({ n: 0, queries: 0, databaseUrl, keep: undefined, json, ...life }, context);
  return 0;
}

async function everyday(args: readonly string[], context: Context): Promise<ExitCode> {
  const { fill, rest } = takeFill(args);
  const options = { n: text, runs: text, keep: text, json: flag } as const;
  const { n = "1000", runs = "20", keep, json = false } = readOptions(rest, options).values;
  const counts = { n: readCount(n, "--n", 100), queries: readCount(runs, "--runs", 1) };
  await benchEveryday({ ...counts, databaseUrl: undefined, keep, json, fill }, context);
  return 0;
}

async function scale(args: readonly string[], context: Context): Promise<ExitCode> {
  const options = { n: text, queries: text, store: text, keep: flag, json: flag } as const;
  const { n = "100000", queries = "200", store, keep = false, json = false } = readOptions(args, options).values;
  const counts = { n: readCount(n, "--n", 100), queries: readCount(queries, "--queries", 1) };
  await benchScale({ ...counts, databaseUrl: serverOf(store, context), keep, json }, context);
  return 0;
}

async function pages(args: readonly string[], context: Context): Promise<ExitCode> {
  const sizes = { facts: text, rules: text, episodes: text, events: text } as const;
  const options = { ...sizes, calls: text, only: text, store: text, keep: text, json: flag } as const;
  const { values } = readOptions(args, options);
  const count = (name: keyof typeof sizes, usual: number) => readCount(values[name] ?? `${usual}`, `--${name}`, 10);
  const facts = count("facts", 100_000);
  await benchPages(
    {
      sizes: {
        facts,
        rules: count("rules", Math.max(10, facts / 20)),
        episodes: count("episodes", Math.max(200, facts / 2)),
        events: count("events", facts * 10),
      },
      calls: readCount(values.calls ?? "30", "--calls", 1),
      only: values.only,
      databaseUrl: serverOf(values.store, context),
      keep: values.keep,
      json: values.json ?? false,
    },
    context,
  );
  return 0;
}

async function jobs(args: readonly string[], context: Context): Promise<ExitCode> {
  const { n = "100000", store, json } = readOptions(args, { n: text, store: text, json: flag }).values;
  const figures = await benchJobs(readCount(n, "--n", 100), serverOf(store, context));
  context.say(json ? JSON.stringify(figures, null, 2) : jobLines(figures).join("\n"));
  return 0;
}

async function quality(args: readonly string[], context: Context): Promise<ExitCode> {
  const { values } = readOptions(args, {
    data: { ...text, multiple: true },
    store: text,
    mode: text,
    rerank: text,
    "no-model": flag,
    pool: flag,
    distractors: text,
    ablation: flag,
    keep: text,
    svg: text,
    json: flag,
  } as const);
  const { mode, rerank, keep, svg } = values;
  const options: QualityOptions = {
    files: values.data ?? [],
    databaseUrl: serverOf(values.store, context),
    mode,
    rerank,
    model: !values["no-model"],
    pool: values.pool ?? false,
    distractors: readCount(values.distractors ?? "0", "--distractors", 0),
    ablation: values.ablation ?? false,
    keep,
    svg,
    json: values.json ?? false,
  };
  await benchQuality(options, context);
  return 0;
}

async function intent(args: readonly string[], context: Context): Promise<ExitCode> {
  const { prompts = `${MOST_PROMPTS}`, json = false } = readOptions(args, { prompts: text, json: flag }).values;
  await benchIntent({ prompts: readCount(prompts, "--prompts", 1), json }, context);
  return 0;
}

async function consolidation(args: readonly string[], context: Context): Promise<ExitCode> {
  const { data: file, store, json = false } = readOptions(args, { data: text, store: text, json: flag }).values;
  if (file === undefined)
    throw invalid("data", "Say what to learn from: --data <file>, of the format of bench quality.");
  await benchConsolidation({ file, databaseUrl: serverOf(store, context), json }, context);
  return 0;
}

async function learning(args: readonly string[], context: Context): Promise<ExitCode> {
  const options = {
    data: { ...text, multiple: true },
    train: flag,
    "held-out": flag,
    misses: flag,
    json: flag,
  } as const;
  const { data: files = [], ...values } = readOptions(args, options).values;
  const { train = false, "held-out": heldOut = false, misses = false, json = false } = values;
  benchLearning({ files, train, heldOut, misses, json }, context);
  return 0;
}

async function week(args: readonly string[], context: Context): Promise<ExitCode> {
  const {
    data: file,
    searched = false,
    json = false,
  } = readOptions(args, { data: text, searched: flag, json: flag }).values;
  await benchWeek({ file, searched, json }, context);
  return 0;
}
