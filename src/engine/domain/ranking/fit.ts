/**
 * How well a memory fits what was asked, whatever else was found: relevance is scaled by its neighbours, so that among nothing
 * but misfits the best looks good. One scale for all ways of searching.
 *
 * Measured on LoCoMo, BEAM and SciFact with their own questions and with those of another set, which nothing there answers.
 */
import type { Reading } from "./reading.ts";

export interface Evidence {
  readonly reading: Reading | undefined;
  /** Undefined when meaning was not compared, or not found by it. */
  readonly cosine: number | undefined;
  /** The weight of the question's words that it has, as a share of them all. */
  readonly wordShare: number;
}

export function fitOf({ reading, cosine, wordShare }: Evidence): number {
  if (reading && reading.meaning.raw !== 0) return clamp((reading.tokens.raw + reading.meaning.raw) / 2);
  return Math.max(clamp((cosine ?? 0) * COSINE), clamp(wordShare * WORDS));
}

/**
 * What brings a bare cosine, or a share of words, to the scale of late interaction: a cosine of 0.15 and a share of 0.12 are
 * the highest floors that cost no recall at all, as 0.2 is there.
 */
const COSINE = 4 / 3;
const WORDS = 5 / 3;

const clamp = (x: number): number => Math.min(1, Math.max(0, x));

/**
 * From here on a memory is about what was asked: it counts as referenced. Of the right memories 95 in 100 reach it; of the 50
 * best for a question that nothing answers 0.02 to 0.17 do.
 */
export const FITS = 0.36;

/**
 * The floor of a search unless it is set otherwise: recall@10 stays 86.65 on LoCoMo, 62.68 on BEAM and 84.73 on SciFact, and
 * of 50 results for a question that nothing answers 6, 6 and 37 are left. At 0.24 the first two lose 0.3 and 0.9 points.
 */
export const MIN_RELEVANCE = 0.2;

/** So much weaker than the others that nothing is left of it. */
const NOISE = 0.05;

export interface Floor {
  readonly least: number;
  /** The caller asked for it: then relevance as it is shown is held to it too. */
  readonly asked: boolean;
}

export function isAbove(
  floor: Floor,
  { fit, relevance }: { readonly fit: number; readonly relevance: number },
): boolean {
  if (fit < floor.least) return false;
  if (floor.asked) return relevance >= floor.least;
  return floor.least === 0 || relevance >= NOISE || fit >= FITS;
}
