/**
 * Generations of episodes: born in eden, promoted when they keep being referenced, evicted when they are not.
 *
 *   eden ──▶ mid ──▶ long
 */
export const TIERS = ["eden", "mid", "long"] as const;
export type Tier = (typeof TIERS)[number];

export interface TierPolicy {
  readonly ttlMs: number;
  readonly maxEntries: number;
}

export function expiryOf(policy: TierPolicy, bornAt: Date): Date {
  return new Date(bornAt.getTime() + policy.ttlMs);
}

export const tierAbove = (tier: Tier): Tier | undefined => TIERS[TIERS.indexOf(tier) + 1];
