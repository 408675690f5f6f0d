/** Ids come from anywhere, headers included, and are stored; one that holds a secret is replaced. */
import { lruCache } from "../domain/collections/lru-cache.ts";
import { isRecord } from "../domain/record.ts";
import type { RequestContext } from "../domain/request.ts";
import { butlerOf } from "../domain/scope.ts";
import { unsealable } from "../domain/sealed.ts";
import { alone } from "../domain/text/remembered.ts";
import type { Memory } from "../memory/memory.ts";
import { safeId } from "../memory/privacy.ts";

const CLEAN = 1_024;
const KEPT_CHARACTERS = 200;

export interface SafeIds {
  id<T extends string | undefined>(id: T): T;
  /** The same for what comes with many calls: a session or a project. */
  name<T extends string | undefined>(name: T): T;
  request(context: RequestContext | undefined): RequestContext | undefined;
  /** A tool's checked input with its session, key and scope made safe; the rows of a batch too. */
  input(input: Record<string, unknown>): Record<string, unknown>;
}

/** Calls of a session come one after the other with the same name, and looking for secrets in it took as long as reading the rest of a call. */
const clean = lruCache<string, true>(CLEAN);

/** A session or project. Kept is only what holds no secret. */
function safeName(name: string): string {
  if (clean.get(name) === true) return name;
  const safe = safeId(name);
  if (safe === name && name.length <= KEPT_CHARACTERS) clean.set(alone(name), true);
  return safe;
}

export function safeIds({ settings }: Memory): SafeIds {
  // Without redaction too, no id may look like an encrypted text: reads that come upon it would fail for want of its key.
  const made = settings.privacy.redact ? safeId : unsealable;
  const named = settings.privacy.redact ? safeName : unsealable;
  const ifGiven =
    (make: (id: string) => string) =>
    <T extends string | undefined>(given: T): T =>
      given === undefined ? given : (make(given) as T);

  function record(given: Record<string, unknown>): Record<string, unknown> {
    const safe = { ...given };
    if (typeof safe.session_id === "string") safe.session_id = named(safe.session_id);
    if (typeof safe.idempotency_key === "string") safe.idempotency_key = made(safe.idempotency_key);
    if (typeof safe.scope === "string") safe.scope = safeScope(safe.scope, made);
    return safe;
  }

  return {
    id: ifGiven(made),
    name: ifGiven(named),
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
