/** All of the program takes the time from a clock. */
export interface Clock {
  now(): Date;
  /** True when time stands still (`BUTLER_NOW`): only then may a caller bring its own `now`. */
  readonly fixed: boolean;
}

export const systemClock: Clock = { now: () => new Date(), fixed: false };

export function fixedClock(at: Date): Clock {
  return { now: () => new Date(at), fixed: true };
}
