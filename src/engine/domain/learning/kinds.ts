/** What a sentence that is worth keeping can be, and how sure the reader has to be of it. */

export const KINDS = ["rule", "fact", "preference", "decision", "correction", "person"] as const;
export type Kind = (typeof KINDS)[number];
/** All but a rule are kept as facts. */
export type FactKind = Exclude<Kind, "rule">;

export type Bars = Readonly<Record<Kind, number>>;

/**
 * As shipped; a house moves them by what becomes of what was learned (`adapt-bars.ts`). Below it nothing is told: junk is worse than a
 * miss, and what was missed is usually said again. Of messages whose author the reader did not know, sureness is what it says: of what
 * it was 0.75 to 0.8 sure of, 81 to 94 % were wanted in each kind; between 0.6 and 0.7, 78 % of preferences and 84 % of what was
 * about persons, but 63 % of facts.
 */
export const BAR: Bars = {
  rule: 0.7,
  fact: 0.7,
  preference: 0.65,
  decision: 0.7,
  correction: 0.65,
  person: 0.6,
};

/** Below this a sentence is not even a hint. */
export const BAR_OF_HINTS = 0.5;
