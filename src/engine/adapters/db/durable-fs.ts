import fs from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { unavailable } from "../../domain/errors.ts";
import { closeTree } from "../files/private-files.ts";

/** What PGlite 0.5 runs. A folder of another major cannot be read by it. */
const POSTGRES_MAJOR = "18";
/** This file is in the folder of a new store until everything is on disk: a folder that has it was never used. */
const UNFINISHED = "butler-unfinished";

type InitArguments = Parameters<NodeFS["init"]>;
type InitResult = Awaited<ReturnType<NodeFS["init"]>>;
type Stream = { nfd: number; node: { parent: { name: string } } };
type StreamOps = {
  fsync?: (stream: Stream) => number;
  write: (stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number) => number;
};

type NodeOps = {
  mknod: (parent: unknown, name: string, mode: number, dev: unknown) => unknown;
  setattr: (node: unknown, attributes: { mode?: number }) => unknown;
};
type NodeFsOps = { stream_ops: StreamOps; node_ops: NodeOps };

/** PGlite asks for 0666 and sets it again whatever the umask is: every user of the machine could write the store. */
function closeNodes(nodes: NodeOps): void {
  const { mknod, setattr } = nodes;
  nodes.mknod = (parent, name, mode, dev) => mknod(parent, name, mode & ~0o077, dev);
  nodes.setattr = (node, attributes) =>
    setattr(node, attributes.mode === undefined ? attributes : { ...attributes, mode: attributes.mode & ~0o077 });
}

/**
 * PGlite's NodeFS has no fsync: PostgreSQL asks, nothing reaches the disk, and a power cut loses committed rows.
 * Here every fsync, of WAL segments, data files and folders (renames of new segments), is a real one.
 */
export class DurableFs extends NodeFS {
  /** Bytes of WAL written since the last checkpoint, which sets it to 0: a single-user PostgreSQL makes none by itself. */
  walBytes = 0;
  /** False while a new store is being made: it is synced as a whole at the end, which halves the time it takes. */
  syncing = true;
  readonly #durable: boolean;
  readonly #onFatal: (reason: string) => never;

  constructor(dir: string, durable: boolean, onFatal: (reason: string) => never) {
    super(dir);
    this.#durable = durable;
    this.#onFatal = onFatal;
  }

  override async init(...[pg, options]: InitArguments): Promise<InitResult> {
    const { emscriptenOpts } = await super.init(pg, options);
    const preRun = [...(emscriptenOpts.preRun ?? []), (mod: unknown) => this.#hook(mod)];
    // PostgreSQL aborts at a PANIC, e.g. when the WAL cannot be written.
    const onAbort = (what: unknown) => this.#onFatal(`PostgreSQL aborted ${String(what ?? "")}`);
    return { emscriptenOpts: { ...emscriptenOpts, preRun, onAbort } as InitResult["emscriptenOpts"] };
  }

  #hook(mod: unknown): void {
    const { stream_ops: ops, node_ops: nodes } = (mod as { FS: { filesystems: { NODEFS: NodeFsOps } } }).FS.filesystems
      .NODEFS;
    closeNodes(nodes);
    const write = ops.write;
    ops.write = (stream, buffer, offset, length, position) => {
      if (stream.node.parent.name === "pg_wal") this.walBytes += length;
      return write(stream, buffer, offset, length, position);
    };
    if (!this.#durable) return;
    ops.fsync = (stream) => {
      if (!this.syncing) return 0;
      try {
        fs.fsyncSync(stream.nfd);
        return 0;
      } catch (error) {
        // After a failed fsync the kernel may have dropped the dirty pages: only a replay of the WAL is safe.
        return this.#onFatal(`the disk refused to sync: ${String(error)}`);
      }
    };
  }
}

/** Checks the folder before PGlite touches it; true when a new store must be made in it. */
export function prepareFolder(dir: string): boolean {
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    const names = fs.readdirSync(dir);
    if (names.includes(UNFINISHED)) {
      for (const name of names) if (name !== UNFINISHED) fs.rmSync(join(dir, name), { recursive: true });
      return true;
    }
    if (names.length > 0) {
      checkVersion(dir, names);
      fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
      closeFolder(dir);
      return false;
    }
    fs.closeSync(fs.openSync(join(dir, UNFINISHED), "w", 0o600));
    syncPath(dir);
    return true;
  } catch (error) {
    throw explainFailure(dir, error);
  }
}

