/** Secrets are taken out before anything is stored, embedded or written to the audit stream. */
import { type Found, redact, redactDeep } from "../domain/redact.ts";
import type { JsonValue } from "../domain/text.ts";
import type { Memory } from "./memory.ts";

export interface Redactor {
  text(text: string): string;
  json<T>(value: T): T;
  /** What was taken out so far, by kind. */
  readonly redactions: readonly Found[];
}

export function openRedactor(memory: Memory): Redactor {
  const counts = new Map<Found["kind"], number>();
  const note = (found: readonly Found[]) => {
    for (const { kind, count } of found) counts.set(kind, (counts.get(kind) ?? 0) + count);
  };
  const on = memory.settings.privacy.redact;
  return {
    text(text) {
      if (!on) return text;
      const result = redact(text);
      note(result.found);
      return result.text;
    },
    json<T>(value: T): T {
      if (!on) return value;
      const result = redactDeep(value as JsonValue);
      note(result.found);
      return result.value as T;
    },
    get redactions() {
      return [...counts].map(([kind, count]) => ({ kind, count }));
    },
  };
}
