/** Cuts a stream of bytes into lines. A line that is too long is reported at once and then skipped up to its end. */

export interface LineBuffer {
  readonly maxBytes: number;
  /** A whole line, trimmed; empty ones are left out. */
  onLine(line: string): void;
  onOverlong(): void;
  /** Of the line that has no end yet: */
  parts: Buffer[];
  bytes: number;
  skipping: boolean;
}

const NEWLINE = 0x0a;

export function lineBuffer(options: Pick<LineBuffer, "maxBytes" | "onLine" | "onOverlong">): LineBuffer {
  return { ...options, parts: [], bytes: 0, skipping: false };
}

export function addChunk(buffer: LineBuffer, chunk: Buffer | string): void {
  let rest = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  for (let at = rest.indexOf(NEWLINE); at !== -1; at = rest.indexOf(NEWLINE)) {
    addPiece(buffer, rest.subarray(0, at));
    endLine(buffer);
    rest = rest.subarray(at + 1);
  }
  addPiece(buffer, rest);
}

/** The stream is over: what came after the last newline is a line too. */
export function endLines(buffer: LineBuffer): void {
  if (buffer.bytes > 0) endLine(buffer);
}

function addPiece(buffer: LineBuffer, piece: Buffer): void {
  if (buffer.skipping || piece.length === 0) return;
  buffer.bytes += piece.length;
  if (buffer.bytes > buffer.maxBytes) {
    buffer.parts = [];
    buffer.skipping = true;
    buffer.onOverlong();
  } else {
    buffer.parts.push(piece);
  }
}

function endLine(buffer: LineBuffer): void {
  const line = buffer.skipping ? "" : Buffer.concat(buffer.parts).toString("utf8").trim();
  buffer.parts = [];
  buffer.bytes = 0;
  buffer.skipping = false;
  if (line !== "") buffer.onLine(line);
}
