/** A rule: how to behave. */

import type { Fading } from "./lifecycle/decay.ts";
import type { Validity } from "./lifecycle/lifecycle.ts";
import type { Maturity } from "./lifecycle/maturity.ts";
import type { Reviewed } from "./lifecycle/quarantine.ts";
import type { StoredMemory } from "./memory-types.ts";

export interface Rule extends StoredMemory, Fading, Reviewed {
  readonly scope: string;
  readonly original_content: string | null;
  readonly matcher: Record<string, unknown> | null;
  readonly maturity: Maturity;
  readonly validity: Exclude<Validity, "superseded">;
  readonly effectiveness_score: number;
  readonly applied_count: number;
  readonly success_count: number;
  readonly harmful_count: number;
  readonly last_applied_at: Date | null;
  readonly last_evaluated_at: Date | null;
}
