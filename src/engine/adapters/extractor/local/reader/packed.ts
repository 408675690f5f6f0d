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

/** Several regressions side by side: a place is looked up once for all of them. */
export interface Joined {
  readonly biases: Float64Array;
  /** Where a place stands in `rows`, by a hash of it: its number plus one, 0 where there is none. */
  readonly table: Int32Array;
  readonly places: Int32Array;
  /** The weights of the place with number n are those from `rows[n]` to `rows[n + 1]`. */
  readonly rows: Int32Array;
  readonly heads: Uint8Array;
  readonly weights: Float64Array;
}

export function join(regressions: readonly Regression[]): Joined {
  const total = regressions.reduce((sum, { places }) => sum + places.length, 0);
  const table = new Int32Array(2 ** Math.ceil(Math.log2(2 * total + 2)));
  const places = new Int32Array(total);
  const counts = new Int32Array(total + 1);
  let distinct = 0;
  const numberOf = (place: number): number => {
    const at = slotOf(table, places, place);
    if (table[at] === 0) {
      places[distinct++] = place;
      table[at] = distinct;
    }
    return (table[at] ?? 0) - 1;
  };
  for (const regression of regressions)
    for (const place of regression.places) {
      const nth = numberOf(place);
      counts[nth] = (counts[nth] ?? 0) + 1;
    }
  const rows = new Int32Array(distinct + 1);
  for (let nth = 0; nth < distinct; nth++) rows[nth + 1] = (rows[nth] ?? 0) + (counts[nth] ?? 0);
  const next = rows.slice(0, distinct);
  const heads = new Uint8Array(total);
  const weights = new Float64Array(total);
  for (const [head, regression] of regressions.entries())
    for (const [at, place] of regression.places.entries()) {
      const nth = numberOf(place);
      const to = next[nth] ?? 0;
      next[nth] = to + 1;
      heads[to] = head;
      weights[to] = regression.weights[at] ?? 0;
    }
  const biases = Float64Array.from(regressions, ({ bias }) => bias);
  return { biases, table, places: places.slice(0, distinct), rows, heads, weights };
}

function slotOf(table: Int32Array, places: Int32Array, place: number): number {
  const mask = table.length - 1;
  let at = Math.imul(place, 0x9e3779b1) & mask;
  for (let nth = table[at] ?? 0; nth !== 0 && places[nth - 1] !== place; nth = table[at] ?? 0) at = (at + 1) & mask;
  return at;
}

/** Of each regression, added up in the order of the features. */
export function scoresOf({ biases, table, places, rows, heads, weights }: Joined, features: Features): Float64Array {
  const sums = biases.slice();
  for (let at = 0; at < features.places.length; at++) {
    const nth = table[slotOf(table, places, features.places[at] ?? -1)] ?? 0;
    if (nth === 0) continue;
    const value = features.values[at] ?? 0;
    const end = rows[nth] ?? 0;
    for (let row = rows[nth - 1] ?? 0; row < end; row++) {
      const head = heads[row] ?? 0;
      sums[head] = (sums[head] ?? 0) + (weights[row] ?? 0) * value;
    }
  }
  return sums;
}
