/** A token bucket: `rate` a second on average, `burst` at once. Time is given in milliseconds, so that a test can pass it. */
export interface BucketSize {
  readonly rate: number;
  readonly burst: number;
}

export interface Bucket {
  /** Takes `cost` if there is enough; otherwise the seconds after which there will be. */
  take(cost: number, nowMs: number): number | undefined;
}

export function tokenBucket({ rate, burst }: BucketSize): Bucket {
  let left = burst;
  let at: number | undefined;
  return {
    take(cost, nowMs) {
      left = Math.min(burst, left + ((nowMs - (at ?? nowMs)) / 1_000) * rate);
      at = nowMs;
      // What is larger than the bucket itself is let through when it is full.
      const needed = Math.min(cost, burst);
      if (left < needed) return (needed - left) / rate;
      left -= cost;
      return undefined;
    },
  };
}
