/** Counts for each butler how often it may have learned something. */
export interface News {
  changed(butler: string, tool: string | undefined): void;
  of(butler: string): number;
}

/** They store what was said, and it is learned from later. */
const MERELY_STORE = new Set(["memory_ingest_batch", "memory_store_episode", "memory_store"]);

export function newsCounter(): News {
  const counts = new Map<string, number>();
  const of = (butler: string) => counts.get(butler) ?? 0;
  return {
    of,
    changed(butler, tool) {
      if (tool === undefined || !MERELY_STORE.has(tool)) counts.set(butler, of(butler) + 1);
    },
  };
}
