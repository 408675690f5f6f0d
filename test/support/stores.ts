/** Every flow runs on both stores, embedded and a server; some of them on a server with a pool of one too. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, inject } from "vitest";
import type { Clock } from "../../src/engine/adapters/clock.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { openOnnxEmbedder } from "../../src/engine/adapters/embedder/onnx.ts";
import type { Embedder } from "../../src/engine/adapters/embedder/port.ts";
import { localExtractor } from "../../src/engine/adapters/extractor/local.ts";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";
import type { Vault } from "../../src/engine/adapters/vault/port.ts";
import { type OpenMemory, openMemory } from "../../src/engine/memory/open.ts";
import { openRehearsal } from "../../src/engine/memory/recall/rehearse.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { noteChanges } from "../../src/engine/store/read-model/changes.ts";
import { tellChanges } from "../../src/engine/store/read-model/triggers.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { callTool, type Identity } from "../../src/engine/tools/call.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { closeSharedAtEnd } from "./file-end.ts";
import { testModel } from "./model.ts";
import { cloneDatabase, templateDatabase } from "./postgres.ts";
import { takeStore } from "./reused-stores.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions of each test, field by field.
type Answer = Record<string, any>;

export interface Rig {
  readonly memory: OpenMemory;
  readonly db: Db;
  /** Moves the fixed clock. */
  set(now: string | Date): void;
  later(days: number): void;
  readonly now: Date;
  outcome(tool: string, input: unknown, extra?: Partial<ToolRequest> & { as?: Partial<Identity> }): Promise<Outcome>;
  /** The answer; throws what the tool refused with. */
  call(tool: string, input: unknown, extra?: Partial<ToolRequest> & { as?: Partial<Identity> }): Promise<Answer>;
  /** The error code; throws if the call succeeded. */
  refused(
    tool: string,
    input: unknown,
    extra?: Partial<ToolRequest> & { as?: Partial<Identity> },
  ): Promise<{ code: string; message: string; field?: string }>;
  settled(): Promise<void>;
}

export interface RigOptions {
  readonly settings?: unknown;
  readonly model?: boolean;
  readonly role?: "butler" | "memory";
  readonly butler?: string;
  readonly vault?: Vault;
  readonly rehearses?: boolean;
}

export type OpenRig = (options?: RigOptions) => Promise<Rig>;

const START = "2026-03-01T12:00:00.000Z";
const CACHE = fileURLToPath(new URL("../../.cache/test", import.meta.url));
const FOLDER = new URL("../../src/engine/store/migrations/", import.meta.url);
const MIGRATIONS = readdirSync(FOLDER)
  .sort()
  .map((name) => readFileSync(new URL(name, FOLDER)));
const SECURITY = readFileSync(new URL("../access/row-security.ts", FOLDER));
const TRIGGERS = ["triggers.ts", "changes.ts"].map((name) => readFileSync(new URL(`../read-model/${name}`, FOLDER)));
const digest = createHash("sha256")
  .update(Buffer.concat([...MIGRATIONS, SECURITY, ...TRIGGERS]))
  .digest("hex")
  .slice(0, 16);

let embedder: Promise<Embedder> | undefined;

/** For all files that share modules: it ends with the process. */
function sharedEmbedder(): Promise<Embedder> {
  embedder ??= testModel().then((files) => openOnnxEmbedder(files));
  return embedder;
}

/** Migrating takes seconds, copying a migrated store a fraction of one. */
export const migratedSnapshot = (): Promise<Uint8Array> => snapshotOf(`pglite-${digest}`, migrate);

/** With the triggers too that the read model makes at the first search. */
const followedSnapshot = (): Promise<Uint8Array> =>
  snapshotOf(`pglite-followed-${digest}`, async (db) => {
    await migrate(db);
    await tellChanges(db);
  });

async function snapshotOf(name: string, make: (db: Db) => Promise<unknown>): Promise<Uint8Array> {
  const path = `${CACHE}/${name}.tar`;
  if (!existsSync(path)) {
    mkdirSync(CACHE, { recursive: true });
    const db = await openPglite({ dir: undefined });
    await make(db);
    const dump = await db.dump();
    await db.close();
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, dump);
    renameSync(temporary, path);
  }
  return readFileSync(path);
}

