/** What every kind of memory has. */
import type { Trust } from "./learning/trust.ts";

export const MEMORY_TYPES = ["episode", "fact", "rule"] as const;
export type MemoryType = (typeof MEMORY_TYPES)[number];

/** Column by column as it is stored, here and in the nouns: episode.ts, fact.ts, rule.ts, link.ts, event.ts. */
export interface StoredMemory {
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

/** Columns as a caller may give them: what is left out is decided by the memory. */
export type Optional<T> = { readonly [K in keyof T]?: NonNullable<T[K]> | undefined };

/** Columns beside those of other kinds of memory: null where a memory is of a kind that does not have them. */
export type OrNull<T> = { readonly [K in keyof T]: T[K] | null };
