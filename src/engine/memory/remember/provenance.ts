/** What every memory is born with: its provenance, and nobody has read or forgotten it yet. */

import type { Optional, StoredMemory } from "../../domain/memory-types.ts";
import type { Call } from "../memory.ts";
import type { Redactor } from "../privacy.ts";

/** `trust` is that of what it was made of. Left out: it is the word of whoever calls. */
export type Told = Pick<StoredMemory, "source"> &
  Optional<Pick<StoredMemory, "source_episode_id" | "importance" | "tags" | "metadata" | "trust">>;

export function birth(call: Call, redactor: Redactor, told: Told): Omit<StoredMemory, "content"> {
  const { memory, caller, now } = call;
  return {
    id: memory.ids.next(now),
    tenant_id: caller.tenant,
    forgotten_at: null,
    forget_reason: null,
    source_butler: caller.butler,
    source: told.source,
    source_episode_id: told.source_episode_id ?? null,
    request_id: call.request?.request_id ?? null,
    trust: told.trust ?? caller.voice,
    created_at: now,
    reference_count: 0,
    last_referenced_at: null,
    prior_referenced_at: null,
    importance: told.importance ?? 5,
    tags: [...new Set((told.tags ?? []).map((tag) => redactor.text(tag)))],
    metadata: redactor.json(told.metadata ?? {}),
  };
}
