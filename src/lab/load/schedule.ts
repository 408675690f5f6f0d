/**
 * When calls are due, decided before the first one is made: an open loop. A client that waits for its answer before it asks again would
 * ask less often while the owner stalls, and so leave out exactly the calls that would have waited.
 */
import type { Pick } from "../sentences.ts";

export type LoadKind = "context" | "episode";

export interface LoadShape {
  readonly seconds: number;
  /** Mean calls a second. */
  readonly reads: number;
  readonly writes: number;
  /** How many times as many calls come in a burst as on the mean; 1 leaves bursts out. */
  readonly burst: number;
}

export interface Arrival {
  /** Milliseconds after the start at which somebody wanted the answer. */
  readonly at: number;
  readonly kind: LoadKind;
  readonly burst: boolean;
}

/** A burst of two seconds every twenty; the rest of the time is so much quieter that the mean stays. */
const CYCLE_SECONDS = 20;
const BURST_SHARE = 0.1;
export const MOST_BURST = 1 / BURST_SHARE;

/** Each call comes at a moment of its own, as calls of many independent people do: near each other by chance, and in bursts. */
export function arrivalsOf(shape: LoadShape, p: Pick): Arrival[] {
  const cycles = Math.max(1, Math.round(shape.seconds / CYCLE_SECONDS));
  const cycleMs = (shape.seconds * 1_000) / cycles;
  const arrival = (kind: LoadKind): Arrival => {
    const burst = p.chance(BURST_SHARE * shape.burst);
    const within = p.number(1e9) / 1e9;
    const share = burst ? within * BURST_SHARE : BURST_SHARE + within * (1 - BURST_SHARE);
    return { at: (p.number(cycles) + share) * cycleMs, kind, burst };
  };
  const many = (perSecond: number, kind: LoadKind) =>
    Array.from({ length: Math.round(perSecond * shape.seconds) }, () => arrival(kind));
  return [...many(shape.reads, "context"), ...many(shape.writes, "episode")].toSorted((a, b) => a.at - b.at);
}
