/** `butler bench scale`: a store of many memories, made by SQL, and what calls on it cost. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ButlerConfig } from "../../daemon/config/config.ts";
import { homeAt } from "../../daemon/home.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { locateModel, type ModelFiles } from "../../engine/adapters/model/files.ts";
import { MemoryError, unavailable } from "../../engine/domain/errors.ts";
import { maintain } from "../../engine/memory/keep/maintain.ts";
import { fitIndex } from "../../engine/memory/keep/vector-index.ts";
import type { OpenMemory } from "../../engine/memory/open.ts";
import { asOwner, wholeMemory } from "../../engine/memory/tenancy.ts";
import { roomForSearches } from "../../main/owner/light-process.ts";
import type { Context } from "../../main/program/command.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { type Progress, progressLine } from "../../main/words/progress.ts";
import { benchButler, dropDatabase, thisMachine } from "../bench-home.ts";
import { countMemories } from "../build.ts";
import { round } from "../figures.ts";
import { giveIndexMemory, indexProgress, tidyTables } from "../sql/sizes.ts";
import { type ScaleBuild, type ScaleReport, scaleLines, scaleVerdicts } from "./figures.ts";
import { fillScale } from "./fill.ts";
import { measureScale } from "./measure.ts";

export interface ScaleOptions {
  readonly n: number;
  readonly queries: number;
  readonly databaseUrl: string | undefined;
  readonly keep: boolean;
  readonly json: boolean;
}

interface Bench extends ScaleOptions {
  readonly folder: string;
  readonly butler: ButlerConfig;
  readonly model: ModelFiles;
  readonly progress: Progress;
}

/** How many texts are embedded: a minute of forward passes at most, and never all, so that a small store has mixtures too. */
const samplesOf = (n: number) => Math.min(4_000, Math.ceil(n / 5));
/** A graph of neighbours in memory takes 384 numbers of 4 bytes and its edges for each vector. */
const GRAPH_MB = { each: 2.5 / 1024, least: 256, most: 4096 };
const POLL_MS = 2_000;

export async function benchScale(options: ScaleOptions, { environment, say }: Context): Promise<void> {
  const { n, databaseUrl, keep } = options;
  const home = homeAt(environment.home);
  const model = await locateModel({ modelDir: environment.modelDir, cacheDir: home.models, variant: "int8" });
  if (!model) throw unavailable("There is no embedding model to measure with; butler model pull fetches it.");
  const { name, config } = benchButler(keep ? `bench_scale_${n}` : `bench_scale_${process.pid}`);
  const folder = keep ? join(home.root, "bench") : await mkdtemp(join(tmpdir(), "butler-scale-"));
  const progress = progressLine("Scale");
  // As a daemon in front of a server does.
  if (databaseUrl !== undefined) roomForSearches();
  try {
    const report = await measure({ ...options, folder, butler: config, model, progress });
    progress.done("done");
    for (const line of options.json ? [JSON.stringify(report, null, 2)] : scaleLines(report)) say(line);
  } catch (error) {
    progress.done("failed");
    throw error;
  } finally {
    if (!keep) {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      if (databaseUrl !== undefined) await dropDatabase(databaseUrl, name);
    }
  }
}

async function measure(bench: Bench): Promise<ScaleReport> {
  const { n, queries, model, progress } = bench;
  const machine = thisMachine();
  const filled = await opened(bench, (memory) => fill(bench, memory));
  // Connections that are opened from here on have the memory that the index needs.
  return opened(bench, async (memory) => {
    // A kept store is indexed again too: another version of this program may choose another index.
    const upkeep = await finish(bench, memory);
    const build = filled.seconds === null ? null : { seconds: filled.seconds, ...upkeep };
    let step = 0;
    // The measured writes stay in a kept store: another seed makes the next run write other texts.
    const measured = await measureScale(memory, queries, 1_000_003 * (filled.had + 1), (what) =>
      progress.show(++step, 9, what),
    );
    const report = {
      n,
      store: memory.db.kind,
      queries,
      machine,
      model: `${model.version.model} ${model.version.variant}`,
      embedded: samplesOf(n),
      build,
      ...measured,
    };
    return { ...report, targets: scaleVerdicts(report) };
  });
}

async function opened<T>(bench: Bench, work: (memory: OpenMemory) => Promise<T>): Promise<T> {
  const place = { folder: (butler: string) => join(bench.folder, butler), databaseUrl: bench.databaseUrl };
  const embedder = await openOnnxEmbedder(bench.model);
  try {
    const memory = await memoryOpener({ stores: place, clock: systemClock, log: silentLog })(bench.butler, embedder);
    try {
      return await work(memory);
    } finally {
      await memory.close();
    }
  } finally {
    await embedder.close();
  }
}

async function fill({ n, progress }: Bench, memory: OpenMemory): Promise<{ had: number; seconds: number | null }> {
  const had = await countMemories(memory);
  if (had >= n) return { had, seconds: null };
  if (had > 0)
    throw new MemoryError(
      "conflict",
      `The store ${memory.butler} holds ${had} memories, not ${n}: it was left half-built. Remove it, or leave --keep out.`,
    );
  const started = performance.now();
  await fillScale(memory, n, samplesOf(n), showShares(progress));
  if (memory.db.kind === "postgres") {
    progress.show(n, n, "vacuum");
    await tidyTables(asOwner(memory, "lab"));
    await giveIndexMemory(
      asOwner(memory, "lab"),
      Math.min(GRAPH_MB.most, Math.max(GRAPH_MB.least, n * GRAPH_MB.each)),
      2,
    );
  }
  return { had, seconds: secondsSince(started) };
}

async function finish({ n, progress }: Bench, memory: OpenMemory): Promise<Omit<ScaleBuild, "seconds">> {
  const { serving } = memory.versions;
  const show = showShares(progress);
  let started = performance.now();
  show(0, 1, "vector index");
  const poll = setInterval(() => {
    // Only the progress display asks; the index is built without an answer too.
    void indexProgress(asOwner(memory, "lab")).then(
      (share) => share !== undefined && show(share, 1, "vector index"),
      () => undefined,
    );
  }, POLL_MS);
  try {
    if (serving !== undefined) await fitIndex(wholeMemory(memory, "lab"), serving);
  } finally {
    clearInterval(poll);
  }
  const index_seconds = secondsSince(started);
  started = performance.now();
  progress.show(n, n, "maintenance");
  await maintain(memory, { level: "full" });
  return { index_seconds, maintenance_seconds: secondsSince(started) };
}

const secondsSince = (started: number) => round((performance.now() - started) / 1_000);

/** Without a terminal each new text is printed as a line of its own, so shares are shown in steps. */
const showShares =
  ({ show }: Progress) =>
  (done: number, total: number, what: string) =>
    show(done, total, `${what}, ${Math.floor((done / total) * 10) * 10} %`);
