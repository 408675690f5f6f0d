/** A model of no weight: words are thrown into 384 places. Another name throws them elsewhere, as another version would. */
import { createHash } from "node:crypto";
import type { Embedder } from "../../src/adapters/embedder/port.ts";

const DIMENSIONS = 384;

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
      for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["nothing"]) {
        const hash = createHash("sha256").update(`${name} ${word}`).digest();
        const place = hash.readUInt16BE(0) % DIMENSIONS;
        vector[place] = (vector[place] as number) + ((hash[2] as number) % 2 === 0 ? 1 : -1);
      }
      const length = Math.hypot(...vector) || 1;
      return vector.map((x) => x / length);
    },
    async close() {
      this.closed = true;
    },
  };
}
