/** `butler bench consolidation`: what is learned from conversations, and how fast. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { homeAt } from "../../daemon/home.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import { learn } from "../../engine/adapters/extractor/local/collect.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { locateModel, type ModelFiles } from "../../engine/adapters/model/files.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import type { OpenMemory } from "../../engine/memory/open.ts";
import type { Context } from "../../main/program/command.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { progressLine } from "../../main/words/progress.ts";
import { benchButler, dropDatabase } from "../bench-home.ts";
import type { DataSet } from "../quality/data.ts";
import { readSource } from "../quality/quality.ts";
import { type ConsolidationReport, consolidationLines, consolidationReport } from "./figures.ts";
import { holdAgainst, readJudgements } from "./judgements.ts";
import { type CorpusFigures, measureCorpus } from "./measure.ts";
import { allItems } from "./sample.ts";

export interface ConsolidationOptions {
  readonly file: string;
  readonly databaseUrl: string | undefined;
  readonly json: boolean;
}

/** Verdicts by id, without the text that they are about. */
const JUDGEMENTS = fileURLToPath(new URL("../../../bench/consolidation-judgements.json", import.meta.url));

export async function benchConsolidation(options: ConsolidationOptions, { environment, say }: Context): Promise<void> {
  const { data } = await readSource(options.file);
  const model = await locateModel({
    modelDir: environment.modelDir,
    cacheDir: homeAt(environment.home).models,
    variant: "int8",
  });
  if (!model) throw unavailable("There is no embedding model to measure with; butler model pull fetches it.");
  const progress = progressLine("Consolidation");
  const corpora: CorpusFigures[] = [];
  try {
    for (const [at, corpus] of data.corpora.entries()) {
      const show = (what: string) => progress.show(at, data.corpora.length, `${corpus.id}: ${what}`);
      const unit = { key: corpus.id, sessions: corpus.id, corpus };
      corpora.push(await inNewStore(model, options.databaseUrl, at, (memory) => measureCorpus(memory, unit, show)));
    }
    progress.done("done");
  } catch (error) {
    progress.done("failed");
    throw error;
  }
  const store = options.databaseUrl === undefined ? "pglite" : "postgres";
  const made = { file: basename(options.file), extractor: "local", store } as const;
  const report: ConsolidationReport = consolidationReport(made, corpora, await judgedOf(data, made.file));
  for (const line of options.json ? [JSON.stringify(report, null, 2)] : consolidationLines(report)) say(line);
}

/** Null when there are none for this file. */
async function judgedOf(data: DataSet, file: string) {
  const text = await readFile(JUDGEMENTS, "utf8").catch(() => undefined);
  const kept = text === undefined ? undefined : readJudgements(text, basename(file, ".json"));
  return kept === undefined ? null : holdAgainst(kept, allItems(data, learn));
}

async function inNewStore<T>(
  model: ModelFiles,
  databaseUrl: string | undefined,
  nth: number,
  work: (memory: OpenMemory) => Promise<T>,
): Promise<T> {
  const { name, config } = benchButler(`bench_learn_${process.pid}_${nth}`);
  const folder = await mkdtemp(join(tmpdir(), "butler-learn-"));
  const embedder = await openOnnxEmbedder(model);
  try {
    const place = { folder: () => join(folder, "store"), databaseUrl };
    const memory = await memoryOpener({ stores: place, clock: systemClock, log: silentLog })(config, embedder);
    try {
      return await work(memory);
    } finally {
      await memory.close();
    }
  } finally {
    await embedder.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    if (databaseUrl !== undefined) await dropDatabase(databaseUrl, name);
  }
}
