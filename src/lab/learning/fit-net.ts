/** Fits the network of the second look, by Adam over small batches. The order is drawn from a seed: the same inputs give the same bits. */
import { lengthOfUnit, type Net } from "../../engine/adapters/extractor/local/reader/net.ts";

export interface NetFit {
  /** Networks that are fitted apart, from other seeds; what comes out is their mean. */
  readonly nets: number;
  readonly hidden: number;
  readonly epochs: number;
  /** At the beginning; it falls to 0 evenly. */
  readonly rate: number;
  readonly batch: number;
  /** Of the weights, in each batch. */
  readonly penalty: number;
}

export interface Given {
  readonly input: Float64Array;
  readonly yes: boolean;
}

/** The mean of networks is one network with all of their units. */
export function fitNet(given: readonly Given[], inputs: number, how: NetFit): Net {
  const scales = scalesOf(given, inputs);
  const rows = given.map(({ input }) =>
    input.map((value, at) => (value - at0(scales.mean, at)) / at0(scales.spread, at)),
  );
  const nets = Array.from({ length: how.nets }, (_, seed) => fitOne(rows, given, inputs, how, drawFrom(seed + 1)));
  const length = lengthOfUnit(inputs);
  const units = new Float64Array(how.nets * how.hidden * length);
  let bias = 0;
  for (const [nth, net] of nets.entries()) {
    bias += net.bias / how.nets;
    units.set(unscaled(net.units, length, scales, how.nets), nth * how.hidden * length);
  }
  return { inputs, units, bias };
}

interface Scales {
  readonly mean: Float64Array;
  readonly spread: Float64Array;
}

function scalesOf(given: readonly Given[], inputs: number): Scales {
  const [mean, spread] = [new Float64Array(inputs), new Float64Array(inputs)];
  const count = Math.max(1, given.length);
  for (const { input } of given) for (let at = 0; at < inputs; at++) raise(mean, at, at0(input, at) / count);
  for (const { input } of given)
    for (let at = 0; at < inputs; at++) raise(spread, at, (at0(input, at) - at0(mean, at)) ** 2 / count);
  return { mean, spread: spread.map((square) => Math.sqrt(square) || 1) };
}

/** Units that take the inputs as they are. */
function unscaled(units: Float64Array, length: number, { mean, spread }: Scales, nets: number): Float64Array {
  const raw = Float64Array.from(units);
  for (let from = 0; from < raw.length; from += length) {
    for (let at = 0; at < length - 2; at++) {
      const weight = at0(raw, from + 1 + at) / at0(spread, at);
      raw[from + 1 + at] = weight;
      raise(raw, from, -weight * at0(mean, at));
    }
    raw[from + length - 1] = at0(raw, from + length - 1) / nets;
  }
  return raw;
}

function fitOne(
  rows: readonly Float64Array[],
  given: readonly Given[],
  inputs: number,
  { hidden, epochs, rate, batch, penalty }: NetFit,
  draw: () => number,
): { readonly units: Float64Array; readonly bias: number } {
  const length = lengthOfUnit(inputs);
  // The last number is the bias of the output.
  const weights = firstWeights(inputs, hidden, draw);
  const last = weights.length - 1;
  const slope = new Float64Array(weights.length);
  const adam = adamOver(weights);
  const held = new Float64Array(hidden);
  const order = rows.map((_, nth) => nth);
  const steps = epochs * Math.ceil(rows.length / batch);
  for (let epoch = 0, step = 0; epoch < epochs; epoch++) {
    shuffle(order, draw);
    for (let from = 0; from < order.length; from += batch, step++) {
      const some = order.slice(from, from + batch);
      for (let at = 0; at < slope.length; at++) slope[at] = (penalty * at0(weights, at)) / some.length;
      slope[last] = 0;
      for (const nth of some) {
        const row = rows[nth] as Float64Array;
        const score = forward(weights, row, held, length);
        const pull = (1 / (1 + Math.exp(-score)) - (given[nth]?.yes ? 1 : 0)) / some.length;
        backward(weights, slope, row, held, length, pull);
      }
      adam(slope, rate * (1 - step / steps));
    }
  }
  return { units: weights.slice(0, last), bias: at0(weights, last) };
}

function forward(weights: Float64Array, row: Float64Array, held: Float64Array, length: number): number {
  let score = weights[weights.length - 1] as number;
  for (let unit = 0, from = 0; unit < held.length; unit++, from += length) {
    let sum = weights[from] as number;
    for (let at = 0; at < row.length; at++) sum += (weights[from + 1 + at] as number) * (row[at] as number);
    held[unit] = sum;
    if (sum > 0) score += sum * (weights[from + length - 1] as number);
  }
  return score;
}

function backward(
  weights: Float64Array,
  slope: Float64Array,
  row: Float64Array,
  held: Float64Array,
  length: number,
  pull: number,
): void {
  raise(slope, slope.length - 1, pull);
  for (let unit = 0, from = 0; unit < held.length; unit++, from += length) {
    const sum = held[unit] as number;
    if (sum <= 0) continue;
    raise(slope, from + length - 1, pull * sum);
    const back = pull * (weights[from + length - 1] as number);
    raise(slope, from, back);
    for (let at = 0; at < row.length; at++)
      slope[from + 1 + at] = (slope[from + 1 + at] as number) + back * (row[at] as number);
  }
}

function firstWeights(inputs: number, hidden: number, draw: () => number): Float64Array {
  const length = lengthOfUnit(inputs);
  const weights = new Float64Array(hidden * length + 1);
  const between = (bound: number) => bound * (2 * draw() - 1);
  const [inner, outer] = [Math.sqrt(6 / (inputs + hidden)), Math.sqrt(6 / (hidden + 1))];
  for (let from = 0; from < hidden * length; from += length) {
    for (let at = 0; at <= inputs; at++) weights[from + at] = between(inner);
    weights[from + length - 1] = between(outer);
  }
  return weights;
}

const [SLOW, SLOWER, TINY] = [0.9, 0.999, 1e-8];

function adamOver(weights: Float64Array): (slope: Float64Array, rate: number) => void {
  const [first, second] = [new Float64Array(weights.length), new Float64Array(weights.length)];
  let [one, two] = [1, 1];
  return (slope, rate) => {
    [one, two] = [one * SLOW, two * SLOWER];
    const by = (rate * Math.sqrt(1 - two)) / (1 - one);
    for (let at = 0; at < weights.length; at++) {
      const its = slope[at] as number;
      const mean = SLOW * (first[at] as number) + (1 - SLOW) * its;
      const square = SLOWER * (second[at] as number) + (1 - SLOWER) * its * its;
      [first[at], second[at]] = [mean, square];
      weights[at] = (weights[at] as number) - (by * mean) / (Math.sqrt(square) + TINY);
    }
  };
}

/** Numbers from 0 to 1, by mulberry32. */
function drawFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function shuffle(list: number[], draw: () => number): void {
  for (let at = list.length - 1; at > 0; at--) {
    const other = Math.floor(draw() * (at + 1));
    [list[at], list[other]] = [list[other] as number, list[at] as number];
  }
}

const at0 = (list: Float64Array, at: number): number => list[at] ?? 0;

function raise(list: Float64Array, at: number, by: number): void {
  list[at] = at0(list, at) + by;
}
