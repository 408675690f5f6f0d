/** Lines of a file with their byte positions, in memory that does not grow with the file or with a line of it. */
import { isRecord } from "../../engine/domain/record.ts";
import { type LongLine, longLine } from "./long-line.ts";
import { MOST_BYTES, openRegular, UnfitFile } from "./regular-file.ts";

export interface Line {
  readonly text: string;
  readonly start: number;
  /** The byte after its line break. */
  readonly end: number;
}

export interface LinesOptions {
  readonly path: string;
  readonly from?: number;
  /** Reads no further than this byte. */
  readonly to?: number;
  /** Lines for which this is false are not decoded. */
  readonly wanted?: (bytes: Buffer) => boolean;
  readonly signal?: AbortSignal | undefined;
}

const CHUNK = 256 * 1024;
const NEWLINE = 0x0a;

/**
 * A file that is shorter than `from` was replaced, and is read from its start. Reading ends at the size that the file had when it was opened, so
 * that it ends even if the file grows as fast as it is read. Ends early, without an error, when aborted.
 */
export async function* linesOf({ path, from = 0, to, wanted, signal }: LinesOptions): AsyncGenerator<Line> {
  const { handle, size } = await openRegular(path);
  try {
    let at = from <= size && from >= 0 ? from : 0;
    const limit = Math.min(size, to ?? size);
    if (limit - at > MOST_BYTES) throw new UnfitFile("it is larger than 1 GB");
    let start = at;
    let pieces: Buffer[] = [];
    let held = 0;
    let long: LongLine | undefined;
    const chunk = Buffer.allocUnsafe(CHUNK);

    const hold = (piece: Buffer) => {
      held += piece.length;
      if (long === undefined && held > CHUNK) {
        long = longLine();
        for (const earlier of pieces) long.add(earlier);
        pieces = [];
      }
      if (long === undefined) pieces.push(Buffer.from(piece));
      else long.add(piece);
    };
    const line = (last: Buffer, end: number): Line | undefined => {
      let bytes: Buffer | undefined = last;
      if (held > 0) {
        hold(last);
        bytes = long === undefined ? Buffer.concat(pieces) : long.take();
      }
      pieces = [];
      held = 0;
      long = undefined;
      const begun = start;
      start = end;
      if (bytes === undefined || bytes.length === 0 || wanted?.(bytes) === false) return undefined;
      return { text: bytes.toString("utf8"), start: begun, end };
    };

    for (;;) {
      if (signal?.aborted) return;
      const { bytesRead } = await handle.read(chunk, 0, Math.min(CHUNK, Math.max(0, limit - at)), at);
      if (bytesRead === 0) break;
      const read = chunk.subarray(0, bytesRead);
      let begin = 0;
      for (let end = read.indexOf(NEWLINE); end !== -1; end = read.indexOf(NEWLINE, begin)) {
        const whole = line(read.subarray(begin, end), at + end + 1);
        begin = end + 1;
        if (whole !== undefined) yield whole;
        if (signal?.aborted) return;
      }
      if (begin < bytesRead) hold(read.subarray(begin));
      at += bytesRead;
    }
    if (held > 0) {
      const last = line(Buffer.alloc(0), at);
      if (last !== undefined) yield last;
    }
  } finally {
    await handle.close();
  }
}

/** Undefined for a line that is not a JSON object. */
export function jsonOf(line: string): Json | undefined {
  // A byte order mark, and the NUL bytes that a crash leaves in a file.
  const text = /^[\ufeff\0]|\0\r?$/.test(line) ? line.replace(/^[\ufeff\0]+|(?<![\0\r])[\0\r]+$/g, "") : line;
  if (!text.startsWith("{") && !text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not reported: another program writes this file, and its next line may be valid.
    return undefined;
  }
}

export type Json = Readonly<Record<string, unknown>>;

export const objectIn = (value: unknown): Json => (isRecord(value) ? value : {});
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

const FIRST = Date.UTC(1000, 0, 1);
const LAST = Date.UTC(9999, 11, 31);

export function timeIn(value: unknown): string | undefined {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return at >= FIRST && at <= LAST ? new Date(at).toISOString() : undefined;
}
