import { parentPort, workerData } from "node:worker_threads";
import { PGlite, type PGliteOptions } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { messageOf } from "../../domain/errors.ts";
import { stepBehind } from "../threads/thread-priority.ts";
import { DurableFs, databaseBytes, explainFailure, finishFolder, prepareFolder } from "./durable-fs.ts";
import { compileEngine, type EngineCode } from "./pglite-code.ts";
import { openPgliteSettings, type PgliteSettings } from "./pglite-settings.ts";
import { preparedStatements, type Statements } from "./pglite-statements.ts";
import type { Settings } from "./port.ts";
import { unpackSnapshot } from "./unpack-snapshot.ts";

export type Start = {
  /** Undefined: nobody has compiled it yet. */
  code: EngineCode | undefined;
  dir: string | undefined;
  durable: boolean;
  snapshot: Uint8Array | undefined;
  settings: Record<string, string>;
};
/** `under`: the settings of what begins here; absent inside of a transaction. */
export type Call =
  | { id: number; op: "query"; text: string; params: unknown[]; under?: Settings }
  | { id: number; op: "exec"; text: string; under: Settings }
  | { id: number; op: "begin"; under: Settings }
  | { id: number; op: "commit" | "rollback" | "dump" | "close" };
export type Failure = { message: string; unavailable: boolean; fields: Record<string, string> };
export type Reply =
  | { id: number; value?: unknown; failure?: Failure }
  | { fatal: string }
  | { code: EngineCode }
  | { changed: string[]; counted: boolean };

/** The SQLSTATE of the notices in which triggers tell the ids of memories that a statement changed, with commas between them. */
export const CHANGED = "BM001";
/** The same where a reading was counted and nothing else changed. */
const COUNTED = "BM002";

/** The checkpoint that bounds the WAL runs after this many bytes; a replay of 64 MB takes about a second. */
const WAL_LIMIT = 64 * 1024 * 1024;
/** Above this a result's bytes move to the other thread instead of being copied. */
const TRANSFER_FROM = 16 * 1024;
/** Of the files of a database whose pages all find room in 32 MB, with some to spare. */
const SMALL = 24 * 1024 * 1024;
const ERROR_FIELDS = ["code", "detail", "hint", "constraint", "severity", "schema", "table", "column", "dataType"];
const MORE_FIELDS = ["position", "where", "internalPosition", "internalQuery", "file", "line", "routine"];

if (parentPort === null) throw new Error("this file runs as a worker thread");
const port = parentPort;
const start = workerData as Start;
let transfers: ArrayBuffer[] = [];
let lastWords = "";

const post = (reply: Reply, moved: ArrayBuffer[] = []) => port.postMessage(reply, moved);

/** PGlite swallows what its engine throws and would go on with a dead backend: the thread is ended instead. */
function fatal(reason: string): never {
  post({ fatal: `${reason} ${lastWords}`.replace(/\s+/g, " ").trim() });
  process.exit(1);
}

/** Each value gets memory of its own: a message with a pooled Buffer would carry the whole pool. */
function ownBytes(view: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(view);
  if (bytes.length >= TRANSFER_FROM) transfers.push(bytes.buffer);
  return bytes;
}

const parseBytes = (hex: string): Uint8Array => ownBytes(Buffer.from(hex.slice(2), "hex"));

