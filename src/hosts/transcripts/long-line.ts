/**
 * Holds a line of JSON of a hundred megabytes in a few: of each long string in it (tool output, an image) only
 * the beginning is kept, so that the rest of the line can still be parsed.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const U = 0x75;
/** Bytes that are kept of one string. */
const STRING = 64 * 1024;
/** Bytes that are kept of a line; one with more is dropped. */
const LINE = 4 * 1024 * 1024;

export interface LongLine {
  add(piece: Buffer): void;
  /** Undefined when even the shortened line was too long. */
  take(): Buffer | undefined;
}

export function longLine(): LongLine {
  let kept: Buffer[] = [];
  let size = 0;
  let inString = false;
  let cutting = false;
  let ofString = 0;
  /** The next byte, or this many digits of \\uXXXX, belong to an escape, which is never cut in two. */
  let escaped = false;
  let digits = 0;

  function keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    size += bytes.length;
    if (size > LINE) kept = [];
    else kept.push(Buffer.from(bytes));
  }

  return {
    add(piece) {
      if (size > LINE) return;
      let from = 0;
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at];
        if (!inString) {
          if (byte !== QUOTE) continue;
          inString = true;
          ofString = 0;
        } else if (escaped) {
          escaped = false;
          if (byte === U) digits = 4;
        } else if (digits > 0) {
          digits--;
        } else if (byte === QUOTE) {
          inString = false;
          if (cutting) from = at;
          cutting = false;
        } else {
          if (!cutting && ofString >= STRING) {
            keep(piece.subarray(from, at));
            cutting = true;
          }
          escaped = byte === BACKSLASH;
        }
        ofString++;
      }
      if (!cutting) keep(piece.subarray(from));
    },
    take: () => (size > LINE ? undefined : Buffer.concat(kept)),
  };
}
