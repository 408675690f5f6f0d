/** A token bucket: `rate` a second on average, `burst` at once. Time is given in milliseconds, so that a test can pass it. */
export interface BucketSize {
  readonly rate: number;
  readonly burst: number;
}

export interface Bucket {
  /** Takes `cost` if there is enough; otherwise the seconds after which there will be. */
  take(cost: number, nowMs: number): number | undefined;
  /** Takes it whether there is enough or not; the debt is at most what one second brings. */
  charge(cost: number, nowMs: number): void;
}

export function tokenBucket({ rate, burst }: BucketSize): Bucket {
  let left = burst;
  let at: number | undefined;
  const refill = (nowMs: number) => {
    left = Math.min(burst, left + ((nowMs - (at ?? nowMs)) / 1_000) * rate);
    at = nowMs;
  };
  return {
    charge(cost, nowMs) {
      refill(nowMs);
      left = Math.max(Math.min(left, -rate), left - cost);
    },
    take(cost, nowMs) {
      refill(nowMs);
      // What is larger than the bucket itself is let through when it is full.
      const needed = Math.min(cost, burst);
      if (left < needed) return (needed - left) / rate;
      left -= cost;
      return undefined;
    },
  };
}
