/** How long to wait after failures: a minute, and twice as long after each further one. */
const FIRST_MS = 60_000;

export const backOffMs = (failures: number, mostMs = Infinity): number =>
  Math.min(mostMs, FIRST_MS * 2 ** (Math.max(1, failures) - 1));
