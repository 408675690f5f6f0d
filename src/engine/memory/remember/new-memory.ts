/** The columns that all new memories have in common: id, provenance, and neither read nor forgotten yet. */

import type { Optional, StoredMemory } from "../../domain/memory-types.ts";
import type { Call } from "../memory.ts";
import type { Redactor } from "../privacy.ts";

/** `trust` is that of the source it was made from; if left out, that of the caller. */
export type Given = Pick<StoredMemory, "source"> &
  Optional<Pick<StoredMemory, "source_episode_id" | "importance" | "tags" | "metadata" | "trust">>;

export function newMemory(call: Call, redactor: Redactor, given: Given): Omit<StoredMemory, "content"> {
  const { memory, caller, now } = call;
  return {
    id: memory.ids.next(now),
    tenant_id: caller.tenant,
    forgotten_at: null,
    forget_reason: null,
    source_butler: caller.butler,
    source: given.source,
    source_episode_id: given.source_episode_id ?? null,
    request_id: call.request?.request_id ?? null,
    trust: given.trust ?? caller.voice,
    created_at: now,
    reference_count: 0,
    last_referenced_at: null,
    prior_referenced_at: null,
    importance: given.importance ?? 5,
    tags: [...new Set((given.tags ?? []).map((tag) => redactor.text(tag)))],
    metadata: redactor.json(given.metadata ?? {}),
  };
}
