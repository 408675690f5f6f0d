/** Vectors of texts: for what is stored, of every version that is written; for a question, of the version that answers. */
import type { Embedding } from "../adapters/embedder/port.ts";
import { secondsSince } from "../adapters/meter.ts";
import { span } from "../adapters/trace.ts";
import { firstName, namesOf, withoutNames } from "../domain/text/names.ts";
import type { Memory } from "./memory.ts";
import type { VersionedEmbedder } from "./recall/versions.ts";

/** The model reads 256 word pieces; the rest of a long text would be tokenized for nothing. */
export const EMBED_CHARS = 4000;

/** What a model gave, and the version of the model: only vectors and bits of one version may be compared. */
export interface Embedded extends Embedding {
  readonly version: number;
}

/** One for each version that is written; two while embeddings are rebuilt after a change of model. */
export type Vectors = readonly Embedded[];

/** `undefined` when there is no model or it failed: the memory is stored without a vector, which maintenance adds later. */
export async function vectorsOf(memory: Memory, text: string): Promise<Vectors | undefined> {
  const made = await Promise.all(memory.versions.written.map((model) => embedded(memory, model, text, "write")));
  const vectors = made.filter((vector) => vector !== undefined);
  return vectors.length === 0 ? undefined : vectors;
}

/** Of the version that answers now; `undefined` when there is none. */
export async function queryVector(memory: Memory, text: string): Promise<Embedded | undefined> {
  const { serving } = memory.versions;
  return serving && embedded(memory, serving, text, "query");
}

async function embedded(
  memory: Memory,
  model: VersionedEmbedder,
  text: string,
  priority: "query" | "write",
): Promise<Embedded | undefined> {
  const started = performance.now();
  try {
    const made = await span("embed", { "butler.name": memory.butler, priority }, () =>
      embedText(model, text, priority),
    );
    memory.meter.observe("butler_embed_seconds", { butler: memory.butler, priority }, secondsSince(started));
    return { version: model.version, ...made };
  } catch (error) {
    memory.log.warn({ err: error }, "embedding failed; going on with keywords only");
    return undefined;
  }
}

export const embedText = (model: VersionedEmbedder, text: string, priority: "query" | "write"): Promise<Embedding> =>
  model.embedder.embed(text.slice(0, EMBED_CHARS), priority);

/**
 * The text of an episode that is embedded. If it has a speaker, the names of all speakers of its session are left out. `others`
 * may hold the episode's own speaker too.
 */
export const spokenText = (content: string, speaker: string | null, others: readonly (string | null)[]): string =>
  firstName(speaker) === undefined ? content : withoutNames(content, namesOf([speaker, ...others]));
