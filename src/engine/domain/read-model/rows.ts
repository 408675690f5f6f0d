/** A memory as the read model takes it in: all that a search or a context block reads of it. Times are milliseconds since 1970. */
import type { Episode } from "../episode.ts";
import type { Fact } from "../fact.ts";
import type { Trust } from "../learning/trust.ts";
import type { Validity } from "../lifecycle/lifecycle.ts";
import type { MemoryType } from "../memory-types.ts";
import type { Rule } from "../rule.ts";

export interface ReadRow {
  readonly type: MemoryType;
  readonly id: string;
  readonly tenant_id: string;
  readonly scope: string;
  readonly state: Validity;
  /** Of an episode its summary, if it has one. */
  readonly content: string;
  readonly importance: number;
  readonly tags: readonly string[];
  readonly reference_count: number;
  readonly created_at: number;
  readonly last_referenced_at: number | null;
  readonly prior_referenced_at: number | null;
  readonly trust: Trust;
  readonly confidence: number;
  readonly decay_rate: number;
  readonly last_confirmed_at: number;
  /** Normalised, as keys are compared. */
  readonly subject_key: string | null;
  readonly predicate_key: string | null;
  readonly subject: string | null;
  readonly predicate: string | null;
  readonly permanence: Fact["permanence"] | null;
  readonly valid_from: number | null;
  readonly valid_to: number | null;
  readonly waits_until: number | null;
  readonly maturity: Rule["maturity"] | null;
  readonly effectiveness: number | null;
  readonly tier: Episode["tier"] | null;
  readonly session_id: string | null;
  readonly ordinal: number | null;
  readonly speaker: string | null;
  readonly occurred_at: number | null;
  readonly expires_at: number | null;
  readonly corroborated_at: number | null;
  /** It ends with a question mark. */
  readonly asks: boolean;
}

/** What the counting of a reading changes. */
export type Counts = Pick<ReadRow, "reference_count" | "last_referenced_at" | "prior_referenced_at" | "expires_at">;

export interface ReadWords {
  readonly sk: number;
  /** Number of lexemes, and the forward row. */
  readonly len: number;
  readonly x: Uint8Array;
}

export interface ReadVector {
  readonly sk: number;
  readonly visibleUntil: number;
  /** Numbers of 16 bits, the higher byte first. */
  readonly halves: Uint8Array;
  readonly pieces: number;
  readonly tokens: Uint8Array | undefined;
}

/** An episode that taught or supports a fact or rule, and since when that is known. */
export interface ReadLink {
  readonly episode: string;
  readonly at: number;
}

/** What is absent is not in the store (any more). */
export interface ReadMemory {
  readonly id: string;
  readonly row: ReadRow | undefined;
  readonly words: ReadWords | undefined;
  readonly vector: ReadVector | undefined;
  readonly links: readonly ReadLink[];
}

/** What the counting of a reading changes of a memory. */
export interface ReadCounts extends Counts, Pick<ReadRow, "id"> {
  /** Of its vector; undefined: as it was, or it has none. */
  readonly visibleUntil: number | undefined;
}
