/** The nearest of each of some memories on their shelf: from memory where that is held there, else from the store. */
import type { ReadModel } from "../../domain/read-model/model.ts";
import { comparedAs } from "../../store/index/vectors.ts";
import { type Neighbours, nearNeighbours } from "../../store/jobs/hygiene.ts";
import type { Memory } from "../memory.ts";
import type { VersionedEmbedder } from "../recall/versions.ts";

export interface Wanted {
  readonly sk: number;
  readonly ids: readonly string[];
  readonly now: Date;
  /** At least so near. */
  readonly cosine: number;
}

/** Beside itself. */
const NEAREST = 3;

/** An embedded store has no index of vectors and one thread: comparing one with a shelf of 30,000 would hold up every call for a tenth of a second. */
export async function neighboursOf(memory: Memory, serving: VersionedEmbedder, wanted: Wanted): Promise<Neighbours[]> {
  const { version, embedder } = serving;
  const held = memory.db.kind === "pglite" ? await memory.readModel.caughtUp(version, ANY) : undefined;
  if (held !== undefined) return wanted.ids.flatMap((id) => nearInMemory(held, id, wanted));
  return nearNeighbours(memory.db, { ...wanted, version, as: comparedAs(memory.db.kind, embedder.version.dimensions) });
}

/** The model of an embedded store holds all tenants. */
const ANY = "";

function nearInMemory({ vectors, slotOf, idOf }: ReadModel, a: string, { sk, now, cosine }: Wanted): Neighbours[] {
  const slot = slotOf(a);
  const vector = slot === undefined ? undefined : vectors.vectorOf(slot);
  if (vector === undefined) return [];
  const near = vectors.nearest(vectors.queryOf(vector), vectors.seen([sk], now.getTime(), false), NEAREST + 1);
  return near
    .filter((other) => other.slot !== slot)
    .slice(0, NEAREST)
    .filter(({ distance }) => distance <= 1 - cosine)
    .map((other) => ({ a, b: idOf(other.slot), cosine: 1 - other.distance }));
}
