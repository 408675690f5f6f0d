/** Confidence fades with time since the last confirmation: `confidence · exp(−rate · days)`. */
export const PERMANENCE = ["permanent", "stable", "standard", "volatile", "ephemeral"] as const;
export type Permanence = (typeof PERMANENCE)[number];

/** Per day. Half-lives: never, 347, 87, 23 and 7 days. */
export const DECAY_PER_DAY: Readonly<Record<Permanence, number>> = {
  permanent: 0,
  stable: 0.002,
  standard: 0.008,
  volatile: 0.03,
  ephemeral: 0.1,
};

export const RULE_DECAY_PER_DAY = 0.008;
export const DAY_MS = 86_400_000;

export interface Fading {
  readonly confidence: number;
  readonly decay_rate: number;
  /** The anchor: never null, it starts at creation. */
  readonly last_confirmed_at: Date;
}

export function effectiveConfidence(fading: Fading, now: Date): number {
  const days = Math.max(0, now.getTime() - fading.last_confirmed_at.getTime()) / DAY_MS;
  return fading.confidence * Math.exp(-fading.decay_rate * days);
}

/**
 * The moment at which effective confidence falls below `threshold`; `undefined` when it never does. Indexes keep it, so
 * that a search can leave out what has faded without knowing the formula.
 */
export function confidentUntil(fading: Fading, threshold: number): Date | undefined {
  if (fading.confidence < threshold) return fading.last_confirmed_at;
  if (fading.decay_rate === 0 || threshold <= 0) return undefined;
  const days = Math.log(fading.confidence / threshold) / fading.decay_rate;
  // The first millisecond below: at the threshold itself a memory is still seen.
  return new Date(Math.min(Math.floor(fading.last_confirmed_at.getTime() + days * DAY_MS) + 1, 8.64e15));
}
