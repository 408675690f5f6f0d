/** Builds the index that suits the number of vectors of a version. */
import { type IndexKind, mustRebuild, wantedIndex } from "../../domain/ranking/index-kind.ts";
import { buildIndex, type IndexState, indexState } from "../../store/index/vector-index.ts";
import type { Memory } from "../memory.ts";
import type { VersionedEmbedder } from "../recall/versions.ts";

/** True when the index was changed. Unless it `mayBuild` now, it is only dropped. */
export async function fitIndex(memory: Memory, model: VersionedEmbedder, mayBuild = true): Promise<boolean> {
  const { have, wanted } = await unfitIndex(memory, model);
  if (wanted === undefined || (wanted !== "none" && !mayBuild)) return false;
  memory.log.info({ from: have.kind, to: wanted, rows: have.rows }, "changing the vector index");
  await buildIndex(memory.db, model.version, model.embedder.version.dimensions, wanted, have.rows);
  return true;
}

/** `wanted` is undefined when the index fits. */
export async function unfitIndex(
  memory: Memory,
  model: VersionedEmbedder,
): Promise<{ have: IndexState; wanted: IndexKind | undefined }> {
  const have = await indexState(memory.db, model.version);
  const asked = memory.settings.retrieval.vector_index;
  const wanted = asked === "auto" ? wantedIndex(memory.db.kind, have.rows) : asked;
  return { have, wanted: mustRebuild(wanted, have) ? wanted : undefined };
}
