/** Which vector index a store of this size deserves. */
export type IndexKind = "none" | "ivfflat" | "hnsw";

/**
 * An embedded store is searched from memory (`memory/read-model/follow.ts`), and itself only while that is loaded or where it holds too much: comparing
 * 10,000 vectors takes it 25 ms, 100,000 a quarter of a second. An ivfflat index would make that a tenth, but its thread builds it for
 * seconds while every call waits, and storing a vector takes three times as long with it: it was more than half of what storing an episode took.
 * A server builds either kind while it goes on answering.
 */
const BARS = {
  pglite: { ivfflat: 100_000, hnsw: 200_000 },
  postgres: { ivfflat: 5_000, hnsw: 50_000 },
} as const;

/** An ivfflat index keeps the centres it was built with; past four times its size it is built anew. */
const REBUILD_GROWTH = 4;

export function wantedIndex(store: keyof typeof BARS, rows: number): IndexKind {
  const bars = BARS[store];
  return rows < bars.ivfflat ? "none" : rows < bars.hnsw ? "ivfflat" : "hnsw";
}

export function mustRebuild(
  wanted: IndexKind,
  have: { readonly kind: IndexKind; readonly rows: number; readonly builtAt: number },
): boolean {
  if (wanted !== have.kind) return true;
  return wanted === "ivfflat" && have.rows > have.builtAt * REBUILD_GROWTH;
}
