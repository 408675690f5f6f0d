/** Small JSON files in the spool of a home, each written as a whole. */

import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Home, readIfThere, writePrivate, writePrivateAside } from "../../../daemon/home.ts";
import type { Principal } from "../../../doors/backend.ts";
import { isMissing } from "../../../engine/domain/errors.ts";
import { TRUST } from "../../../engine/domain/learning/trust.ts";

/**
 * Whose words an entry holds, and as whom it is ingested. `local`: a process of the person who owns this home, calling for the
 * butler it names. All others came with a token, and their principal is kept in the entry.
 */
export type By = "local" | Principal;

export function isBy(value: unknown): value is By {
  if (value === "local") return true;
  const { name, tenant, butler, admin, voice } = (value ?? {}) as Record<keyof Principal, unknown>;
  const texts = [name, tenant, butler, voice].every((text) => typeof text === "string");
  return texts && typeof admin === "boolean" && TRUST.some((known) => known === voice);
}

export function writeJson(folder: string, name: string, value: unknown): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePrivate(join(folder, name), jsonLine(value));
}

/** The same beside other work. */
export async function writeJsonAside(folder: string, name: string, value: unknown): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await writePrivateAside(join(folder, name), jsonLine(value));
}

const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Undefined also for invalid JSON: such a file was cut off by a full disk or written by another version. */
export function readJson<T>(folder: string, name: string): T | undefined {
  const text = readIfThere(join(folder, name));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Names of the files with this ending, without it. */
export const namesEnding = (folder: string, ending: string): string[] =>
  filesIn(folder).flatMap((name) => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : []));

export function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The folder of exchanges that could not be stored. */
export const failedFolder = (home: Home): string => join(home.spool, "failed");
