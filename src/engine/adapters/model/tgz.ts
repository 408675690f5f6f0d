import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createGunzip } from "node:zlib";

const BLOCK = 512;

const text = (block: Buffer, from: number, length: number) => {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end);
};

/** `length key=value\n` records; only `path` matters here. */
function paxPath(data: Buffer): string | undefined {
  const match = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(data.toString("utf8"));
  return match?.[1];
}

/** Reads exactly as many bytes as asked from a stream of chunks. */
function reader(chunks: AsyncIterator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0);
  /** Hands out the next `length` bytes in pieces, so that a large entry is never held in memory. */
  async function* pieces(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done) throw new Error("the archive ends in the middle of an entry");
        rest = next.value;
      }
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
  async function take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const piece of pieces(length)) parts.push(piece);
    return Buffer.concat(parts);
  }
  return { pieces, take };
}

/**
 * Writes the wanted entries (path in the archive → file to create) and ignores all others, so nothing can land elsewhere.
 * An entry whose size is not the expected one is an error before a byte of it is written. Returns the paths found.
 */
export async function extractFromTgz(
  archive: string,
  wanted: ReadonlyMap<string, { readonly target: string; readonly bytes: number }>,
): Promise<Set<string>> {
  const source = createReadStream(archive);
  const gunzip = createGunzip();
  source.on("error", (error) => gunzip.destroy(error));
  const found = new Set<string>();
  try {
    const { pieces, take } = reader(source.pipe(gunzip)[Symbol.asyncIterator]());
    let longName: string | undefined;
    while (found.size < wanted.size) {
      const header = await take(BLOCK);
      if (header.every((byte) => byte === 0)) break;
      const size = Number.parseInt(text(header, 124, 12).trim() || "0", 8);
      if (!Number.isSafeInteger(size)) throw new Error("the archive has an entry without a size");
      const padding = (BLOCK - (size % BLOCK)) % BLOCK;
      const type = text(header, 156, 1);
      if (type === "x" || type === "L") {
        if (size > 1 << 20) throw new Error("the archive has an oversized header");
        const data = await take(size);
        longName = (type === "x" ? paxPath(data) : text(data, 0, size)) ?? longName;
        await take(padding);
        continue;
      }
      const prefix = text(header, 257, 5) === "ustar" ? text(header, 345, 155) : "";
      const name = longName ?? (prefix === "" ? text(header, 0, 100) : `${prefix}/${text(header, 0, 100)}`);
      longName = undefined;
      const want = type === "0" || type === "" ? wanted.get(name) : undefined;
      if (want === undefined) {
        for await (const _ of pieces(size + padding));
        continue;
      }
      if (size !== want.bytes) throw new Error(`${name} has ${size} bytes instead of ${want.bytes}`);
      const file: FileHandle = await open(want.target, "wx", 0o600);
      try {
        for await (const piece of pieces(size)) await file.writeFile(piece);
      } finally {
        await file.close();
      }
      await take(padding);
      found.add(name);
    }
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  return found;
}
