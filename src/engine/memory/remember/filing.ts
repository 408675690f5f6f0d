/** Filing a memory where search finds it: its words on the lexical shelf, its vector and token bits beside them. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Embedding } from "../../adapters/embedder/port.ts";
import { confidentUntil, type Fading } from "../../domain/lifecycle/decay.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { firstName, namesOf, withoutNames } from "../../domain/text/names.ts";
import { foldShelf } from "../../store/index/fold.ts";
import { dropLexical, putLexical } from "../../store/index/lexical.ts";
import { putVectors, setVisibility } from "../../store/index/vectors.ts";
import type { Call, Memory } from "../memory.ts";
import type { VersionedEmbedder } from "../recall/versions.ts";

/** The model reads 256 word pieces; tokenizing the rest of a long text would be thrown away. */
const EMBED_CHARS = 4000;

/** What a model gave, and the version of the model: only vectors and bits of one version may be compared. */
export interface Embedded extends Embedding {
  readonly version: number;
}

/** One for each version that is written; two while embeddings are rebuilt after a change of model. */
export type Vectors = readonly Embedded[];

/** `undefined` when there is no model or it failed: the memory is kept all the same, and its vector is made up for later. */
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
  try {
    return { version: model.version, ...(await embedText(model, text, priority)) };
  } catch (error) {
    memory.log.warn({ err: error }, "embedding failed; going on with keywords only");
    return undefined;
  }
}

export const embedText = (model: VersionedEmbedder, text: string, priority: "query" | "write"): Promise<Embedding> =>
  model.embedder.embed(text.slice(0, EMBED_CHARS), priority);

export interface Filed {
  readonly id: string;
  readonly sk: number;
  readonly text: string;
  readonly vector: Vectors | undefined;
  readonly visibleUntil: Date | undefined;
}

export async function shelfOf(call: Call, scope: string, type: MemoryType, within?: Sql): Promise<number> {
  const shelves = await call.memory.shelves.of(call.caller.tenant, [scope], within);
  const shelf = shelves.find((s) => s.type === type);
  if (!shelf) throw new Error(`no shelf for ${type} in ${scope}`);
  return shelf.sk;
}

export async function file(sql: Sql, memory: Memory, filed: readonly Filed[]): Promise<void> {
  await putLexical(
    sql,
    filed.map(({ id, sk, text }) => ({ memoryId: id, sk, text })),
  );
  for (const { version } of memory.versions.written) {
    const rows = filed.flatMap(({ id, sk, vector, visibleUntil }) => {
      const made = vector?.find((embedded) => embedded.version === version);
      return made ? [{ memoryId: id, sk, vector: made.vector, tokens: made.tokens, visibleUntil }] : [];
    });
    await putVectors(sql, version, rows);
  }
}

const FOLD_AT = 256;
const FOLD_STEP = 32;

/**
 * A search reads every unfolded row, so a busy shelf folds as it is written: 32 rows take about 20 ms of the embedded
 * store's one connection, and other calls come in between.
 */
export function foldSoon(memory: Memory, sk: number, written: number): void {
  let waiting = (memory.unfolded.get(sk) ?? 0) + written;
  for (; waiting >= FOLD_AT; waiting -= FOLD_STEP)
    memory.afterwards.push("fold", async () => {
      await foldShelf(memory.db, sk, FOLD_STEP);
    });
  memory.unfolded.set(sk, waiting);
}

/** Takes memories out of sight; their vectors stay for a restore. */
export async function unfile(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await dropLexical(sql, ids);
  for (const id of ids) await setVisibility(sql, id, now);
}

/** Back on the shelf, with the vector it had. */
export async function refile(
  sql: Sql,
  filed: { id: string; sk: number; text: string; visibleUntil: Date | undefined },
): Promise<void> {
  await dropLexical(sql, [filed.id]);
  await putLexical(sql, [{ memoryId: filed.id, sk: filed.sk, text: filed.text }]);
  await setVisibility(sql, filed.id, filed.visibleUntil);
}

/** When a fact or rule drops below the retrieval threshold, or its validity ends. */
export function visibleUntil(memory: Memory, fading: Fading, validTo: Date | null = null): Date | undefined {
  const confident = confidentUntil(fading, memory.settings.facts.retrieval_confidence_threshold);
  if (validTo === null) return confident;
  return confident === undefined || validTo < confident ? validTo : confident;
}

/**
 * What of an episode is embedded: where people speak, all but the names of those who speak in its session. `others` may hold
 * the episode's own speaker too.
 */
export const spokenText = (content: string, speaker: string | null, others: readonly (string | null)[]): string =>
  firstName(speaker) === undefined ? content : withoutNames(content, namesOf([speaker, ...others]));
