/** Confidence interval of a mean over questions: percentile bootstrap with a fixed seed, the same on every machine. */
import { picker } from "../sentences.ts";
import { meanOf } from "./metrics.ts";

export type Interval = readonly [low: number, high: number];

const RESAMPLES = 1000;
const SEED = 20_260_501;
const TAIL = 0.025;

/** The 95 % interval. To compare two runs, pass the differences question by question: their interval is far narrower. */
export function interval95(values: readonly number[]): Interval {
  if (values.length === 0) return [0, 0];
  const pick = picker(SEED);
  const means = Array.from({ length: RESAMPLES }, () =>
    meanOf(values.map(() => values[pick.number(values.length)] ?? 0)),
  ).toSorted((a, b) => a - b);
  const low = means[Math.floor(TAIL * RESAMPLES)] ?? 0;
  const high = means[Math.ceil((1 - TAIL) * RESAMPLES) - 1] ?? 0;
  return [low, high];
}
