/** What every memory is born with: its provenance, and nobody has read or forgotten it yet. */
import type { Trust } from "../../domain/learning/trust.ts";
import type { SharedColumns } from "../../store/memories/columns.ts";
import type { Call } from "../memory.ts";
import type { Redactor } from "../privacy.ts";

export interface Told {
  readonly source: string;
  readonly source_episode_id?: string | undefined;
  readonly importance?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  /** Of what it was made of. Left out: it is the word of whoever calls. */
  readonly trust?: Trust | undefined;
}

export function birth(call: Call, redactor: Redactor, told: Told): Omit<SharedColumns, "content"> {
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
