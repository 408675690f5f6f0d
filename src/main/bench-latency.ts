/** `butler bench latency`: builds a store of invented memories and measures calls, processes and memory on it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../adapters/clock.ts";
import { openPostgres } from "../adapters/db/postgres.ts";
import { locateModel, type ModelFiles } from "../adapters/embedder/model-files.ts";
import { openOnnxEmbedder } from "../adapters/embedder/onnx.ts";
import { silentLog } from "../adapters/log.ts";
import { answerOf, buildStore, countMemories } from "../bench/build.ts";
import { type Build, type Report, round, spread, table, verdicts } from "../bench/figures.ts";
import { inputsOf, KINDS, type Measured, measureCalls } from "../bench/measure.ts";
import { measureSocket, type Program, residentMb, timeCommand, weighProxy } from "../bench/processes.ts";
import { connectOwner } from "../butler/client.ts";
import { type ButlerConfig, parseButlerToml } from "../butler/config.ts";
import { type Home, homeAt, prepareHome } from "../butler/home.ts";
import { findOwner } from "../butler/start-owner.ts";
import { stopOwner } from "../butler/take-house.ts";
import { MemoryError, unavailable } from "../domain/errors.ts";
import { maintain } from "../memory/maintain.ts";
import type { Context } from "./command.ts";
import { type Environment, ownerVariables } from "./environment.ts";
import { type Progress, progressLine } from "./progress.ts";
import { memoryOpener } from "./store-parts.ts";
import { version } from "./version.ts";

const COLD_STARTS = 3;
const STEPS = 13;

interface Bench {
  readonly n: number;
  readonly queries: number;
  readonly store: Report["store"];
  readonly home: Home;
  readonly butler: ButlerConfig;
  readonly databaseUrl: string | undefined;
  readonly model: ModelFiles;
  readonly program: Program;
  readonly progress: Progress;
}

export interface LatencyWishes {
  readonly n: number;
  readonly queries: number;
  readonly databaseUrl: string | undefined;
  readonly keep: string | undefined;
  readonly json: boolean;
}

export async function benchLatency(wishes: LatencyWishes, { environment, say }: Context): Promise<void> {
  const { n, queries, databaseUrl, keep } = wishes;
  const store = databaseUrl === undefined ? "pglite" : "postgres";
  const model = await locateModel({
    modelDir: environment.modelDir,
    cacheDir: homeAt(environment.home).models,
    variant: "int8",
  });
  if (!model) throw unavailable("There is no embedding model to measure with; butler model pull fetches it.");

  const folder = keep === undefined ? await mkdtemp(join(tmpdir(), "butler-bench-")) : resolve(keep);
  const home = homeAt(folder);
  const butler = benchButler(keep === undefined && databaseUrl !== undefined ? `bench_${process.pid}` : "bench");
  const progress = progressLine("Measuring");
  try {
    prepareHome(home);
    const program = programOn(environment, home, butler.name, databaseUrl, model);
    const bench: Bench = { n, queries, store, home, butler: butler.config, databaseUrl, model, program, progress };
    writeRoster(home, butler.name, butler.toml);
    const report = await measure(bench);
    progress.done("done");
    if (wishes.json) say(JSON.stringify(report, null, 2));
    else for (const line of table(report)) say(line);
  } catch (error) {
    progress.done("failed");
    throw error;
  } finally {
    if (keep === undefined) {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      if (databaseUrl !== undefined) await dropDatabase(databaseUrl, butler.name);
    }
  }
}

export const thisMachine = (): Report["machine"] => ({
  cpu: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  node: process.versions.node,
  load: round(loadavg()[0] ?? 0),
});

/** Episodes that expired would make a kept store smaller every week. */
export function benchButler(name: string): { name: string; toml: string; config: ButlerConfig } {
  const toml = `[butler]\nname = "${name}"\n\n[modules.memory.eden]\nttl_hours = 87600\nmax_entries = 10000000\n`;
  return { name, toml, config: parseButlerToml(toml, "butler.toml") };
}

const rosterOf = (home: Home) => join(home.root, "roster");

function writeRoster(home: Home, name: string, toml: string): void {
  mkdirSync(join(rosterOf(home), name), { recursive: true });
  writeFileSync(join(rosterOf(home), name, "butler.toml"), toml);
}

/** This very program, on the home under test and on real time. An empty variable counts as one that is not set. */
function programOn(
  environment: Environment,
  home: Home,
  butler: string,
  databaseUrl: string | undefined,
  model: ModelFiles,
): Program {
  const entry = fileURLToPath(import.meta.url).replace(/bench-latency(\.[jt]s)$/, "butler$1");
  const modelDir = model.origin === "modelDir" ? environment.modelDir : homeAt(environment.home).models;
  const variables = ownerVariables({ ...environment, home: home.root, roster: rosterOf(home), modelDir });
  const env = { ...variables, BUTLER_DATABASE_URL: databaseUrl ?? "", BUTLER_NOW: "", BUTLER_IDLE_SECONDS: "120" };
  return { command: process.execPath, args: [...process.execArgv, entry], env, butler };
}

