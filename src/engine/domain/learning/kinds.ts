/** What a sentence that is worth keeping can be, and how sure the reader has to be of it. */

export const KINDS = ["rule", "fact", "preference", "decision", "correction", "person"] as const;
export type Kind = (typeof KINDS)[number];
/** All but a rule are kept as facts. */
export type FactKind = Exclude<Kind, "rule">;

export type Bars = Readonly<Record<Kind, number>>;

/**
 * As shipped; a house moves them by what becomes of what was learned (`adapt-bars.ts`). Below it nothing is told: junk is worse than a
 * miss, and what was missed is usually said again. Of messages whose author the reader did not know, sureness is what it says: of what
 * it was 0.7 to 0.75 sure of, 70 to 77 % were wanted in each kind; of decisions between 0.65 and 0.7 only 58 %.
 */
export const BAR: Bars = {
  rule: 0.7,
  fact: 0.7,
  preference: 0.7,
  decision: 0.7,
  correction: 0.65,
  person: 0.6,
};

/** Below this a sentence is not even a hint. */
export const BAR_OF_HINTS = 0.5;
