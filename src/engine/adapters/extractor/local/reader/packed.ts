/** A regression of which most weights are 0, as text: the places of the others, and a byte for each. */
import type { Features } from "./features.ts";

export interface Packed {
  /** A weight is the square of its byte times this, with the sign of the byte: small weights are many, and need finer steps. */
  readonly scale: number;
  readonly bias: number;
  /** The gaps between the places, seven bits to a byte, the last byte of each below 128; in base64. */
  readonly gaps: string;
  /** In base64. */
  readonly weights: string;
}

export interface Regression {
  readonly bias: number;
  /** In ascending order. */
  readonly places: Int32Array;
  readonly weights: Float64Array;
}

const MOST = 127;
/** Weights below the square of this are left out: half of them, which tell nothing together. */
const LEAST = 8;
/** Decimals that are written down. */
const rounded = (value: number): number => Number(value.toPrecision(6));

export function pack({ bias, places, weights }: Regression): Packed {
  let most = 0;
  for (const weight of weights) most = Math.max(most, Math.abs(weight));
  const scale = rounded(most / MOST ** 2);
  const gaps: number[] = [];
  const bytes: number[] = [];
  let last = 0;
  for (const [nth, place] of places.entries()) {
    const weight = weights[nth] ?? 0;
    const root = Math.min(MOST, Math.round(Math.sqrt(Math.abs(weight) / (scale || 1))));
    if (root < LEAST) continue;
    bytes.push(weight < 0 ? 256 - root : root);
    let gap = place - last;
    for (; gap > 127; gap >>>= 7) gaps.push((gap & 127) | 128);
    gaps.push(gap);
    last = place;
  }
  return { scale, bias: rounded(bias), gaps: base64(gaps), weights: base64(bytes) };
}

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString("base64");

export function unpack({ scale, bias, gaps, weights }: Packed): Regression {
  const bytes = Buffer.from(weights, "base64");
  const places = new Int32Array(bytes.length);
  let [nth, place, gap, shift] = [0, 0, 0, 0];
  for (const byte of Buffer.from(gaps, "base64")) {
    gap |= (byte & 127) << shift;
    shift += 7;
    if (byte > 127) continue;
    place += gap;
    places[nth++] = place;
    [gap, shift] = [0, 0];
  }
  if (nth !== bytes.length) throw new Error(`the reader has ${bytes.length} weights for ${nth} places`);
  const values = Float64Array.from(bytes, (byte) => {
    const root = byte > 127 ? byte - 256 : byte;
    return root * Math.abs(root) * scale;
  });
  return { bias, places, weights: values };
}

export function scoreOf({ bias, places, weights }: Regression, features: Features): number {
  let sum = bias;
  for (let at = 0; at < features.places.length; at++) {
    const nth = indexOf(places, features.places[at] ?? -1);
    if (nth !== -1) sum += (weights[nth] ?? 0) * (features.values[at] ?? 0);
  }
  return sum;
}

function indexOf(places: Int32Array, place: number): number {
  let [low, high] = [0, places.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const its = places[middle] ?? 0;
    if (its === place) return middle;
    if (its < place) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
