/** The columns that every kind of memory has. */
import type { Trust } from "../../domain/learning/trust.ts";

export interface SharedColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly content: string;
  readonly forgotten_at: Date | null;
  readonly forget_reason: string | null;
  readonly source_butler: string;
  readonly source: string;
  readonly source_episode_id: string | null;
  readonly request_id: string | null;
  readonly trust: Trust;
  readonly created_at: Date;
  readonly reference_count: number;
  readonly last_referenced_at: Date | null;
  readonly prior_referenced_at: Date | null;
  readonly importance: number;
  readonly tags: readonly string[];
  readonly metadata: Record<string, unknown>;
}

/** And those of facts and rules, which fade. */
export interface FadingColumns extends SharedColumns {
  readonly scope: string;
  readonly confidence: number;
  readonly decay_rate: number;
  readonly last_confirmed_at: Date;
}
