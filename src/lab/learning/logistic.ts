/**
 * Logistic regression with a quadratic penalty, fitted by L-BFGS. The same examples give the same bits on every machine.
 * A place counts the more, the more often it is found with one answer than with the other.
 */
import type { Features } from "../../engine/adapters/extractor/local/reader/features.ts";
import type { Regression } from "../../engine/adapters/extractor/local/reader/packed.ts";

const REMEMBERED = 8;
const MOST_ROUNDS = 120;
const SMALL_STEP = 1e-5;
const HALVINGS = 20;

export interface Labelled {
  readonly features: Features;
  readonly yes: boolean;
}

export interface Fit {
  /** What an example counts against the penalty. */
  readonly strength: number;
  /** A place that fewer examples have is left out. */
  readonly least: number;
}

export function fitLogistic(labelled: readonly Labelled[], { strength, least }: Fit): Regression {
  const used = placesOf(labelled, least);
  const { places, factors } = used;
  const rows = rowsOf(used, labelled);
  // The last number is the bias, which has no penalty.
  let at: Point = pointAt(new Float64Array(places.length + 1), rows, strength);
  const steps: Step[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = descend(at, directionOf(at.slope, steps), rows, strength);
    const step = stepBetween(at, next);
    if (step.curve > 1e-12) steps.push(step);
    if (steps.length > REMEMBERED) steps.shift();
    const gained = (at.loss - next.loss) / Math.max(1, at.loss);
    at = next;
    if (gained < SMALL_STEP) break;
  }
  const weights = factors.map((factor, nth) => factor * number(at.weights, nth));
  return { places, weights, bias: number(at.weights, places.length) };
}

/** How much of its value a place keeps whatever it tells; the rest of it counts by how much it tells. */
const EVEN = 0.5;

/** Counted with each answer, so that none is impossible. */
const UNSEEN = 0.5;

interface Places {
  /** In ascending order. */
  readonly places: Int32Array;
  readonly factors: Float64Array;
}

/** By how much the odds of a place differ between the answers, in logarithms: what naive Bayes would go by. */
function placesOf(examples: readonly Labelled[], least: number): Places {
  const counts = new Map<number, { yes: number; no: number }>();
  for (const { features, yes } of examples)
    for (const place of features.places) {
      const count = counts.get(place) ?? { yes: 0, no: 0 };
      if (yes) count.yes++;
      else count.no++;
      counts.set(place, count);
    }
  const used = [...counts].filter(([, { yes, no }]) => yes + no >= least).sort(([a], [b]) => a - b);
  let [yeses, noes] = [0, 0];
  for (const [, { yes, no }] of used) [yeses, noes] = [yeses + yes + UNSEEN, noes + no + UNSEEN];
  const factors = used.map(([, { yes, no }]) => {
    const odds = Math.log((yes + UNSEEN) / yeses / ((no + UNSEEN) / noes));
    return EVEN + (1 - EVEN) * Math.abs(odds);
  });
  return { places: Int32Array.from(used, ([place]) => place), factors: Float64Array.from(factors) };
}

/** All examples in one list: `ends[n]` is where the numbers of example n end. */
interface Rows {
  readonly ends: Int32Array;
  readonly places: Int32Array;
  readonly values: Float64Array;
  readonly yes: Uint8Array;
}

/** The examples by the numbers of the places that are used. */
function rowsOf({ places, factors }: Places, examples: readonly Labelled[]): Rows {
  const numberOf = new Map<number, number>();
  for (const [nth, place] of places.entries()) numberOf.set(place, nth);
  const [ends, used, values]: [number[], number[], number[]] = [[], [], []];
  for (const { features } of examples) {
    for (const [at, place] of features.places.entries()) {
      const nth = numberOf.get(place);
      if (nth === undefined) continue;
      used.push(nth);
      values.push(number(features.values, at) * number(factors, nth));
    }
    ends.push(used.length);
  }
  return {
    ends: Int32Array.from(ends),
    places: Int32Array.from(used),
    values: Float64Array.from(values),
    yes: Uint8Array.from(examples, ({ yes }) => (yes ? 1 : 0)),
  };
}

interface Point {
  readonly weights: Float64Array;
  readonly slope: Float64Array;
  readonly loss: number;
}

interface Step {
  readonly moved: Float64Array;
  readonly changed: Float64Array;
  readonly curve: number;
}

function pointAt(weights: Float64Array, { ends, places, values, yes }: Rows, strength: number): Point {
  const slope = Float64Array.from(weights);
  const bias = weights.length - 1;
  slope[bias] = 0;
  let loss = 0;
  for (let at = 0; at < bias; at++) loss += 0.5 * number(weights, at) ** 2;
  for (let row = 0, from = 0; row < ends.length; row++) {
    const end = ends[row] as number;
    let score = number(weights, bias);
    for (let at = from; at < end; at++) score += (weights[places[at] as number] as number) * (values[at] as number);
    const wanted = yes[row] === 1;
    const margin = wanted ? score : -score;
    loss += strength * (margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin);
    const pull = strength * (1 / (1 + Math.exp(-score)) - (wanted ? 1 : 0));
    for (let at = from; at < end; at++) {
      const place = places[at] as number;
      slope[place] = (slope[place] as number) + pull * (values[at] as number);
    }
    slope[bias] = number(slope, bias) + pull;
    from = end;
  }
  return { weights, slope, loss };
}

/** The slope, bent by what the last steps have told about the curvature. */
function directionOf(slope: Float64Array, steps: readonly Step[]): Float64Array {
  const direction = Float64Array.from(slope);
  const shares = steps.toReversed().map(({ moved, changed, curve }) => {
    const share = dot(moved, direction) / curve;
    addTo(direction, changed, -share);
    return share;
  });
  const last = steps.at(-1);
  const scale = last === undefined ? 1 / Math.sqrt(dot(slope, slope)) : last.curve / dot(last.changed, last.changed);
  for (let at = 0; at < direction.length; at++) direction[at] = number(direction, at) * scale;
  for (const [nth, { moved, changed, curve }] of steps.entries()) {
    const share = shares[steps.length - 1 - nth] ?? 0;
    addTo(direction, moved, share - dot(changed, direction) / curve);
  }
  return direction;
}

function descend(from: Point, direction: Float64Array, rows: Rows, strength: number): Point {
  const steepness = dot(from.slope, direction);
  let length = 1;
  for (let halved = 0; ; halved++, length /= 2) {
    const weights = Float64Array.from(from.weights);
    addTo(weights, direction, -length);
    const next = pointAt(weights, rows, strength);
    if (next.loss <= from.loss - 1e-4 * length * steepness || halved === HALVINGS) return next;
  }
}

function stepBetween(from: Point, to: Point): Step {
  const moved = Float64Array.from(to.weights);
  addTo(moved, from.weights, -1);
  const changed = Float64Array.from(to.slope);
  addTo(changed, from.slope, -1);
  return { moved, changed, curve: dot(moved, changed) };
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += number(one, at) * number(other, at);
  return sum;
}

function addTo(target: Float64Array, other: Float64Array, times: number): void {
  for (let at = 0; at < target.length; at++) raise(target, at, times * number(other, at));
}

const number = (list: Float64Array, at: number): number => list[at] ?? 0;

function raise(list: Float64Array, at: number, by: number): void {
  list[at] = number(list, at) + by;
}
