/** Ids come from anywhere, headers included, and are stored; one that holds a secret is replaced. */
import { isRecord } from "../domain/record.ts";
import type { RequestContext } from "../domain/request.ts";
import { butlerOf } from "../domain/scope.ts";
import { unsealable } from "../domain/sealed.ts";
import type { Memory } from "../memory/memory.ts";
import { safeId } from "../memory/privacy.ts";

export interface SafeIds {
  id<T extends string | undefined>(id: T): T;
  request(context: RequestContext | undefined): RequestContext | undefined;
  /** A tool's checked input with its session, key and scope made safe; the rows of a batch too. */
  input(input: Record<string, unknown>): Record<string, unknown>;
}

const IDS = ["session_id", "idempotency_key"] as const;

export function safeIds({ settings }: Memory): SafeIds {
  // Without redaction too, no id may look like an encrypted text: reads that come upon it would fail for want of its key.
  const made = settings.privacy.redact ? safeId : unsealable;
  const id = <T extends string | undefined>(given: T): T => (given === undefined ? given : (made(given) as T));

  function record(given: Record<string, unknown>): Record<string, unknown> {
    const safe = { ...given };
    for (const name of IDS) if (typeof safe[name] === "string") safe[name] = made(safe[name]);
    if (typeof safe.scope === "string") safe.scope = safeScope(safe.scope, made);
    return safe;
  }

  return {
    id,
    request: (context) =>
      context && {
        request_id: made(context.request_id),
        ...(context.subrequest_id === undefined ? {} : { subrequest_id: made(context.subrequest_id) }),
        ...(context.segment_id === undefined ? {} : { segment_id: made(context.segment_id) }),
      },
    input(input) {
      const safe = record(input);
      if (Array.isArray(safe.episodes)) safe.episodes = safe.episodes.map((row) => (isRecord(row) ? record(row) : row));
      return safe;
    },
  };
}

/** The project in a scope is made safe as the project of a call is. */
function safeScope(scope: string, made: (id: string) => string): string {
  const butler = butlerOf(scope);
  return scope === butler ? made(scope) : `${butler}/${made(scope.slice(butler.length + 1))}`;
}
