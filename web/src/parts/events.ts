/** What an event says to a person. */
import type { ApiEvent } from "../../../src/doors/http/api/types.ts";

const VERBS: Readonly<Record<string, string>> = {
  "fact.stored": "learned",
  "rule.stored": "learned",
  "episode.stored": "happened",
  "fact.superseded": "replaced",
  "fact.confirmed": "confirmed",
  "rule.confirmed": "confirmed",
  "fact.contradicted": "contradicted",
  "rule.contradicted": "contradicted",
  "fact.review_expired": "left the review list",
  "rule.review_expired": "left the review list",
  "fact.began": "began to hold",
  "fact.faded": "faded",
  "rule.faded": "faded",
  "fact.revived": "came back",
  "rule.revived": "came back",
  "fact.expired": "expired",
  "rule.expired": "expired",
  "episode.expired": "expired",
  "rule.promoted": "promoted",
  "rule.demoted": "demoted",
  "rule.inverted": "became a warning",
  "rule.marked_helpful": "marked helpful",
  "rule.marked_harmful": "marked harmful",
  "episode.promoted": "kept longer",
  "episode.consolidated": "was learned from",
  "episode.consolidation_failed": "could not be learned from",
  "episode.dead_lettered": "was given up",
  "episode.redriven": "sent again",
  "fact.undone": "changed by an undo",
  "rule.undone": "changed by an undo",
  "episode.undone": "changed by an undo",
  "consolidation.done": "read what was said",
  "consolidation.failed": "could not read what was said",
  "memory.referenced": "recalled",
  "access.refused": "was refused something",
  "access.elevated": "looked in from another tenant",
};

/** An event that is not in the list is named by its own last word. */
export function eventVerb(type: string): string {
  const known = VERBS[type];
  if (known !== undefined) return known;
  return type.slice(type.indexOf(".") + 1).replaceAll("_", " ");
}

/** Learned and replaced at once is one change of a value. */
export const isReplacement = ({ event_type, replaced }: ApiEvent): boolean =>
  event_type === "fact.stored" && replaced !== undefined;

/** What time and jobs do is not undone: it would happen again. */
export const isUndoable = (type: string): boolean =>
  /^(?:episode|fact|rule)\.(?:stored|superseded|contradicted|confirmed|repeated|forgotten|restored|undone|marked_helpful|marked_harmful)$/.test(
    type,
  );
