/** `butler bench intent`: what intent routing and diversification do to a memory of facts, rules and episodes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeAt } from "../../daemon/home.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { locateModel, type ModelFiles } from "../../engine/adapters/model/files.ts";
import { invalid, unavailable } from "../../engine/domain/errors.ts";
import type { MemoryType } from "../../engine/domain/memory-types.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import type { Context } from "../../main/program/command.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { type Progress, progressLine } from "../../main/words/progress.ts";
import { benchButler } from "../bench-home.ts";
import { round } from "../figures.ts";
import { fillIntent } from "./fill.ts";
import { measureIntent } from "./measure.ts";
import { MOST_PROMPTS, type World, worldOf } from "./memories.ts";
import { type IntentReport, intentLines } from "./show.ts";

export interface IntentOptions {
  /** How many prompts of each intent. */
  readonly prompts: number;
  readonly json: boolean;
}

export async function benchIntent(options: IntentOptions, { environment, say }: Context): Promise<void> {
  if (options.prompts > MOST_PROMPTS)
    throw invalid("prompts", `--prompts is ${options.prompts}; there are words for ${MOST_PROMPTS} of each intent.`);
  const cacheDir = homeAt(environment.home).models;
  const model = await locateModel({ modelDir: environment.modelDir, cacheDir, variant: "int8" });
  if (!model) throw unavailable("There is no embedding model to measure with; butler model pull fetches it.");
  const folder = await mkdtemp(join(tmpdir(), "butler-intent-"));
  const progress = progressLine("Intent");
  try {
    const report = await measure(worldOf(options.prompts), model, folder, progress);
    progress.done("done");
    for (const line of options.json ? [JSON.stringify(report, null, 2)] : intentLines(report)) say(line);
  } catch (error) {
    progress.done("failed");
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure(world: World, model: ModelFiles, folder: string, progress: Progress): Promise<IntentReport> {
  const { memories, prompts } = world;
  const started = performance.now();
  const figures = await opened(model, folder, async (memory) => {
    const ids = await fillIntent(memory, memories, (done) => progress.show(done, memories.length, "storing"));
    return measureIntent(memory, prompts, ids, (done, total) => progress.show(done, total, "asking"));
  });
  const count = (type: MemoryType) => memories.filter((told) => told.type === type).length;
  return {
    ...figures,
    facts: count("fact"),
    rules: count("rule"),
    episodes: count("episode"),
    model: `${model.version.model} ${model.version.variant}`,
    seconds: round((performance.now() - started) / 1_000, 0),
  };
}

async function opened<T>(model: ModelFiles, folder: string, work: (memory: Memory) => Promise<T>): Promise<T> {
  const place = { folder: (butler: string) => join(folder, butler), databaseUrl: undefined };
  const embedder = await openOnnxEmbedder(model);
  try {
    const open = memoryOpener({ stores: place, clock: systemClock, log: silentLog });
    const memory = await open(benchButler(`bench_intent_${process.pid}`).config, embedder);
    try {
      return await work(memory);
    } finally {
      await memory.close();
    }
  } finally {
    await embedder.close();
  }
}
