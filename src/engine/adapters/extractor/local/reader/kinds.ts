/** What a kept sentence can be, and how sure the reader has to be of it. */

export const KINDS = ["rule", "fact", "preference", "decision", "correction", "person"] as const;
export type Kind = (typeof KINDS)[number];
/** All but a rule are kept as facts. */
export type FactKind = Exclude<Kind, "rule">;

/** Below it nothing is kept: junk is worse than a miss, and what was missed is usually said again. */
export const BAR: Readonly<Record<Kind, number>> = {
  rule: 0.7,
  fact: 0.7,
  preference: 0.7,
  decision: 0.65,
  correction: 0.65,
  person: 0.6,
};
