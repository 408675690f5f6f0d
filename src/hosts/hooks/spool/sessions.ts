/**
 * Small files about each session in the spool: where its transcript is, how far that was read, and what the session was shown and warned of. A
 * hook that finds no owner writes here and goes on; an announcement survives the death of an owner.
 */

import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../../daemon/home.ts";
import { systemClock } from "../../../engine/adapters/clock.ts";
import { errorCode } from "../../../engine/domain/errors.ts";
import type { Moment } from "../dialects.ts";
import { type By, failedFolder, filesIn, namesEnding, readJson, writeJson, writeJsonAside } from "./files.ts";
import type { Trouble } from "./rows.ts";

export interface Announcement {
  /** Only local callers may name files of this machine. */
  readonly by: "local";
  readonly agent: string;
  readonly session: string;
  readonly butler: string;
  readonly transcript: string;
  readonly folder: string;
  readonly project?: string | undefined;
  /** The session is over. A transcript whose session never says so is read when it has not grown for a while. */
  readonly ended: boolean;
  /** The agent works on a prompt, or waits for the first: an unfinished exchange is not read yet. */
  readonly working?: boolean | undefined;
}

export interface Announced extends Announcement {
  readonly key: string;
  /** New at each announcement. */
  readonly mark: string;
  /** When its event was, in milliseconds since 1970; absent in those of older versions. */
  readonly at?: number;
}

/** How far the owner has read a transcript; only the owner writes it. */
export interface Progress {
  /** Bytes of the transcript that need not be read again. */
  readonly offset: number;
  /** Of the announcement that was followed last. */
  readonly mark: string;
  /** The size of the transcript at that time; where an unfinished exchange was left, the bytes before it. */
  readonly size: number;
  readonly episodes: number;
  /** Why it could not be read or stored since. */
  readonly trouble?: Trouble | undefined;
}

/** Sessions are resumed for weeks. An older one is read again from its start; idempotency keys keep it from being stored twice. */
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

/** Agents choose the ids of their sessions: the same id from another tenant or token is another session. */
export const sessionKey = ({ by, butler, agent, session }: Named): string =>
  createHash("sha256")
    .update(JSON.stringify([by === "local" ? by : [by.tenant, by.name, by.butler], butler, agent, session]))
    .digest("hex")
    .slice(0, 24);

/** How a session stands after an event. */
export const standingAt = (moment: Moment): Pick<Announcement, "ended" | "working"> => ({
  ended: moment === "end",
  working: moment === "start" || moment === "prompt",
});

/**
 * `gone`: when the event was, if its hook did not wait for an owner. Such an event may come after the end of its own turn, and then it says
 * nothing about where the session stands.
 */
export function announce(home: Home, entry: Announcement, gone?: number): void {
  const announced = announcementAt(home, entry, gone);
  if (announced) writeJson(home.spool, `${announced.key}${ANNOUNCED}`, announced);
}

/** The same beside other work; a caller keeps the announcements of a session in their order. */
export async function announceAside(home: Home, entry: Announcement, gone?: number): Promise<void> {
  const announced = announcementAt(home, entry, gone);
  if (announced) await writeJsonAside(home.spool, `${announced.key}${ANNOUNCED}`, announced);
}

/** Undefined when a later event was announced before. */
function announcementAt(home: Home, entry: Announcement, gone: number | undefined): Announced | undefined {
  const key = sessionKey(entry);
  const at = gone ?? systemClock.now().getTime();
  const before = gone === undefined ? undefined : readAnnounced(home, key);
  if (before?.at !== undefined && before.at > at) return undefined;
  return { ...entry, key, mark: randomUUID(), at };
}

/** An announcement without `by` was written by an older version and is ignored: the session announces itself again. */
export function readAnnounced(home: Home, key: string): Announced | undefined {
  const found = readJson<Announced>(home.spool, `${key}${ANNOUNCED}`);
  return found?.by === "local" ? found : undefined;
}

export const readProgress = (home: Home, key: string): Progress | undefined => readJson(home.spool, `${key}${READ}`);
export const writeProgress = (home: Home, key: string, progress: Progress): void =>
  writeJson(home.spool, `${key}${READ}`, progress);

/** Ids of the memories that a session was shown; undefined when it was given no context yet. */
export const readShown = (home: Home, key: string): readonly string[] | undefined =>
  readJson(home.spool, `${key}${SHOWN}`);
export const writeShown = (home: Home, key: string, ids: readonly string[]): void =>
  writeJson(home.spool, `${key}${SHOWN}`, ids);

/** What the session was told: `without`, that it runs without memory; `late`, that context follows; `back`, that memory is there again. */
export type Warned = "without" | "late" | "back";

/** True for the first caller of a session: it is warned once, by the process that first finds memory out of reach. */
export function firstWarning(home: Home, key: string, warned: Exclude<Warned, "back">): boolean {
  try {
    mkdirSync(home.spool, { recursive: true, mode: 0o700 });
    writeFileSync(join(home.spool, `${key}${WARNED}`), `"${warned}"`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    // In a home that cannot be written the warning is repeated.
    return errorCode(error) !== "EEXIST";
  }
}

export const readWarned = (home: Home, key: string): Warned | undefined => readJson(home.spool, `${key}${WARNED}`);
export const writeBack = (home: Home, key: string): void =>
  writeJson(home.spool, `${key}${WARNED}`, "back" satisfies Warned);

export const announcedKeys = (home: Home): string[] => namesEnding(home.spool, ANNOUNCED);

/** Removes old files, except exchanges that still wait to be stored. */
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
