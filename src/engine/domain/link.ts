/** A link of the provenance graph, from one memory to another. */
import type { MemoryType } from "./memory-types.ts";

export const RELATIONS = ["derived_from", "supports", "contradicts", "supersedes", "related_to"] as const;
export type Relation = (typeof RELATIONS)[number];

export interface Link {
  readonly tenant_id: string;
  readonly source_type: MemoryType;
  readonly source_id: string;
  readonly target_type: MemoryType;
  readonly target_id: string;
  readonly relation: Relation;
  readonly request_id: string | null;
  readonly created_at: Date;
}
