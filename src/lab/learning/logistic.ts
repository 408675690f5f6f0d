/** Logistic regression with a quadratic penalty, fitted by L-BFGS. The same examples give the same bits on every machine. */
import { type Features, PLACES } from "../../engine/adapters/extractor/local/reader/features.ts";
import type { Regression } from "../../engine/adapters/extractor/local/reader/reader.ts";

const REMEMBERED = 8;
const MOST_ROUNDS = 120;
const SMALL_STEP = 1e-5;
const HALVINGS = 20;

export interface Labelled {
  readonly features: Features;
  readonly yes: boolean;
}

/** `strength`: what an example counts against the penalty. */
export function fitLogistic(labelled: readonly Labelled[], strength: number): Regression {
  const used = [...new Set(labelled.flatMap(({ features }) => [...features.places]))].sort((a, b) => a - b);
  const examples = inPlacesOf(used, labelled);
  // The last number is the bias, which has no penalty.
  let at: Point = pointAt(new Float64Array(used.length + 1), examples, strength);
  const steps: Step[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = descend(at, directionOf(at.slope, steps), examples, strength);
    const step = stepBetween(at, next);
    if (step.curve > 1e-12) steps.push(step);
    if (steps.length > REMEMBERED) steps.shift();
    const gained = (at.loss - next.loss) / Math.max(1, at.loss);
    at = next;
    if (gained < SMALL_STEP) break;
  }
  const weights = new Float64Array(PLACES);
  for (const [nth, place] of used.entries()) weights[place] = number(at.weights, nth);
  return { weights, bias: number(at.weights, used.length) };
}

/** The places that no example uses stay 0 and need not be counted. */
function inPlacesOf(used: readonly number[], examples: readonly Labelled[]): Labelled[] {
  const placeOf = new Int32Array(PLACES);
  for (const [nth, place] of used.entries()) placeOf[place] = nth;
  return examples.map(({ features, yes }) => ({
    features: { places: features.places.map((place) => number(placeOf, place)), values: features.values },
    yes,
  }));
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

function pointAt(weights: Float64Array, examples: readonly Labelled[], strength: number): Point {
  const slope = Float64Array.from(weights);
  const bias = weights.length - 1;
  slope[bias] = 0;
  let loss = 0;
  for (let at = 0; at < bias; at++) loss += 0.5 * number(weights, at) ** 2;
  for (const { features, yes } of examples) {
    const { places, values } = features;
    let score = number(weights, bias);
    for (let at = 0; at < places.length; at++) score += number(weights, number(places, at)) * number(values, at);
    const margin = yes ? score : -score;
    loss += strength * (margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin);
    const pull = strength * (1 / (1 + Math.exp(-score)) - (yes ? 1 : 0));
    for (let at = 0; at < places.length; at++) raise(slope, number(places, at), pull * number(values, at));
    raise(slope, bias, pull);
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

function descend(from: Point, direction: Float64Array, examples: readonly Labelled[], strength: number): Point {
  const steepness = dot(from.slope, direction);
  let length = 1;
  for (let halved = 0; ; halved++, length /= 2) {
    const weights = Float64Array.from(from.weights);
    addTo(weights, direction, -length);
    const next = pointAt(weights, examples, strength);
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

const number = (list: Float64Array | Int32Array, at: number): number => list[at] ?? 0;

function raise(list: Float64Array, at: number, by: number): void {
  list[at] = number(list, at) + by;
}
