/** An episode: what happened. */
import type { Tier } from "./lifecycle/tiers.ts";
import type { StoredMemory } from "./memory-types.ts";

export const CONSOLIDATION = ["pending", "consolidated", "failed", "dead_letter"] as const;
export type Consolidation = (typeof CONSOLIDATION)[number];

export interface Episode extends StoredMemory {
  /** Its scope. */
  readonly butler: string;
  readonly session_id: string | null;
  /** Its position in the session. */
  readonly ordinal: number | null;
  readonly speaker: string | null;
  readonly summary: string | null;
  readonly tier: Tier;
  readonly promoted_at: Date | null;
  readonly consolidation_status: Consolidation;
  readonly consolidation_attempts: number;
  readonly last_consolidation_error: string | null;
  readonly next_consolidation_retry_at: Date | null;
  readonly validity: "active" | "retracted";
  readonly occurred_at: Date;
  readonly expires_at: Date;
}
