/** Secrets are taken out before anything is stored, embedded or written to the audit stream. */
import { createHash } from "node:crypto";
import { inTurns } from "../adapters/turns.ts";
import { type Policy, policyOf } from "../domain/redaction/policy.ts";
import { type Found, type Redacted, redact, redactDeep, redactSteps } from "../domain/redaction/redact.ts";
import { eachSealed, unsealable } from "../domain/sealed.ts";
import type { JsonValue } from "../domain/text/text.ts";
import type { Memory } from "./memory.ts";

export interface Redactor {
  text(text: string): string;
  /** The same for a text that may be long: in slices, between which other calls are answered. */
  longText(text: string): Promise<string>;
  json<T>(value: T): T;
  /** What was taken out so far, by kind. */
  readonly redactions: readonly Found[];
}

export function openRedactor(memory: Memory): Redactor {
  const counts = new Map<Found["kind"], number>();
  const note = (found: readonly Found[]) => {
    for (const { kind, count } of found) counts.set(kind, (counts.get(kind) ?? 0) + count);
  };
  const { redact: on } = memory.settings.privacy;
  const policy = policyFor(memory);
  const noted = ({ text, found }: Redacted) => {
    note(found);
    return text;
  };
  return {
    text: (text) => unsealable(on ? noted(redact(text, policy)) : text),
    longText: async (text) => unsealable(on ? noted(await inTurns(redactSteps(text, policy))) : text),
    json<T>(value: T): T {
      const plain = eachSealed(value, unsealable) as T;
      if (!on) return plain;
      const result = redactDeep(plain as JsonValue, policy);
      note(result.found);
      return result.value as T;
    },
    get redactions() {
      return [...counts].map(([kind, count]) => ({ kind, count }));
    },
  };
}

const policies = new WeakMap<Memory["settings"], Policy>();

/** Made once for the settings of a memory: own patterns are read then. */
export function policyFor({ settings }: Memory): Policy {
  const known = policies.get(settings) ?? policyOf(settings.privacy);
  policies.set(settings, known);
  return known;
}

/**
 * An id or a path is compared with others, so one that holds a secret is replaced by its digest: the same id is the same session,
 * key or project every time, and only whoever knows the id can recognise it.
 */
export function safeId(id: string): string {
  const [first] = redact(id).found;
  if (first === undefined) return unsealable(id);
  return `redacted-${first.kind}-${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}
