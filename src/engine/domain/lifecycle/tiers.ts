/**
 * Generations of episodes: born in eden, promoted when they keep being referenced, evicted when they are not.
 *
 *   eden ──▶ mid ──▶ long
 *
 * Life follows use: the time of a tier runs from the last reference, and what was referenced often enough to be protected
 * has no end at all.
 */
export const TIERS = ["eden", "mid", "long"] as const;
export type Tier = (typeof TIERS)[number];

export interface TierPolicy {
  readonly ttlMs: number;
  readonly maxEntries: number;
  /** From this many references on, time alone no longer ends a memory of the tier; undefined: none is protected. */
  readonly protectedFrom: number | undefined;
}

/** When a protected memory expires. A time and not a null, so that every comparison with `expires_at` holds for it too. */
export const NEVER = new Date("9999-12-31T23:59:59.999Z");

/** `since` is the last reference, or the creation or promotion of a memory that has come to the tier after it. */
export function expiryOf(policy: TierPolicy, since: Date, references = 0): Date {
  if (isProtected(policy, references)) return NEVER;
  return new Date(Math.min(NEVER.getTime(), since.getTime() + policy.ttlMs));
}

const isProtected = ({ protectedFrom }: TierPolicy, references: number): boolean =>
  protectedFrom !== undefined && references >= protectedFrom;

/**
 * A vector may be seen a little longer than its episode: the row has the last word on that, and a memory that is read every
 * day moves its vector's row, which is in the vector index, only every other day.
 */
export const SEEN_LONGER_MS = 2 * 86_400_000;

export const seenUntil = (expiresAt: Date): Date =>
  new Date(Math.min(NEVER.getTime(), expiresAt.getTime() + SEEN_LONGER_MS));

export const tierAbove = (tier: Tier): Tier | undefined => TIERS[TIERS.indexOf(tier) + 1];
