/**
 * Which episodes rise: eden → mid → long, one tier at a time.
 *
 * References count over the whole life of an episode. Age is the time in its present tier: a memory that has just come to
 * mid has not yet shown that it is wanted for weeks. Readers that name no session count by who they are and the day.
 */
import { type Tier, tierAbove } from "./tiers.ts";

export interface PromotionBar {
  readonly references: number;
  /** From at least so many different sessions, */
  readonly sessions: number;
  /** on at least so many different days (UTC). */
  readonly days: number;
  readonly ageMs: number;
}

export interface ReferenceEvidence {
  readonly references: number;
  readonly sessions: number;
  readonly days: number;
}

export interface Rising {
  readonly tier: Tier;
  readonly validity: "active" | "retracted";
  readonly created_at: Date;
  readonly promoted_at: Date | null;
  readonly expires_at: Date;
}

/** Since when it has been in its present tier. */
export const inTierSince = (episode: Pick<Rising, "created_at" | "promoted_at">): Date =>
  episode.promoted_at ?? episode.created_at;

/** The tier it has earned, or `undefined` when it stays where it is. */
export function promotedTo(
  episode: Rising,
  evidence: ReferenceEvidence,
  bar: PromotionBar,
  now: Date,
): Tier | undefined {
  if (episode.validity !== "active" || episode.expires_at.getTime() <= now.getTime()) return undefined;
  const earned =
    evidence.references >= bar.references &&
    evidence.sessions >= bar.sessions &&
    evidence.days >= bar.days &&
    now.getTime() - inTierSince(episode).getTime() >= bar.ageMs;
  return earned ? tierAbove(episode.tier) : undefined;
}
