/** What a contradiction leaves of a confidence. */
import { effectiveConfidence, type Fading } from "./decay.ts";

/** From certainty, four contradictions of an equal take a memory below the threshold of retrieval. */
const CONTRADICTED = 0.6;
/** Where the doubts of lesser sources end, however many there are. */
const LEAST_DOUBTED = 0.5;

/** `weaker`: whoever contradicts it is trusted less than whoever said it. */
export function doubted(confidence: number, weaker: boolean): number {
  const left = confidence * CONTRADICTED;
  return weaker ? Math.max(left, Math.min(confidence, LEAST_DOUBTED)) : left;
}

/** A memory that has faded near the threshold is not lowered by a lesser source: that would take it out of sight. */
export function doubtedInSight(fading: Fading, now: Date, threshold: number): number {
  const confidence = doubted(fading.confidence, true);
  return effectiveConfidence({ ...fading, confidence }, now) < threshold ? fading.confidence : confidence;
}
