/** The stores that `butler bench quality` asks: built once each, opened anew for every variant, thrown away or kept. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../engine/adapters/clock.ts";
import { hasDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import type { ModelFiles } from "../../engine/adapters/model/files.ts";
import { RECIPE, type Recipe } from "../../engine/domain/ranking/recipe.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import type { Settings } from "../../engine/memory/settings.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import type { ModelFolders } from "../../main/wiring/models.ts";
import { benchButler, dropDatabase } from "../bench-home.ts";
import { type Filled, fill, type Unit } from "./fill.ts";

/** What goes into one store, and an identity that changes when the content does. */
export interface Plan {
  readonly label: string;
  readonly units: readonly Unit[];
  readonly distractors: number;
  readonly identity: string;
}

export interface Site {
  readonly folder: string;
  readonly kept: boolean;
  readonly databaseUrl: string | undefined;
  readonly model: ModelFiles | undefined;
  /** The folders that are searched for a cross-encoder. */
  readonly models: ModelFolders;
}

export interface Opening {
  readonly settings: Settings;
  readonly recipe?: ((recipe: Recipe) => Recipe) | undefined;
  readonly noModel?: boolean;
}

export interface Built {
  readonly filled: Filled;
  /** Opens store and model anew: the embedder caches recent questions, so a second variant would seem too fast. */
  use<T>(opening: Opening, work: (memory: Memory) => Promise<T>): Promise<T>;
}

type Show = (done: number, total: number, what: string) => void;

export const qualitySettings = (): Settings => benchButler("bench").config.memory;

export async function withStore<T>(site: Site, plan: Plan, show: Show, work: (built: Built) => Promise<T>): Promise<T> {
  const { databaseUrl } = site;
  const identity = createHash("sha256")
    .update(JSON.stringify([plan.identity, plan.distractors, site.model?.version.sha256, databaseUrl]))
    .digest("hex");
  const { config: butler } = benchButler(
    site.kept ? `q_${identity.slice(0, 16)}` : `q_${process.pid}_${identity.slice(0, 8)}`,
  );
  const folder = join(site.folder, butler.name);
  const place = { folder: () => join(folder, "store"), databaseUrl };

  async function use<R>({ settings, ...opening }: Opening, task: (memory: Memory) => Promise<R>): Promise<R> {
    const embedder = site.model && !opening.noModel ? await openOnnxEmbedder(site.model) : undefined;
    const recipe = opening.recipe?.(RECIPE);
    const open = memoryOpener({ stores: place, clock: systemClock, log: silentLog, models: site.models, recipe });
    try {
      const memory = await open({ ...butler, memory: settings }, embedder);
      try {
        return await task(memory);
      } finally {
        await memory.close();
      }
    } finally {
      await embedder?.close();
    }
  }

  async function build(): Promise<Filled> {
    const note = join(folder, "filled.json");
    const before = await readNote(note);
    if (before !== undefined && (await isThere())) return before;
    // A store without filled.json was left half-built; filled.json may also outlive a database that somebody dropped.
    await remove();
    await mkdir(folder, { recursive: true });
    const filled = await use({ settings: butler.memory }, (memory) =>
      fill(memory, plan.units, plan.distractors, (done, total) => show(done, total, `${plan.label}: storing`)),
    );
    await writeFile(note, JSON.stringify({ why: filled.why, stored: [...filled.stored] }));
    return filled;
  }

  const isThere = async () =>
    databaseUrl === undefined ? existsSync(join(folder, "store")) : hasDatabase(databaseUrl, butler.name);

  async function remove(): Promise<void> {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    if (databaseUrl !== undefined) await dropDatabase(databaseUrl, butler.name);
  }

  try {
    return await work({ filled: await build(), use });
  } finally {
    if (!site.kept) await remove();
  }
}

async function readNote(path: string): Promise<Filled | undefined> {
  if (!existsSync(path)) return undefined;
  const { why, stored } = JSON.parse(await readFile(path, "utf8")) as { why?: string; stored: [string, string][] };
  return { why, stored: new Map(stored) };
}