function formatBytes(value: unknown): string {
  if (typeof value === "string") return value;
  if (!(value instanceof Uint8Array)) throw new Error("a bytea parameter must be a Uint8Array");
  return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`;
}

function parseTime(text: string): Date | number {
  if (text === "infinity") return Number.POSITIVE_INFINITY;
  if (text === "-infinity") return Number.NEGATIVE_INFINITY;
  return new Date(text);
}

function startParams(fresh: boolean): string[] {
  const wal = ["min_wal_size=32MB", "max_wal_size=64MB"];
  const durable = ["fsync=on", "synchronous_commit=on", "wal_sync_method=fsync"];
  const settings = [...wal, ...(start.durable ? durable : []), `shared_buffers=${buffersFor(start.dir, fresh)}`];
  const params = PGlite.defaultStartParams.filter((param) => param !== "-F" || !start.durable);
  return [...params, ...settings.flatMap((setting) => ["-c", setting])];
}

/**
 * PostgreSQL writes zeros into all its buffers at the start: 128 MB cost 90 ms and stay in memory. A store whose rows and indexes fit
 * into fewer gets fewer; a new one may be about to be filled.
 */
function buffersFor(dir: string | undefined, fresh: boolean): string {
  return dir !== undefined && !fresh && databaseBytes(dir) < SMALL ? "32MB" : "128MB";
}

async function open(): Promise<{ pg: PGlite; files: DurableFs | undefined }> {
  const { dir, snapshot } = start;
  const code = start.code ?? (await compileEngine());
  if (start.code === undefined) post({ code });
  const fresh = dir === undefined || prepareFolder(dir);
  const files = dir === undefined ? undefined : new DurableFs(dir, start.durable, fatal);
  if (files !== undefined && fresh) files.syncing = false;
  const options: PGliteOptions = {
    extensions: { vector },
    parsers: { 17: parseBytes, 20: (text: string) => text, 1184: parseTime },
    serializers: { 17: formatBytes },
    pgliteWasmModule: code as NonNullable<PGliteOptions["pgliteWasmModule"]>,
    startParams: startParams(fresh),
    onStderr: (text) => {
      lastWords = `${lastWords}\n${text}`.slice(-600);
      return false;
    },
  };
  if (files !== undefined) options.fs = files;
  try {
    if (fresh && snapshot !== undefined) {
      if (dir === undefined) options.loadDataDir = new Blob([new Uint8Array(snapshot)]);
      else unpackSnapshot(snapshot, dir);
    }
    const pg = await PGlite.create(options);
    // The library must be loaded before its settings exist; the extension itself is made by a migration.
    await pg.exec("load 'vector'");
    const settings = [Object.keys(start.settings), Object.values(start.settings)];
    await pg.query(
      "select set_config(name, value, false) from unnest($1::text[], $2::text[]) as s (name, value)",
      settings,
    );
    if (fresh && dir !== undefined) await finishFolder(dir, start.durable);
    if (files !== undefined) files.syncing = true;
    lastWords = "";
    return { pg, files };
  } catch (error) {
    throw explainFailure(dir ?? "memory", error, lastWords);
  }
}

function describe(error: unknown): Failure {
  const fields: Record<string, string> = {};
  if (typeof error === "object" && error !== null) {
    for (const name of [...ERROR_FIELDS, ...MORE_FIELDS]) {
      const value = (error as Record<string, unknown>)[name];
      if (typeof value === "string") fields[name] = value;
    }
  }
  const unavailable = error instanceof Error && error.name === "MemoryError";
  return { message: messageOf(error), unavailable, fields };
}

async function run(pg: PGlite, statements: Statements, settings: PgliteSettings, call: Call): Promise<unknown> {
  if ("under" in call && call.under !== undefined) await settings.use(call.under);
  switch (call.op) {
    case "query":
      return statements.query(call.text, call.params, settings.role());
    case "exec":
      return statements.exec(call.text);
    case "commit":
      // The tag is ROLLBACK when a statement had failed and the caller swallowed its error.
      return (await pg.exec("commit"))[0]?.command;
    case "begin":
    case "rollback":
      await pg.exec(call.op);
      return undefined;
    case "dump": {
      await settings.use({});
      await pg.exec("checkpoint");
      const bytes = new Uint8Array(await (await pg.dumpDataDir("none")).arrayBuffer());
      transfers.push(bytes.buffer);
      return bytes;
    }
    case "close":
      try {
        await settings.use({});
        await pg.exec("checkpoint");
      } finally {
        await pg.close();
      }
      return undefined;
  }
}

/**
 * Once it is open, this thread gives way to those who answer: most of its work follows an answer or is a write's. At 50 contexts and 40 episodes a second on two
 * cores the threads that answer waited for a core for 160 ms of each second instead of 210. Further behind it would hardly run beside other work.
 */
const BEHIND = 5;

async function serve(): Promise<void> {
  const { pg, files } = await open();
  let changed: string[] = [];
  let counted: string[] = [];
  const statements = preparedStatements(pg, ownBytes, (code, message) => {
    if (code === CHANGED && message) changed.push(message);
    if (code === COUNTED && message) counted.push(message);
  });
  const settings = openPgliteSettings(statements);
  let inTransaction = false;
  const handle = async (call: Call) => {
    if (call.op === "begin") inTransaction = true;
    if (call.op === "commit" || call.op === "rollback") inTransaction = false;
    statements.setInTransaction(inTransaction);
    transfers = [];
    try {
      const value = await run(pg, statements, settings, call);
      // Before the answer: whoever waited for it finds the change known.
      if (!inTransaction && call.op !== "rollback") {
        if (changed.length > 0) post({ changed, counted: false });
        if (counted.length > 0) post({ changed: counted, counted: true });
      }
      if (!inTransaction) [changed, counted] = [[], []];
      post({ id: call.id, value }, transfers);
    } catch (error) {
      if (!inTransaction) [changed, counted] = [[], []];
      post({ id: call.id, failure: describe(error) });
    }
    if (files !== undefined && files.walBytes > WAL_LIMIT && !inTransaction && call.op !== "close") {
      files.walBytes = 0;
      await settings.use({});
      await pg.exec("checkpoint");
    }
  };
  let last = Promise.resolve();
  port.on("message", (call: Call) => {
    last = last.then(() => handle(call)).catch((error: unknown) => fatal(String(error)));
  });
  stepBehind(BEHIND);
  post({ id: 0 });
}

serve().catch((error: unknown) => post({ id: 0, failure: describe(error) }));
