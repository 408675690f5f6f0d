/** What a running owner says about itself in `run/owner.json`. The kernel lock decides who owns; this file only informs. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { type Home, readIfThere, writePrivate } from "./home.ts";

export const OwnerNote = z.object({
  pid: z.number(),
  version: z.string(),
  /** `up` was started by a person and stays; `auto` was started by a client and leaves when nobody needs it. */
  mode: z.enum(["up", "auto"]),
  /** Where HTTP is served; null when only the local socket is. */
  address: z.string().nullable(),
  port: z.number().nullable(),
  started: z.string(),
  /** True when the owner works on fixed time (BUTLER_NOW). */
  fixed: z.boolean(),
  /** Which database server, as a mark that gives nothing away; null for embedded stores. */
  database: z.string().nullable(),
});
export type OwnerNote = z.infer<typeof OwnerNote>;

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
    return OwnerNote.parse(JSON.parse(text));
  } catch {
    // Left by another version: as good as none, because the lock and the socket tell the truth.
    return undefined;
  }
}
