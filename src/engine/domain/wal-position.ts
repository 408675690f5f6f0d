/** Places in the log of a PostgreSQL server, which grow as it writes: "16/B374D848". */
export type WalPosition = bigint;

export function readPosition(text: string): WalPosition {
  const [high = "0", low = "0"] = text.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Where the primary was at a moment. */
export interface Passed {
  readonly atMs: number;
  readonly position: WalPosition;
}

/**
 * For how long a replica has lacked something that the primary had, told by what the primary was seen at and when. It holds whatever the
 * reason is (slow, cut off, stopped), and a primary at rest makes no replica late.
 */
export function lagSeconds(passed: readonly Passed[], replayed: WalPosition, nowMs: number): number {
  const missed = passed.find(({ position }) => position > replayed);
  return missed === undefined ? 0 : Math.max(0, nowMs - missed.atMs) / 1_000;
}
