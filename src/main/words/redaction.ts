/** What a look for secrets has found, in numbers. */
import type { z } from "zod";
import type { controlRedaction } from "../../engine/views/control/redaction.ts";

export type RedactionShown = z.infer<typeof controlRedaction.output>;

const PLACES: Readonly<Record<string, string>> = {
  episodes: "episodes",
  facts: "facts",
  rules: "rules",
  rule_applications: "marks on rules",
  consolidation_runs: "records of runs",
  memory_events: "the audit stream",
  idempotency_keys: "kept answers",
};

export function foundLines({ found, rows, memories }: RedactionShown): string[] {
  if (found.length === 0) return ["No secrets were found in what is stored."];
  const kinds = [...new Set(found.map(({ kind }) => kind))].sort();
  const total = Object.values(rows).reduce((sum, n) => sum + n, 0);
  return [
    ...kinds.map((kind) => {
      const where = found.filter((one) => one.kind === kind);
      return `${kind}: ${where.map((one) => `${one.count} in ${PLACES[one.where] ?? one.where}`).join(", ")}`;
    }),
    `${total} ${total === 1 ? "row" : "rows"}, ${memories.length} ${memories.length === 1 ? "memory" : "memories"}. A secret counts wherever it stands.`,
  ];
}

export const redactedLines = ({ receipt_id, left }: RedactionShown): string[] => [
  `Taken out. The receipt is ${receipt_id}; it holds no words. butler replay --verify checks that receipts are whole.`,
  ...left,
  "Transcripts that agents keep in their own folders, and backups that you have made, are not touched. Change the secrets that were stored.",
];
