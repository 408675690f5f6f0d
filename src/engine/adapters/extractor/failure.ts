/** A provider's failure: its kind, and a message without keys. */
import { redact } from "../../domain/redaction/redact.ts";
import { clip } from "../../domain/text/text.ts";
import type { FailureKind } from "./port.ts";

const TOO_LONG =
  /prompt is too long|too many (input )?tokens|context[ _](length|window)|maximum context|request_too_large|input is too long|exceeds? the (maximum|available) (context|number of tokens)/i;
const FILTERED = /content[_ ]filter|content[_ ]policy|usage polic(y|ies)|responsible ?ai/i;

/** The request is wrong, not the episodes in it. */
const OUR_FAULT =
  /credit|billing|quota|balance|api[ _-]?key|authenti|permission|model|temperature|max_(completion_)?tokens|response_format|schema|parameter|unsupported|not supported|unknown (field|name)/i;

/** `said` is what the provider wrote. A bad request whose message names no part of our configuration is about the episodes. */
export function kindOfStatus(status: number, said: string): FailureKind {
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limited";
  if (status >= 500 || status === 408 || status === 409 || status === 425) return "unavailable";
  if (status === 400 || status === 422) {
    if (TOO_LONG.test(said)) return "too_large";
    if (FILTERED.test(said) || (said.trim() !== "" && !OUR_FAULT.test(said))) return "refused";
  }
  return status >= 400 ? "misconfigured" : "unavailable";
}

const ADVICE: Readonly<Partial<Record<FailureKind, string>>> = {
  misconfigured: "Check provider, model, base_url and the key under [modules.memory.extractor].",
  too_large: "Show it fewer or shorter episodes.",
};

const MOST_CHARS = 300;
/** A provider may send a whole page of HTML. Far more than `MOST_CHARS`, so that no secret is cut in half before it is redacted. */
const READ_CHARS = 3_000;

/** A key may have a form that redaction does not know, so it is removed by its value too. Short ones are words such as "none". */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 8) clean = clean.replaceAll(secret, "[key]");
  return redact(clip(clean, READ_CHARS)).text;
}

export function inWords(who: string, kind: FailureKind, said: string, secrets: readonly string[]): string {
  const reason = clip(withoutSecrets(said, secrets).replace(/\s+/g, " ").trim(), MOST_CHARS);
  const sentence = reason === "" ? "no reason was given" : reason.replace(/\.$/, "");
  return [`${who}: ${sentence}.`, ADVICE[kind]].filter(Boolean).join(" ");
}