const openEmbedded = async () => ({
  db: await openPglite({ dir: undefined, snapshot: await followedSnapshot() }),
  drop: async () => undefined,
});

function openServer(max: number | undefined) {
  return async () => {
    const url = inject("postgresUrl");
    if (url === undefined) throw new Error("no PostgreSQL server in this run");
    const template = await templateDatabase(url, `butler_template_${digest}`, async (at) => {
      const db = await openPostgres({ url: at });
      await migrate(db);
      await noteChanges(db);
      await db.close();
    });
    const database = await cloneDatabase(url, template);
    const db = await openPostgres({ url: database.url, ...(max === undefined ? {} : { max }) });
    return { db: db as Db, drop: () => database.drop() };
  };
}

export const STORES: readonly {
  name: string;
  server: boolean;
  poolOfOne?: boolean;
  open(): Promise<{ db: Db; drop(): Promise<unknown> }>;
}[] = [
  { name: "PGlite", server: false, open: openEmbedded },
  { name: "PostgreSQL", server: true, open: openServer(undefined) },
  { name: "PostgreSQL, pool of one", server: true, poolOfOne: true, open: openServer(1) },
];

/**
 * Runs the suite once per store; what a test opens is closed after it. Not with a pool of one: a database for each test makes
 * that lane dear, the embedded store has one connection by its nature, and suites that share one store run with such a pool.
 */
export function onEachStore(name: string, suite: (open: OpenRig, store: string) => void, only?: "embedded"): void {
  for (const store of STORES.filter(({ poolOfOne }) => !poolOfOne)) {
    if (only === "embedded" && store.server) continue;
    describe.skipIf(store.server && inject("postgresUrl") === undefined)(`${name} on ${store.name}`, () => {
      const closing: (() => Promise<unknown>)[] = [];
      afterEach(async () => {
        for (const close of closing.splice(0).toReversed()) await close();
      });
      suite(async (options = {}) => {
        const { db, drop } = await takeStore(store.name, store.open);
        closing.push(drop);
        const rig = await openRig(db, options);
        closing.push(() => rig.memory.close());
        return rig;
      }, store.name);
    });
  }
  closeSharedAtEnd();
}

export async function openRig(db: Db, options: RigOptions = {}): Promise<Rig> {
  let now = new Date(START);
  const clock: Clock = { now: () => now, fixed: true };
  const settings = Settings.parse(options.settings ?? {});
  const memory = await openMemory({
    butler: options.butler ?? "general",
    role: options.role ?? "butler",
    db,
    clock,
    ids: uuidv7Source(),
    embedder: options.model === false ? undefined : await sharedEmbedder(),
    tokenizer: await openTokenizer(settings.retrieval.tokenizer),
    extractor: localExtractor(),
    settings,
    vault: options.vault,
    rehearsal: options.rehearses === true ? openRehearsal() : undefined,
    log: silentLog,
  });
  const outcome: Rig["outcome"] = (tool, input, { as, ...extra } = {}) =>
    callTool(
      memory,
      { name: "test", tenant: "default", butler: "*", admin: false, voice: "user", ...as },
      { tool, input, ...extra },
    );
  return {
    memory,
    db,
    get now() {
      return now;
    },
    set: (at) => {
      now = new Date(at);
    },
    later: (days) => {
      now = new Date(now.getTime() + days * 86_400_000);
    },
    outcome,
    async call(tool, input, extra) {
      const result = await outcome(tool, input, extra);
      if (!result.ok) throw new Error(`${tool} refused: ${result.error.code}: ${result.error.message}`);
      return result.answer;
    },
    async refused(tool, input, extra) {
      const result = await outcome(tool, input, extra);
      if (result.ok) throw new Error(`${tool} should have been refused: ${JSON.stringify(result.answer)}`);
      return result.error;
    },
    async settled() {
      await memory.afterwards.settled();
      await memory.readModel.settled();
    },
  };
}
