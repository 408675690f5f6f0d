/** The refusals of a home: one JSON line for all of a kind within a minute. Two files of at most a megabyte. */
import { appendFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../../engine/domain/errors.ts";
import { isRecord } from "../../engine/domain/record.ts";
import { type Home, readIfThere } from "../home.ts";

export interface RefusalLine {
  /** The first and the last of them, as ISO times. */
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly count: number;
  readonly door: string;
  readonly actor?: string;
  readonly tenant?: string;
  readonly butler?: string;
}

const LIMIT_BYTES = 1024 * 1024;

const fileOf = ({ logs }: Home): string => join(logs, "refusals.jsonl");

export function writeRefusals(home: Home, lines: readonly RefusalLine[]): void {
  const file = fileOf(home);
  try {
    if (statSync(file).size > LIMIT_BYTES) renameSync(file, `${file}.1`);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });
}

/** The oldest first. A line that was cut off by a full disk is left out. */
export function readRefusals(home: Home): RefusalLine[] {
  const file = fileOf(home);
  const text = [`${file}.1`, file].map((path) => readIfThere(path) ?? "").join("");
  return text.split("\n").flatMap((line) => {
    try {
      const read: unknown = JSON.parse(line);
      return isRecord(read) && typeof read.from === "string" ? [read as unknown as RefusalLine] : [];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}
