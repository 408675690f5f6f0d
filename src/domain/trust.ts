/** Who said it. Part of provenance: what is learned is never trusted more than the best of its witnesses. */
export const TRUST = ["tool", "imported", "agent", "user"] as const;
export type Trust = (typeof TRUST)[number];

export const trustRank = (trust: Trust): number => TRUST.indexOf(trust);

/** The highest of them; nobody's word is a tool's. */
export const bestTrust = (all: readonly Trust[]): Trust =>
  all.reduce<Trust>((best, trust) => (trustRank(trust) > trustRank(best) ? trust : best), "tool");
