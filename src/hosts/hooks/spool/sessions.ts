/**
 * What hosts leave for the owner, as small files: which transcript belongs to which session, and exchanges that could not be
 * handed over. A host that finds no owner writes here and goes on; nothing that was announced is lost when an owner dies.
 */

import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../../daemon/home.ts";
import { errorCode } from "../../../engine/domain/errors.ts";
import { type By, failedFolder, filesIn, namesEnding, readJson, writeJson } from "./files.ts";
import type { Trouble } from "./rows.ts";

export interface Announcement {
  /** Nobody else may name files of this machine. */
  readonly by: "local";
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
  /** Why it could not be taken in since. */
  readonly trouble?: Trouble | undefined;
}

/** Sessions can be resumed for weeks; what is older is found again by its idempotency keys if at all. */
const KEPT_MS = 30 * 86_400_000;

const ANNOUNCED = ".session.json";
const READ = ".read.json";
const SHOWN = ".shown.json";
/** Files of `spool-rows.ts`. */
const ROW = ".row.json";
const WARNED = ".warned";

interface Named extends Pick<Announcement, "butler" | "agent" | "session"> {
  readonly by: By;
}

/** Agents choose the names of their sessions themselves: the same name of another tenant or token is another session. */
export const sessionKey = ({ by, butler, agent, session }: Named): string =>
  createHash("sha256")
    .update(JSON.stringify([by === "local" ? by : [by.tenant, by.name, by.butler], butler, agent, session]))
    .digest("hex")
    .slice(0, 24);

export function announce(home: Home, entry: Announcement): Announced {
  const key = sessionKey(entry);
  const announced = { ...entry, key, mark: randomUUID() };
  writeJson(home.spool, `${key}${ANNOUNCED}`, announced);
  return announced;
}

/** Without a note of who speaks it is of an older version and nobody's: the session announces itself again. */
export function readAnnounced(home: Home, key: string): Announced | undefined {
  const found = readJson<Announced>(home.spool, `${key}${ANNOUNCED}`);
  return found?.by === "local" ? found : undefined;
}

export const readProgress = (home: Home, key: string): Progress | undefined => readJson(home.spool, `${key}${READ}`);
export const writeProgress = (home: Home, key: string, progress: Progress): void =>
  writeJson(home.spool, `${key}${READ}`, progress);

/** Ids of memories that a session has been told; undefined when it has not been told anything at all. */
export const readShown = (home: Home, key: string): readonly string[] | undefined =>
  readJson(home.spool, `${key}${SHOWN}`);
export const writeShown = (home: Home, key: string, ids: readonly string[]): void =>
  writeJson(home.spool, `${key}${SHOWN}`, ids);

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

export const readWarned = (home: Home, key: string): Warned | undefined => readJson(home.spool, `${key}${WARNED}`);
export const writeBack = (home: Home, key: string): void =>
  writeJson(home.spool, `${key}${WARNED}`, "back" satisfies Warned);

export const announcedKeys = (home: Home): string[] => namesEnding(home.spool, ANNOUNCED);

/** Exchanges that still wait are kept for as long as it takes. */
export function tidySpool(home: Home, now: Date): void {
  for (const folder of [home.spool, failedFolder(home)]) {
    for (const name of filesIn(folder)) {
      const file = join(folder, name);
      const stat = statSync(file, { throwIfNoEntry: false });
      const waits = folder === home.spool && name.endsWith(ROW);
      if (stat?.isFile() && !waits && now.getTime() - stat.mtimeMs > KEPT_MS) rmSync(file, { force: true });
    }
  }
}
