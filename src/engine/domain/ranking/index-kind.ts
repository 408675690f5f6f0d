/** Which vector index a store of this size deserves. */
export type IndexKind = "none" | "ivfflat" | "hnsw";

/**
 * Embedded, comparing 2,500 vectors takes about 6 ms; an ivfflat index over 10,000 builds in 1.2 s and hnsw in 6.5 s, with
 * the one connection blocked meanwhile. So the embedded store stays with ivfflat far longer than a server, which builds
 * either kind while it goes on answering.
 */
const BARS = {
  pglite: { ivfflat: 2_500, hnsw: 200_000 },
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
