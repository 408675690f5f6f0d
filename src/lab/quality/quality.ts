/** `butler bench quality`: how much of the evidence a search finds, on data sets of questions with known answers. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { homeAt } from "../../daemon/home.ts";
import { locateModel, type ModelFiles } from "../../engine/adapters/model/files.ts";
import { invalid, notFound, unavailable } from "../../engine/domain/errors.ts";
import type { Mode } from "../../engine/memory/recall/retrieve.ts";
import type { Environment } from "../../main/environment.ts";
import type { Context } from "../../main/program/command.ts";
import { progressLine } from "../../main/words/progress.ts";
import { readData } from "./data.ts";
import { barChart } from "./plot.ts";
import type { QualityRun } from "./report.ts";
import { type Bench, measure, type Source } from "./runs.ts";
import { ablationLines, chartOf, runLines } from "./show.ts";
import { qualitySettings } from "./stores.ts";
import { FULL, RERANKS, variantsOf, withRerank } from "./variants.ts";

export interface QualityOptions {
  readonly files: readonly string[];
  readonly databaseUrl: string | undefined;
  readonly mode: string | undefined;
  readonly rerank: string | undefined;
  readonly model: boolean;
  readonly pool: boolean;
  readonly distractors: number;
  readonly ablation: boolean;
  readonly keep: string | undefined;
  readonly svg: string | undefined;
  readonly json: boolean;
}

const MODES: readonly Mode[] = ["hybrid", "semantic", "keyword"];

export async function benchQuality(options: QualityOptions, { environment, say }: Context): Promise<void> {
  const mode = options.mode === undefined ? undefined : oneOf(MODES, options.mode, "--mode");
  const rerank = options.rerank === undefined ? undefined : oneOf(RERANKS, options.rerank, "--rerank");
  if (options.files.length === 0) throw invalid("data", "Say what to ask: --data <file>, once for every file.");
  if (options.distractors > 0 && !options.pool) throw invalid("distractors", "--distractors needs --pool.");
  const settings = rerank === undefined ? qualitySettings() : withRerank(qualitySettings(), rerank);
  const sources = await Promise.all(options.files.map(readSource));
  const model = options.model ? await modelOf(environment) : undefined;
  const kept = options.keep !== undefined;
  const folder = options.keep === undefined ? await mkdtemp(join(tmpdir(), "butler-quality-")) : resolve(options.keep);
  const progress = progressLine("Quality");
  const bench: Bench = {
    site: { folder, kept, databaseUrl: options.databaseUrl, model, models: placeOf(environment) },
    sources,
    settings,
    mode,
    variants: options.ablation ? variantsOf(settings) : [FULL],
    pool: options.pool,
    distractors: options.distractors,
    progress,
  };
  try {
    const runs = await measure(bench);
    progress.done("done");
    for (const line of options.json ? [jsonOf(runs, options)] : words(runs, bench, options)) say(line);
    if (options.svg !== undefined) {
      await mkdir(options.svg, { recursive: true });
      await writeFile(join(options.svg, "recall-at-10.svg"), barChart(chartOf(runs)));
    }
  } catch (error) {
    progress.done("failed");
    throw error;
  } finally {
    if (!kept) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function jsonOf(runs: readonly QualityRun[], { files, ablation }: QualityOptions): string {
  const [only] = runs;
  return JSON.stringify(files.length === 1 && !ablation ? only : { runs }, null, 2);
}

function words(runs: readonly QualityRun[], { sources }: Bench, { ablation }: QualityOptions): string[] {
  if (!ablation) return runs.flatMap(runLines);
  const documents = new Set(sources.filter(({ data }) => !data.sessions).map(({ data }) => data.file));
  return [...runs.filter((run) => run.variant === FULL.name).flatMap(runLines), ...ablationLines(runs, documents)];
}

function oneOf<T extends string>(known: readonly T[], given: string, flag: string): T {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw invalid(
    flag.slice(2),
    `${flag} is "${given}"; it must be ${known.join(", ").replace(/, ([^,]+)$/, " or $1")}.`,
  );
}

export async function readSource(path: string): Promise<Source> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT"
      ? notFound(`There is no data file ${path}.`)
      : invalid("data", `The data file ${path} cannot be read: ${error.message}`);
  });
  return { data: readData(text, path), sha256: createHash("sha256").update(text).digest("hex") };
}

const placeOf = ({ modelDir, home }: Environment) => ({ modelDir, cacheDir: homeAt(home).models });

async function modelOf(environment: Environment): Promise<ModelFiles> {
  const model = await locateModel({ ...placeOf(environment), variant: "int8" });
  if (model) return model;
  throw unavailable("There is no embedding model; butler model pull fetches it, and --no-model measures without it.");
}
