/**
 * Vectors of texts that a benchmark stores again and again: each text goes through the model once, for all stores and runs. Questions are not among
 * them: what a search is asked is embedded each time.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deserialize, serialize } from "node:v8";
import type { Embedder, Embedding } from "../engine/adapters/embedder/port.ts";

const HASH = 12;

export interface KnownVectors {
  /** Gives what is known of a text, or asks the model and remembers it. */
  readonly embedder: Embedder;
  /** Milliseconds in which at least one text waited for the model. */
  modelMs(): number;
  readonly counts: { readonly known: number; readonly asked: number };
  /** Writes what was added; nothing without a folder. */
  save(): Promise<void>;
}

/** Without a folder what is known ends with the process. */
export async function knownVectors(embedder: Embedder, folder?: string): Promise<KnownVectors> {
  const file = folder && join(folder, `vectors-${embedder.version.sha256.slice(0, HASH)}.bin`);
  const vectors =
    file !== undefined && existsSync(file)
      ? (deserialize(await readFile(file)) as Map<string, Embedding>)
      : new Map<string, Embedding>();
  const counts = { known: 0, asked: 0 };
  const waiting = { texts: 0, since: 0, ms: 0 };
  // Two that ask for one text at the same time wait for one pass.
  const asked = new Map<string, Promise<Embedding>>();

  async function ask(text: string, priority: "query" | "write"): Promise<Embedding> {
    counts.asked++;
    if (waiting.texts++ === 0) waiting.since = performance.now();
    try {
      const made = await embedder.embed(text, priority);
      vectors.set(text, copyOf(made));
      return made;
    } finally {
      asked.delete(text);
      if (--waiting.texts === 0) waiting.ms += performance.now() - waiting.since;
    }
  }

  return {
    counts,
    modelMs: () => waiting.ms,
    embedder: {
      version: embedder.version,
      async embed(text, priority) {
        const known = vectors.get(text);
        if (known !== undefined) {
          counts.known++;
          return copyOf(known);
        }
        const under = asked.get(text) ?? ask(text, priority);
        asked.set(text, under);
        return copyOf(await under);
      },
      close: () => embedder.close(),
    },
    async save() {
      if (file === undefined || counts.asked === 0) return;
      await mkdir(dirname(file), { recursive: true });
      await writeFile(`${file}.new`, serialize(vectors));
      await rename(`${file}.new`, file);
    },
  };
}

const copyOf = ({ vector, tokens }: Embedding): Embedding => ({
  vector: vector.slice(),
  tokens: { ...tokens, bits: tokens.bits.slice() },
});