export async function dropDatabase(url: string, butler: string): Promise<void> {
  const db = await openPostgres({ url, max: 1 });
  try {
    await db.exec(`drop database if exists "butler_${butler}" with (force)`);
  } finally {
    await db.close();
  }
}

async function measure(bench: Bench): Promise<Report> {
  const machine = thisMachine();
  await stopOwner(bench.home);
  const { build, measured, seed } = await inThisProcess(bench);
  const open_store = await openAndSearch(bench, seed);
  const outside = await inOtherProcesses(bench, seed, open_store);
  const { version: made } = bench.model;
  const report = {
    n: bench.n,
    store: bench.store,
    queries: bench.queries,
    machine,
    model: `${made.model} ${made.variant}`,
    build,
    ...measured,
    ...outside,
  };
  return { ...report, targets: verdicts(report) };
}

/** A fresh opening of store and model each time, as a new owner does it. */
async function opened(bench: Bench) {
  const place = { folder: bench.home.store, databaseUrl: bench.databaseUrl };
  const open = memoryOpener({ place, clock: systemClock, log: silentLog });
  const embedder = await openOnnxEmbedder(bench.model);
  const memory = await open(bench.butler, embedder);
  return {
    memory,
    async close() {
      await memory.close();
      await embedder.close();
    },
  };
}

async function inThisProcess(bench: Bench): Promise<{ build: Build | null; measured: Measured; seed: number }> {
  const { memory, close } = await opened(bench);
  try {
    const have = await countMemories(memory);
    if (have > 0 && have < bench.n) {
      throw new MemoryError(
        "conflict",
        `The store in ${bench.home.root} holds ${have} memories, not ${bench.n}; choose an empty folder or --n ${have}.`,
      );
    }
    const build = have > 0 ? null : await buildStore(memory, bench.n, bench.progress.show);
    if (build === null) await maintain(memory, { level: "light" });
    // The store grows with every run: another seed, so that what is stored now is new.
    const seed = 1_000_003 * (have + 1);
    let step = 0;
    const measured = await measureCalls(memory, bench.queries, seed, (name) =>
      bench.progress.show(++step, STEPS, name),
    );
    return { build, measured, seed };
  } finally {
    await close();
  }
}

async function openAndSearch(bench: Bench, seed: number): Promise<number> {
  bench.progress.show(STEPS - 3, STEPS, "opening the store");
  const started = performance.now();
  const { memory, close } = await opened(bench);
  try {
    const [input] = searches(1, seed + 300);
    await answerOf(memory, "memory_search", input);
    return round(performance.now() - started, 0);
  } finally {
    await close();
  }
}

function searches(count: number, seed: number) {
  const kind = KINDS[0];
  return kind === undefined ? [] : (inputsOf(kind, count, seed) as { query: string }[]);
}

async function inOtherProcesses(
  bench: Bench,
  seed: number,
  open_store: number,
): Promise<Pick<Report, "socket" | "first_answer_ms" | "memory_mb">> {
  const { home, program, progress, queries } = bench;
  const asked = searches(3 * COLD_STARTS, seed + 400).map(({ query }) => query);
  const cold: number[] = [];
  const warm: number[] = [];
  try {
    for (let round = 0; round < COLD_STARTS; round++) {
      progress.show(STEPS - 2, STEPS, "new processes");
      await stopOwner(home);
      cold.push(await timeCommand(program, asked[round] ?? "release"));
    }
    for (let round = 0; round < COLD_STARTS; round++)
      warm.push(await timeCommand(program, asked[COLD_STARTS + round] ?? "release"));
    progress.show(STEPS - 1, STEPS, "the local socket");
    const owner = await findOwner(home, 5_000);
    if (!owner) throw unavailable("The owner has gone while it was being measured.");
    const launch = { ...program, args: [...program.args, "own", "--report"] };
    const client = connectOwner({ home, launch, version, agent: true });
    const socket = await measureSocket(client, owner, program.butler, queries, seed + 500);
    const memoryOwner = residentMb(owner.pid);
    const proxy = await weighProxy(program, asked[2 * COLD_STARTS] ?? "release");
    client.close();
    return {
      socket,
      first_answer_ms: { new_process: spread(cold), with_owner: spread(warm), open_store },
      memory_mb: { owner: memoryOwner, proxy: proxy.resident, proxy_unshared: proxy.unshared },
    };
  } finally {
    await stopOwner(home);
  }
}
