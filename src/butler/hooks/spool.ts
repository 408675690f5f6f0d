/**
 * What hosts leave for the owner, as small files: which transcript belongs to which session, and exchanges that could not be
 * handed over. A host that finds no owner writes here and goes on; nothing that was announced is lost when an owner dies.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TRUST } from "../../domain/trust.ts";
import type { Principal } from "../../serve/host.ts";
import { errorCode, type Home, isMissing, readIfThere, writePrivate } from "../home.ts";

/**
 * Whose words are in an entry, and so who it is ingested as. `local`: a process of the person who owns this home, who speaks for the
 * butler it names. Everybody else came with a token, and whoever that was stays written beside their words.
 */
export type By = "local" | Principal;

export interface Announcement {
  readonly by: By;
  readonly agent: string;
  readonly session: string;
  readonly butler: string;
  readonly transcript: string;
  readonly folder: string;
  readonly project?: string | undefined;
  /** The session is over. One that never says so is picked up when its transcript has been quiet for a while. */
  readonly ended: boolean;
  /** A prompt is being worked on: what follows the last complete exchange is not read yet. */
  readonly working?: boolean | undefined;
}

export interface Announced extends Announcement {
  readonly key: string;
  /** Another one at each announcement. */
  readonly mark: string;
}

/** How far the owner has read; written by nobody else. */
export interface Progress {
  /** Bytes of the transcript that need not be read again. */
  readonly offset: number;
  /** The announcement that was answered last. */
  readonly mark: string;
  /** The transcript's size then. */
  readonly size: number;
  readonly episodes: number;
}

/** One row of `memory_ingest_batch` that waits. */
export interface WaitingRow {
  readonly by: By;
  readonly butler: string;
  readonly project?: string | undefined;
  readonly row: Record<string, unknown>;
}

/** Sessions can be resumed for weeks; what is older is found again by its idempotency keys if at all. */
const KEPT_MS = 30 * 86_400_000;

const ANNOUNCED = ".session.json";
const READ = ".read.json";
const SHOWN = ".shown.json";
const ROW = ".row.json";
const WARNED = ".warned";

type Named = Pick<Announcement, "by" | "butler" | "agent" | "session">;

/** Agents choose the names of their sessions themselves: the same name of another tenant or token is another session. */
export const sessionKey = ({ by, butler, agent, session }: Named): string =>
  createHash("sha256")
    .update(JSON.stringify([by === "local" ? by : [by.tenant, by.name, by.butler], butler, agent, session]))
    .digest("hex")
    .slice(0, 24);

export function announce(home: Home, entry: Announcement): Announced {
  const key = sessionKey(entry);
  const announced = { ...entry, key, mark: randomUUID() };
  put(home, `${key}${ANNOUNCED}`, announced);
  return announced;
}

export function leaveRow(home: Home, waiting: WaitingRow): void {
  put(home, `${randomUUID()}${ROW}`, waiting);
}

/** Without a note of who speaks it is of an older version and nobody's: the session announces itself again. */
export function readAnnounced(home: Home, key: string): Announced | undefined {
  const found = get<Announced>(home, `${key}${ANNOUNCED}`);
  return isBy(found?.by) ? found : undefined;
}
export const readProgress = (home: Home, key: string): Progress | undefined => get(home, `${key}${READ}`);
export const writeProgress = (home: Home, key: string, progress: Progress): void =>
  put(home, `${key}${READ}`, progress);

/** Ids of memories that a session has been told; undefined when it has not been told anything at all. */
export const readShown = (home: Home, key: string): readonly string[] | undefined => get(home, `${key}${SHOWN}`);
export const writeShown = (home: Home, key: string, ids: readonly string[]): void => put(home, `${key}${SHOWN}`, ids);

/** `without`: the session was told that it runs without memory. `late`: that what is known follows. `back`: that it is there again. */
export type Warned = "without" | "late" | "back";

/** True the first time for a session: that memory is out of reach is said once, by whoever finds out first. */
export function firstWarning(home: Home, key: string, warned: Exclude<Warned, "back">): boolean {
  try {
    mkdirSync(home.spool, { recursive: true, mode: 0o700 });
    writeFileSync(join(home.spool, `${key}${WARNED}`), `"${warned}"`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    // A home that cannot be written cannot remember it either.
    return errorCode(error) !== "EEXIST";
  }
}

export const readWarned = (home: Home, key: string): Warned | undefined => get(home, `${key}${WARNED}`);
export const writeBack = (home: Home, key: string): void => put(home, `${key}${WARNED}`, "back" satisfies Warned);

export const announcedKeys = (home: Home): string[] => named(home, ANNOUNCED);
export const waitingRows = (home: Home): string[] => named(home, ROW);
export const readRow = (home: Home, name: string): WaitingRow | undefined => get(home, `${name}${ROW}`);
export const dropRow = (home: Home, name: string): void => rmSync(join(home.spool, `${name}${ROW}`), { force: true });

export function tidySpool(home: Home, now: Date): void {
  for (const name of list(home)) {
    const file = join(home.spool, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat && !name.endsWith(ROW) && now.getTime() - stat.mtimeMs > KEPT_MS) rmSync(file, { force: true });
  }
}

function isBy(value: unknown): value is By {
  if (value === "local") return true;
  const { name, tenant, butler, admin, voice } = (value ?? {}) as Record<keyof Principal, unknown>;
  const texts = [name, tenant, butler, voice].every((text) => typeof text === "string");
  return texts && typeof admin === "boolean" && TRUST.some((known) => known === voice);
}

function named(home: Home, ending: string): string[] {
  return list(home).flatMap((name) => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : []));
}

function list(home: Home): string[] {
  try {
    return readdirSync(home.spool).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function put(home: Home, name: string, value: unknown): void {
  mkdirSync(home.spool, { recursive: true, mode: 0o700 });
  writePrivate(join(home.spool, name), `${JSON.stringify(value)}\n`);
}

/** A file that cannot be read was cut off by a full disk or written by another version: as good as none. */
function get<T>(home: Home, name: string): T | undefined {
  const text = readIfThere(join(home.spool, name));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
