/** The projects of a butler that sessions were in lately, by their root folders: a small file that outlives the owner. */

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Home, readIfThere, writePrivate } from "../../daemon/home.ts";
import { isRecord } from "../../engine/domain/record.ts";
import { indexFile } from "./opening-file.ts";

export interface KnownProjects {
  /** The one that was used last comes first. */
  roots(): string[];
  /** Returns the roots that there is no room for any more. */
  use(root: string, now: Date): string[];
  remove(root: string): void;
  /** Milliseconds since 1970; 0 when there is no project. */
  lastUsed(): number;
  save(): void;
}

const MOST_PROJECTS = 30;

export function knownProjects(home: Home, butler: string): KnownProjects {
  const file = indexFile(home, butler);
  /** When each was used, the oldest first. */
  const used = new Map(readIndex(file));
  let saved = used.size > 0;
  /** Somebody has removed the openings: those of the next sessions are kept, and no others. */
  const forgetRemoved = () => {
    if (!saved || existsSync(file)) return;
    used.clear();
    saved = false;
  };
  return {
    roots() {
      forgetRemoved();
      return [...used.keys()].reverse();
    },
    use(root, now) {
      forgetRemoved();
      used.delete(root);
      used.set(root, now.getTime());
      const gone = [...used.keys()].slice(0, Math.max(0, used.size - MOST_PROJECTS));
      for (const one of gone) used.delete(one);
      return gone;
    },
    remove: (root) => void used.delete(root),
    lastUsed: () => [...used.values()].at(-1) ?? 0,
    save() {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writePrivate(file, `${JSON.stringify([...used].map(([root, at]) => ({ root, at })))}\n`);
      saved = true;
    },
  };
}

/** A file that cannot be read counts as none: the next sessions fill it again. */
function readIndex(file: string): [string, number][] {
  try {
    const rows: unknown = JSON.parse(readIfThere(file) ?? "[]");
    if (!Array.isArray(rows)) return [];
    return rows.flatMap((row: unknown): [string, number][] =>
      isRecord(row) && typeof row.root === "string" && typeof row.at === "number" ? [[row.root, row.at]] : [],
    );
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
