/** Generations of episodes: born in eden, promoted when they keep being referenced, evicted when they are not. */
export const TIERS = ["eden", "mid", "long"] as const;
export type Tier = (typeof TIERS)[number];

export interface TierPolicy {
  readonly ttlMs: number;
  readonly maxEntries: number;
}

export function expiryOf(policy: TierPolicy, bornAt: Date): Date {
  return new Date(bornAt.getTime() + policy.ttlMs);
}
