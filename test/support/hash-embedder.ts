/**
 * A model of no weight: words are thrown into 384 places, and each telling word has bits of its own. Another name throws
 * them elsewhere, as another version would.
 */
import { createHash } from "node:crypto";
import type { Embedder, TokenBits } from "../../src/engine/adapters/embedder/port.ts";
import { keptPieces } from "../../src/engine/domain/ranking/token-bits.ts";

const DIMENSIONS = 384;
/** As many as MiniLM's vocabulary has. */
const VOCABULARY = 30_522;

const hashOf = (text: string): Buffer => createHash("sha512").update(text).digest();

function tokensOf(name: string, all: readonly string[]): TokenBits {
  const words = keptPieces(all).map((at) => all[at] ?? "");
  return {
    pieces: all.length,
    bits: new Uint8Array(
      Buffer.concat(words.map((word) => hashOf(`bits ${name} ${word}`).subarray(0, DIMENSIONS / 8))),
    ),
    words,
    ranks: words.map((word) => hashOf(`rank ${word}`).readUInt16BE(0) % VOCABULARY),
  };
}

export interface HashEmbedder extends Embedder {
  /** What it was asked to embed, in order. */
  readonly asked: string[];
  /** Called before each embedding; may throw. */
  before: (text: string) => void | Promise<void>;
  closed: boolean;
}

export function hashEmbedder(name: string): HashEmbedder {
  const sha256 = createHash("sha256").update(name).digest("hex");
  const asked: string[] = [];
  return {
    version: { model: "hashed-words", variant: "int8", dimensions: DIMENSIONS, sha256 },
    asked,
    before: () => undefined,
    closed: false,
    async embed(text) {
      await this.before(text);
      asked.push(text);
      const vector = new Float32Array(DIMENSIONS);
      const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["nothing"];
      for (const word of words) {
        const hash = createHash("sha256").update(`${name} ${word}`).digest();
        const place = hash.readUInt16BE(0) % DIMENSIONS;
        vector[place] = (vector[place] as number) + ((hash[2] as number) % 2 === 0 ? 1 : -1);
      }
      const length = Math.hypot(...vector) || 1;
      return { vector: vector.map((x) => x / length), tokens: tokensOf(name, words) };
    },
    async close() {
      this.closed = true;
    },
  };
}
