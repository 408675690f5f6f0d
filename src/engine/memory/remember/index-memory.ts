/** Puts a memory into the indexes of search: its words on its shelf, its vector and token bits beside them. */
import type { Sql } from "../../adapters/db/port.ts";
import { confidentUntil, type Fading } from "../../domain/lifecycle/decay.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { foldShelf } from "../../store/index/fold.ts";
import { dropLexical, type Filed, putLexical } from "../../store/index/lexical.ts";
import { putVectors, setVisibility } from "../../store/index/vectors.ts";
import type { Vectors } from "../embed.ts";
import type { Call, Memory } from "../memory.ts";

export interface Indexed {
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

/** Gives the forward row of each. */
export async function indexMemories(sql: Sql, memory: Memory, filed: readonly Indexed[]): Promise<Filed[]> {
  const words = putLexical(
    sql,
    filed.map(({ id, sk, text }) => ({ memoryId: id, sk, text })),
  );
  const vectors = memory.versions.written.map(({ version }) => {
    const rows = filed.flatMap(({ id, sk, vector, visibleUntil }) => {
      const made = vector?.find((embedded) => embedded.version === version);
      return made ? [{ memoryId: id, sk, vector: made.vector, tokens: made.tokens, visibleUntil }] : [];
    });
    return putVectors(sql, version, rows);
  });
  const [forwards] = await Promise.all([words, ...vectors]);
  return forwards;
}

const FOLD_AT = 256;
const FOLD_STEP = 32;

/**
 * A search reads every unfolded row, so a busy shelf is folded while it is written to: 32 rows take about 20 ms of the embedded
 * store's one connection, and other calls run in between.
 */
export function foldSoon(memory: Memory, sk: number, written: number): void {
  let waiting = (memory.unfolded.get(sk) ?? 0) + written;
  for (; waiting >= FOLD_AT; waiting -= FOLD_STEP)
    memory.afterwards.push("fold", async () => {
      await foldShelf(memory.db, sk, FOLD_STEP);
    });
  memory.unfolded.set(sk, waiting);
}

/** Removes the words of memories and hides their vectors, which stay for a restore. */
export async function hideFromSearch(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await dropLexical(sql, ids);
  for (const id of ids) await setVisibility(sql, id, now);
}

/** Adds a hidden memory's words again and shows the vector it had. */
export async function reindex(
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
