/** What a running owner says about itself in `run/owner.json`. The kernel lock decides who owns; this file only informs. */
import { createHash } from "node:crypto";
import { type Home, readIfThere, writePrivate } from "../home.ts";

export interface OwnerNote {
  readonly pid: number;
  readonly version: string;
  /** `up` was started by a person and stays; `auto` was started by a client and leaves when nobody needs it. */
  readonly mode: "up" | "auto";
  /** Where HTTP is served; null when only the local socket is. */
  readonly address: string | null;
  readonly port: number | null;
  readonly started: string;
  /** True when the owner works on fixed time (BUTLER_NOW). */
  readonly fixed: boolean;
  /** A hash of the database URL, by which owners of different servers differ; null for embedded stores. */
  readonly database: string | null;
}

/** Checked by hand: a hook that has to start an owner would wait 70 ms for a schema library to load. */
export function ownerNoteIn(value: unknown): OwnerNote | undefined {
  const note = (value ?? {}) as Partial<Record<keyof OwnerNote, unknown>>;
  const textOrNull = (one: unknown) => one === null || typeof one === "string";
  const sound =
    typeof note.pid === "number" &&
    typeof note.version === "string" &&
    (note.mode === "up" || note.mode === "auto") &&
    textOrNull(note.address) &&
    (note.port === null || typeof note.port === "number") &&
    typeof note.started === "string" &&
    typeof note.fixed === "boolean" &&
    textOrNull(note.database);
  return sound ? (value as OwnerNote) : undefined;
}

/** Equal for equal URLs. A URL may hold a password, so it is never written down itself. */
export function databaseMark(url: string | undefined): string | null {
  return url === undefined ? null : createHash("sha256").update(url).digest("hex").slice(0, 16);
}

export function writeOwnerNote(home: Home, note: OwnerNote): void {
  writePrivate(home.ownerFile, `${JSON.stringify(note, null, 2)}\n`);
}

export function readOwnerNote(home: Home): OwnerNote | undefined {
  const text = readIfThere(home.ownerFile);
  if (text === undefined) return undefined;
  try {
    return ownerNoteIn(JSON.parse(text));
  } catch {
    // A file of another version counts as none: the lock and the socket say who owns.
    return undefined;
  }
}
