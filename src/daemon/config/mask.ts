/** Configuration values for display: what looks like a secret is masked. */
import { redact } from "../../engine/domain/redaction/redact.ts";
import { classifyName } from "../../engine/domain/redaction/secret-names.ts";

const MASK = "***";
const LONGEST = 120;

/** `service_token`, `API_KEY`, and also `api_key_env`: people write the secret itself where its name belongs. */
export function looksSecret(key: string): boolean {
  return classifyName(key) !== undefined || classifyName(key.replace(/_(?:env|file)$/i, "")) !== undefined;
}

/** Everything between `://` and `@` is masked, the user's name too. */
export const maskText = (text: string): string => redact(text.replace(/:\/\/[^/\s@]*@/g, `://${MASK}@`)).text;

/** The value without its secrets; `key` is the last part of its name. */
export function masked(key: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (looksSecret(key)) return MASK;
  if (typeof value === "string") return maskText(value);
  if (Array.isArray(value)) return value.map((member) => masked(key, member));
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, masked(name, member)]));
}

/** As it would stand in a sentence. */
export function quoted(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
