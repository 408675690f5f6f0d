/** What a sentence that is worth keeping can be. */
export const KINDS = ["rule", "fact", "preference", "decision", "correction", "person"] as const;
export type Kind = (typeof KINDS)[number];
