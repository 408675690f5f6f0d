/** Where a benchmark measures: a BUTLER_HOME of its own with invented memories, and the program that is run on it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ButlerConfig, parseButlerToml } from "../daemon/config/config.ts";
import { type Home, homeAt, prepareHome } from "../daemon/home.ts";
import { systemClock } from "../engine/adapters/clock.ts";
import { openPostgres } from "../engine/adapters/db/postgres.ts";
import { openOnnxEmbedder } from "../engine/adapters/embedder/onnx.ts";
import { silentLog } from "../engine/adapters/log.ts";
import { locateModel, type ModelFiles } from "../engine/adapters/model/files.ts";
import { MemoryError, unavailable } from "../engine/domain/errors.ts";
import { maintain } from "../engine/memory/keep/maintain.ts";
import type { OpenMemory } from "../engine/memory/open.ts";
import { type Environment, ownerVariables } from "../main/environment.ts";
import { programCommand } from "../main/owner/launch.ts";
import type { Context } from "../main/program/command.ts";
import { memoryOpener } from "../main/wiring/engines.ts";
import { type Progress, progressLine } from "../main/words/progress.ts";
import { buildStore, countMemories } from "./build.ts";
import { type Build, type Report, round } from "./figures.ts";
import type { Program } from "./mcp-line.ts";

export interface BenchHome {
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

export interface BenchHomeOptions {
  readonly n: number;
  readonly queries: number;
  readonly databaseUrl: string | undefined;
  /** The folder to build in and to leave behind; one that an earlier run left is used again. Otherwise a temporary one. */
  readonly keep: string | undefined;
}

export async function withBenchHome<T>(
  options: BenchHomeOptions,
  { environment }: Pick<Context, "environment">,
  work: (bench: BenchHome) => Promise<T>,
): Promise<T> {
  const { n, queries, databaseUrl, keep } = options;
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
    writeRoster(home, butler.name, butler.toml);
    const result = await work({
      n,
      queries,
      store,
      home,
      butler: butler.config,
      databaseUrl,
      model,
      program,
      progress,
    });
    progress.done("done");
    return result;
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

/** Its episodes live for ten years: if they expired, a kept store would shrink every week. */
export function benchButler(name: string): { name: string; toml: string; config: ButlerConfig } {
  const toml = `[butler]\nname = "${name}"\n\n[modules.memory.eden]\nttl_hours = 87600\nmax_entries = 10000000\n`;
  return { name, toml, config: parseButlerToml(toml, "butler.toml") };
}

const rosterOf = (home: Home) => join(home.root, "roster");

function writeRoster(home: Home, name: string, toml: string): void {
  mkdirSync(join(rosterOf(home), name), { recursive: true });
  writeFileSync(join(rosterOf(home), name, "butler.toml"), toml);
}

/** The command line that starts this program on the home under test, by the real clock. An empty variable counts as one that is not set. */
function programOn(
  environment: Environment,
  home: Home,
  butler: string,
  databaseUrl: string | undefined,
  model: ModelFiles,
): Program {
  const modelDir = model.origin === "modelDir" ? environment.modelDir : homeAt(environment.home).models;
  const variables = ownerVariables({ ...environment, home: home.root, roster: rosterOf(home), modelDir });
  const env = { ...variables, BUTLER_DATABASE_URL: databaseUrl ?? "", BUTLER_NOW: "", BUTLER_IDLE_SECONDS: "120" };
  return { ...programCommand(), env, butler };
}

export async function dropDatabase(url: string, butler: string): Promise<void> {
  const db = await openPostgres({ url, max: 1 });
  try {
    await db.exec(`drop database if exists "butler_${butler}" with (force)`);
  } finally {
    await db.close();
  }
}

/** Opens store and model anew each time, as a new owner does. */
export async function opened(bench: BenchHome) {
  const place = { folder: bench.home.store, databaseUrl: bench.databaseUrl };
  const open = memoryOpener({ stores: place, clock: systemClock, log: silentLog });
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

/** Fills an empty store; one that was kept from an earlier run is used as it is. */
export async function filled(
  bench: BenchHome,
  memory: OpenMemory,
  project?: string,
): Promise<{ build: Build | null; have: number }> {
  const have = await countMemories(memory, project);
  if (have > 0 && have < bench.n) {
    throw new MemoryError(
      "conflict",
      `The store in ${bench.home.root} holds ${have} memories, not ${bench.n}; choose an empty folder or --n ${have}.`,
    );
  }
  const build = have > 0 ? null : await buildStore(memory, bench.n, bench.progress.show, project);
  if (build === null) await maintain(memory, { level: "light" });
  return { build, have };
}
