/** Upkeep in quiet moments. Skipping it costs speed, never correctness; each step is short, so that calls come in between. */
import { mustRebuild, wantedIndex } from "../domain/index-kind.ts";
import { foldShelf, shelvesToFold } from "../store/fold.ts";
import { dropStaleKeys, findUnembedded } from "../store/upkeep.ts";
import { buildIndex, indexState } from "../store/vector-index.ts";
import { putVectors } from "../store/vectors.ts";
import { vectorOf, visibleUntil } from "./filing.ts";
import type { Memory } from "./memory.ts";

/** What proxies put before the keys they make up themselves. */
export const CALL_KEY_PREFIX = "call:";

const DAY_MS = 86_400_000;

export interface MaintainOptions {
  /** `full` also vacuums an embedded store; a server does that by itself. */
  readonly level: "light" | "full";
  /** Says that somebody is waiting: stop after the current step. */
  readonly interrupted?: () => boolean;
}

export async function maintain(memory: Memory, options: MaintainOptions): Promise<void> {
  const { db, clock } = memory;
  const stop = options.interrupted ?? (() => false);
  const steps = [
    () => foldAll(memory, stop),
    () => embedMissing(memory, stop),
    () => fitVectorIndex(memory),
    () => dropStaleKeys(db, new Date(clock.now().getTime() - DAY_MS), CALL_KEY_PREFIX),
    async () => db.maintain?.(options.level),
  ];
  for (const step of steps) {
    if (stop()) return;
    await step();
  }
}

async function foldAll(memory: Memory, stop: () => boolean): Promise<void> {
  for (const shelf of await shelvesToFold(memory.db)) {
    for (;;) {
      if (stop()) return;
      const { folded, removed } = await foldShelf(memory.db, shelf.sk);
      if (folded + removed === 0) break;
    }
    memory.unfolded.delete(shelf.sk);
  }
}

const EMBED_BATCH = 32;

async function embedMissing(memory: Memory, stop: () => boolean): Promise<void> {
  const version = memory.embeddingVersion;
  if (version === undefined) return;
  for (;;) {
    const rows = await findUnembedded(memory.db, version, memory.clock.now(), EMBED_BATCH);
    if (rows.length === 0 || stop()) return;
    const vectors = await Promise.all(rows.map((row) => vectorOf(memory, row.text, "write")));
    if (vectors.some((vector) => vector === undefined)) return;
    await putVectors(
      memory.db,
      version,
      rows.map((row, index) => ({
        memoryId: row.id,
        sk: row.sk,
        vector: vectors[index] as Float32Array,
        visibleUntil: row.type === "episode" ? (row.until ?? undefined) : visibleUntil(memory, row, row.until),
      })),
    );
  }
}

export async function fitVectorIndex(memory: Memory): Promise<void> {
  const { db, embeddingVersion: version, embedder, settings } = memory;
  if (version === undefined || !embedder) return;
  const have = await indexState(db, version);
  const asked = settings.retrieval.vector_index;
  const wanted = asked === "auto" ? wantedIndex(db.kind, have.rows) : asked;
  if (!mustRebuild(wanted, have)) return;
  memory.log.info({ from: have.kind, to: wanted, rows: have.rows }, "changing the vector index");
  await buildIndex(db, version, embedder.version.dimensions, wanted, have.rows);
}
