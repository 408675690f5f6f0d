/** A row of the past as a candidate of a search. */
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Candidate } from "../../store/index/search.ts";
import type { Found } from "../find.ts";

/** The same columns as engine/store/index/search.ts returns. */
export function candidateThen(found: Found, keyword: number | null, near: number | null): Candidate {
  const { row, scope } = found;
  const { id, importance, tags, reference_count, created_at, last_referenced_at, prior_referenced_at, trust } = row;
  const type: MemoryType = found.type;
  const shared = {
    type,
    id,
    keyword,
    distance: near,
    content: row.content,
    scope,
    state: row.validity,
    ...{ importance, tags, reference_count, created_at, last_referenced_at, prior_referenced_at, trust },
    ...NOTHING_ELSE,
  };
  if (found.type === "episode") {
    const { summary, content, tier, session_id, speaker, occurred_at, expires_at } = found.row;
    const sure = { confidence: 1, decay_rate: 0, last_confirmed_at: created_at };
    return { ...shared, ...sure, content: summary ?? content, tier, session_id, speaker, occurred_at, expires_at };
  }
  const { confidence, decay_rate, last_confirmed_at, corroborated_at } = found.row;
  const fading = { ...shared, confidence, decay_rate, last_confirmed_at, corroborated_at };
  if (found.type === "rule")
    return { ...fading, maturity: found.row.maturity, effectiveness: found.row.effectiveness_score };
  const { subject_text: subject, predicate_text: predicate, permanence, valid_from, valid_to } = found.row;
  return { ...fading, subject, predicate, permanence, valid_from, valid_to };
}

const NOTHING_ELSE = {
  subject: null,
  predicate: null,
  permanence: null,
  valid_from: null,
  valid_to: null,
  maturity: null,
  effectiveness: null,
  tier: null,
  session_id: null,
  speaker: null,
  occurred_at: null,
  expires_at: null,
  corroborated_at: null,
} as const;
