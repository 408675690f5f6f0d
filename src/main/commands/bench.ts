import { MOST_PROMPTS } from "../../bench/intent-memories.ts";
import { invalid } from "../../domain/errors.ts";
import type { ExitCode } from "../../serve/failures.ts";
import { benchConsolidation } from "../bench-consolidation.ts";
import { benchHooks } from "../bench-hooks.ts";
import { benchIntent } from "../bench-intent.ts";
import { benchJobs, jobLines } from "../bench-jobs.ts";
import { benchLatency } from "../bench-latency.ts";
import { benchQuality, type QualityWishes } from "../bench-quality.ts";
import { benchScale } from "../bench-scale.ts";
import { type CommandModule, type Context, readOptions } from "../command.ts";

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
model; take another folder when what is stored of a memory has changed. --svg writes a chart.

butler bench intent [--prompts <of each intent>] [--json]

Stores the invented memory of a person and of projects, and asks for identities, preferences, procedures and events, with
intent routing and diversification on and off.

butler bench hooks [--n <memories>] [--queries <sessions>] [--keep <folder>] [--json]

Installs the hooks of Claude Code into a folder of its own and runs them as that agent does, in a project with 10,000 memories:
the start of a session in a warm house and where nobody is there yet, a prompt, the end of a turn; and what butler run adds to the
start of an agent. --keep as with latency, in another folder.

butler bench consolidation --data <file> [--store pglite|postgres] [--json]

Stores the memories of each corpus as episodes and learns from them with the local extractor: facts for 100 turns, duplicates,
provenance, what a second run changes, turns a second, and how many of a fixed sample a reader judged right.`;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;

const BENCHES: Readonly<Record<string, CommandModule["run"]>> = {
  latency,
  scale,
  jobs,
  hooks,
  quality,
  intent,
  consolidation,
};

export async function run([what = "", ...args]: readonly string[], context: Context): Promise<ExitCode> {
  const bench = Object.hasOwn(BENCHES, what) ? BENCHES[what] : undefined;
  if (bench === undefined)
    throw invalid(
      "arguments",
      "Say what to measure: butler bench latency, scale, jobs, hooks, quality, intent or consolidation.",
    );
  return bench(args, context);
}

async function latency(args: readonly string[], context: Context): Promise<ExitCode> {
  await benchLatency(houseWishes(args, context), context);
  return 0;
}

async function hooks(args: readonly string[], context: Context): Promise<ExitCode> {
  const fill = args.includes("--fill");
  const rest = args.filter((word) => word !== "--fill");
  await benchHooks({ ...houseWishes(rest, context), fill }, context);
  return 0;
}

function houseWishes(args: readonly string[], context: Context) {
  const options = { n: text, queries: text, store: text, keep: text, json: flag } as const;
  const { n = "10000", queries = "200", store, keep, json = false } = readOptions(args, options).values;
  const wishes = { n: readCount(n, "--n", 100), queries: readCount(queries, "--queries", 1) };
  return { ...wishes, databaseUrl: serverOf(store, context), keep, json };
}

async function scale(args: readonly string[], context: Context): Promise<ExitCode> {
  const options = { n: text, queries: text, store: text, keep: flag, json: flag } as const;
  const { n = "100000", queries = "200", store, keep = false, json = false } = readOptions(args, options).values;
  const wishes = { n: readCount(n, "--n", 100), queries: readCount(queries, "--queries", 1) };
  await benchScale({ ...wishes, databaseUrl: serverOf(store, context), keep, json }, context);
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
  const wishes: QualityWishes = {
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
  await benchQuality(wishes, context);
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

function serverOf(store = "pglite", { environment }: Context): string | undefined {
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
