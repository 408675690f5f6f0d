import { invalid } from "../../domain/errors.ts";
import type { ExitCode } from "../../serve/failures.ts";
import { benchJobs, jobLines } from "../bench-jobs.ts";
import { benchLatency } from "../bench-latency.ts";
import { benchQuality, type QualityWishes } from "../bench-quality.ts";
import { benchScale } from "../bench-scale.ts";
import { type Context, type Read, readOptions } from "../command.ts";

export const usage = `butler bench latency [--n <memories>] [--queries <calls>] [--store pglite|postgres] [--keep <folder>] [--json]

Builds a store of invented memories through the ordinary tools, with durable commits, and measures: search, context and
store in the owner and over its socket, eight searchers at once, the first answer of a new process, the memory that
processes take, and the bytes that vectors and tokens take.
--n 10000, --queries 200 and pglite are the defaults. --keep builds into a folder, or uses what was built there before.
postgres needs BUTLER_DATABASE_URL; the database butler_bench… is removed afterwards unless --keep is given.

butler bench scale [--n <memories>] [--queries <calls>] [--store pglite|postgres] [--keep] [--json]

The same calls on a store that is too large to be built through the tools (100,000 memories if not said), and how much of the
true nearest the vector index finds. Rows are written by SQL, without events. Words are indexed as always, but at most
4,000 texts go through the model: all other vectors are mixtures of theirs. --keep leaves the database butler_bench_scale_<n>, or
the folder bench of BUTLER_HOME, and the next run with --keep measures what is there.

butler bench jobs [--n <facts>] [--store pglite|postgres] [--json]

Sweeps that many facts (100,000 if not said), of which 15 % change, with searches beside it, and replays the events.

butler bench quality --data <file> [--data <file> …] [--store pglite|postgres] [--mode hybrid|semantic|keyword]
                     [--rerank late-interaction|cross-encoder|none] [--no-model] [--pool [--distractors <n>]]
                     [--ablation] [--keep <folder>] [--svg <folder>] [--json]

Stores the memories of each corpus in a store of its own, asks every question with one memory_search, and says how much of
the evidence came back. A file is {name, corpora: [{id, memories: [{id, session?, time?, speaker?, text}],
questions: [{id, question, category, evidence: [memory ids]}]}]}.
--pool puts everything into one store, with --distractors beside invented memories, and compares. --ablation leaves parts
of the recipe out, one after the other. --keep leaves the stores in a folder and uses them again for the same files and
model; take another folder when what is stored of a memory has changed. --svg writes a chart.`;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;

/** --keep of the other benchmarks names a folder. */
const SCALE = { n: text, queries: text, store: text, keep: flag, json: flag } as const;

/** What each benchmark takes. */
const OPTIONS = {
  latency: { n: text, queries: text, store: text, keep: text, json: flag },
  jobs: { n: text, store: text, json: flag },
  quality: {
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
  },
} as const;

const all = { ...OPTIONS.latency, ...OPTIONS.jobs, ...OPTIONS.quality };
type Values = Read<typeof all>["values"];

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  if (args[0] === "scale") return runScale(args.slice(1), context);
  const { values, positionals } = readOptions(args, all, true);
  const [what, ...rest] = positionals;
  if ((what !== "latency" && what !== "jobs" && what !== "quality") || rest.length > 0)
    throw invalid("arguments", "Say what to measure: butler bench latency, scale, jobs or quality.");
  const foreign = Object.keys(values).find((name) => !Object.hasOwn(OPTIONS[what], name));
  if (foreign !== undefined) throw invalid("arguments", `butler bench ${what} knows no --${foreign}.`);
  const databaseUrl = serverOf(values.store ?? "pglite", context);
  const json = values.json ?? false;
  if (what === "quality") {
    await benchQuality(qualityWishes(values, databaseUrl), context);
  } else if (what === "jobs") {
    const figures = await benchJobs(readCount(values.n ?? "100000", "--n", 100), databaseUrl);
    context.say(json ? JSON.stringify(figures, null, 2) : jobLines(figures).join("\n"));
  } else {
    const n = readCount(values.n ?? "10000", "--n", 100);
    const queries = readCount(values.queries ?? "200", "--queries", 1);
    await benchLatency({ n, queries, databaseUrl, keep: values.keep, json }, context);
  }
  return 0;
}

async function runScale(args: readonly string[], context: Context): Promise<ExitCode> {
  const { values } = readOptions(args, SCALE);
  const wishes = {
    n: readCount(values.n ?? "100000", "--n", 100),
    queries: readCount(values.queries ?? "200", "--queries", 1),
    databaseUrl: serverOf(values.store ?? "pglite", context),
    keep: values.keep ?? false,
    json: values.json ?? false,
  };
  await benchScale(wishes, context);
  return 0;
}

function qualityWishes(values: Values, databaseUrl: string | undefined): QualityWishes {
  return {
    // Given more than once it is a list.
    files: [values.data ?? []].flat(),
    databaseUrl,
    mode: values.mode,
    rerank: values.rerank,
    model: !values["no-model"],
    pool: values.pool ?? false,
    distractors: readCount(values.distractors ?? "0", "--distractors", 0),
    ablation: values.ablation ?? false,
    keep: values.keep,
    svg: values.svg,
    json: values.json ?? false,
  };
}

function serverOf(store: string, { environment }: Context): string | undefined {
  if (store === "pglite") return undefined;
  if (store !== "postgres") throw invalid("store", `--store is "${store}"; it must be pglite or postgres.`);
  if (environment.databaseUrl === undefined) throw invalid("store", "--store postgres needs BUTLER_DATABASE_URL.");
  return environment.databaseUrl;
}

function readCount(text: string, name: string, least: number): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= least) return count;
  throw invalid(name, `${name} is "${text}"; it must be a whole number from ${least} up.`);
}