/** The size of the database that holds everything; PostgreSQL gives the database `postgres` this number. */
export function databaseBytes(dir: string): number {
  const folder = join(dir, "base", "5");
  const sizeOf = (name: string) => fs.statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return fs.existsSync(folder) ? fs.readdirSync(folder).reduce((sum, name) => sum + sizeOf(name), 0) : 0;
}

/** Files of stores that earlier versions made are made private once; after that only two modes are looked at. */
function closeFolder(dir: string): void {
  const mark = join(dir, "PG_VERSION");
  if ((fs.statSync(mark).mode & 0o077) === 0 && (fs.statSync(dir).mode & 0o077) === 0) return;
  closeTree(dir, (path) => path === mark);
  closeTree(mark);
}

function checkVersion(dir: string, names: string[]): void {
  if (!names.includes("PG_VERSION")) {
    throw unavailable(
      `The folder ${dir} holds files but no memory store: choose an empty folder, or the one the store is in.`,
    );
  }
  const version = fs.readFileSync(join(dir, "PG_VERSION"), "utf8").trim();
  if (version !== POSTGRES_MAJOR) {
    throw unavailable(
      `The store in ${dir} was made by PostgreSQL ${version}, this version reads ${POSTGRES_MAJOR}: export it with the version that made it and import it here.`,
    );
  }
}

/** A new store was written without fsync: syncs all of it, then marks it as finished. */
export async function finishFolder(dir: string, durable: boolean): Promise<void> {
  if (durable) await syncTree(dir);
  fs.unlinkSync(join(dir, UNFINISHED));
  if (durable) syncPath(dir);
}

/** Several at once share a commit of the file system's journal: the 1,146 files of a new store took 1.2 to 2 s one by one, and 0.2 s so. */
const SYNCS_AT_ONCE = 16;

async function syncTree(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  const waiting = pathsBelow(dir);
  const work = async () => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const file = await open(path, "r");
      await file.sync().finally(() => file.close());
    }
  };
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, work));
}

function pathsBelow(dir: string): string[] {
  const inside = fs.readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    return entry.isDirectory() ? pathsBelow(path) : entry.isFile() ? [path] : [];
  });
  return [dir, ...inside];
}

function syncPath(path: string): void {
  // Windows can neither open a folder nor sync a file that is open for reading only.
  if (process.platform === "win32") return;
  const fd = fs.openSync(path, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes one sentence, which says what to do, of an error of the file system or of PostgreSQL at open. PostgreSQL says on stderr (`said`) what happened, without a code. */
export function explainFailure(dir: string, error: unknown, said = ""): Error {
  if (error instanceof Error && error.name === "MemoryError") return error;
  const text = `${codeOf(error)} ${error instanceof Error ? error.message : ""} ${said}`;
  if (/ENOSPC|EDQUOT|53100|No space left|Disk quota/i.test(text)) {
    return unavailable(`The disk that holds ${dir} is full: free some space and start again; nothing was lost.`, error);
  }
  if (/EROFS|EACCES|EPERM|Read-only file system|Permission denied|Operation not permitted/i.test(text)) {
    return unavailable(`The store in ${dir} cannot be written: give this user write permission to the folder.`, error);
  }
  if (/ENOTDIR|EEXIST/.test(text)) {
    return unavailable(`The path ${dir} is not a folder: choose another place for the store.`, error);
  }
  return unavailable(
    `The store in ${dir} could not be opened (${text.trim().replace(/\s+/g, " ").slice(0, 300)}): restore a backup if this persists.`,
    error,
  );
}

/** PGlite's file system throws objects that are no Errors and carry only a WASI number. */
const WASI_CODES: Record<number, string> = { 2: "EACCES", 19: "EDQUOT", 51: "ENOSPC", 63: "EPERM", 69: "EROFS" };

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && error.code !== undefined) return String(error.code);
  return "errno" in error ? (WASI_CODES[Number(error.errno)] ?? `errno ${String(error.errno)}`) : "";
}
