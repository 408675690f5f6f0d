/** A fact: what is true of a subject. Under one key, (tenant, scope, subject, predicate), one is live at a time. */

import type { Fading, Permanence } from "./lifecycle/decay.ts";
import type { Validity } from "./lifecycle/lifecycle.ts";
import type { Reviewed } from "./lifecycle/quarantine.ts";
import type { StoredMemory } from "./memory-types.ts";

export interface Fact extends StoredMemory, Fading, Reviewed {
  readonly scope: string;
  /** Normalised, as keys are compared. */
  readonly subject: string;
  readonly predicate: string;
  /** As they were said. */
  readonly subject_text: string;
  readonly predicate_text: string;
  readonly validity: Validity;
  readonly permanence: Permanence;
  readonly supersedes_id: string | null;
  readonly superseded_at: Date | null;
  readonly valid_from: Date | null;
  readonly valid_to: Date | null;
  /** While it waits: the moment it becomes the value of its key, its `valid_from`. */
  readonly waits_until: Date | null;
}

export type FactKey = Pick<Fact, "tenant_id" | "scope" | "subject" | "predicate">;

/** A key inside a tenant, and the moment ahead that a fact of it waits for. */
export type FactSlot = Pick<Fact, "scope" | "subject" | "predicate" | "waits_until">;

/** What somebody claims. */
export type Claim = Pick<Fact, "subject" | "predicate" | "content">;

/** What decides which of several facts of one key a reader is told. */
export type Held = Fading & Pick<Fact, "id" | "scope" | "trust" | "waits_until" | "valid_to">;

/** What a fact says, in the words in which it was said. */
export type FactWords = Pick<Fact, "subject_text" | "predicate_text" | "content">;

/**
 * The text that is embedded and indexed: a bare value such as "blue" says nothing without its subject and predicate.
 * engine/store/memories/live.ts says the same in SQL.
 */
export const factText = (fact: FactWords): string =>
  `${fact.subject_text} ${fact.predicate_text.replaceAll("_", " ")}: ${fact.content}`;

/** The text that is shown, to agents and to people. */
export const shownFact = (subject: string, predicate: string, content: string): string =>
  `${subject} / ${predicate}: ${content}`;

/** The text of a fact for a person: its content alone where that is a sentence, which says its subject again. */
export function factSentence(text: string): string {
  const content = text.slice(text.indexOf(": ") + 2);
  return content !== text && /^\S+\s+\S+\s.*[.!?]$/s.test(content) ? content : text;
}
