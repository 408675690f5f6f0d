/** An event of the audit stream. */
import type { MemoryType } from "./memory-types.ts";

export interface MemoryEvent {
  /** Its position in the stream: a 64-bit number, as text. */
  readonly seq: string;
  readonly id: string;
  readonly tenant_id: string;
  readonly butler: string;
  readonly scope: string;
  readonly event_type: string;
  /** `read`: an access that changed no memory. */
  readonly entity_type: MemoryType | "read" | "embedding_version" | "consolidation" | "erasure";
  readonly entity_id: string;
  readonly occurred_at: Date;
  readonly actor: string;
  readonly session_id: string | null;
  readonly request_id: string | null;
  readonly subrequest_id: string | null;
  readonly segment_id: string | null;
  /** Of a new memory the whole row, of a change the columns set. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Events that tell a person nothing new: what was read, tried, or said again. */
export const UNREMARKABLE: readonly string[] = [
  "memory.referenced",
  "episode.consolidation_attempted",
  "episode.consolidation_failed",
  "episode.consolidated",
  "episode.repeated",
  "fact.echoed",
  "rule.echoed",
  "rule.marked_again",
];

export type NewEvent = Omit<MemoryEvent, "seq">;
