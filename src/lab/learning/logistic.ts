/**
 * Logistic regression with a quadratic penalty, fitted by L-BFGS. The same examples give the same bits on every machine.
 * A place counts the more, the more often it is found with one answer than with the other.
 */
import type { Features } from "../../engine/adapters/extractor/local/reader/features.ts";
import type { Regression } from "../../engine/adapters/extractor/local/reader/packed.ts";

const REMEMBERED = 8;
const MOST_ROUNDS = 120;
const HALVINGS = 20;

/** The features of many examples in one list: `ends[n]` is where those of example n end. */
export interface Table {
  /** Every place that any of them has, in ascending order. */
  readonly places: Int32Array;
  readonly ends: Int32Array;
  /** Which of the places. */
  readonly ids: Int32Array;
  readonly values: Float64Array;
}

export function tableOf(examples: readonly Features[]): Table {
  const places = Int32Array.from(new Set(examples.flatMap((features) => [...features.places]))).sort();
  const idOf = new Map<number, number>();
  for (const [id, place] of places.entries()) idOf.set(place, id);
  const length = examples.reduce((sum, features) => sum + features.places.length, 0);
  const [ids, values] = [new Int32Array(length), new Float64Array(length)];
  const ends = new Int32Array(examples.length);
  let at = 0;
  for (const [nth, features] of examples.entries()) {
    for (const [own, place] of features.places.entries()) {
      ids[at] = idOf.get(place) ?? 0;
      values[at++] = number(features.values, own);
    }
    ends[nth] = at;
  }
  return { places, ends, ids, values };
}

/** An example of the table, and the answer for it. */
export interface Labelled {
  readonly row: number;
  readonly yes: boolean;
}

export interface Fit {
  /** What an example counts against the penalty. */
  readonly strength: number;
  /** A place that fewer examples have is left out. */
  readonly least: number;
  /** A round that lowers the loss by a smaller share is the last. */
  readonly enough: number;
}

export function fitLogistic(table: Table, labelled: readonly Labelled[], how: Fit): Regression {
  const { strength, least, enough } = how;
  const { ids, factors } = placesOf(table, labelled, least);
  const places = ids.map((id) => table.places[id] as number);
  const rows = rowsOf(table, { ids, factors }, labelled);
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
    if (gained < enough) break;
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
  readonly ids: Int32Array;
  readonly factors: Float64Array;
}

const beginOf = ({ ends }: Table, row: number): number => (row === 0 ? 0 : (ends[row - 1] as number));

/** By how much the odds of a place differ between the answers, in logarithms: what naive Bayes would go by. */
function placesOf(table: Table, labelled: readonly Labelled[], least: number): Places {
  const { places, ids, ends } = table;
  const [yes, no] = [new Float64Array(places.length), new Float64Array(places.length)];
  for (const one of labelled)
    for (let at = beginOf(table, one.row); at < (ends[one.row] as number); at++)
      raise(one.yes ? yes : no, ids[at] as number, 1);
  const used = Int32Array.from(places.keys()).filter((id) => number(yes, id) + number(no, id) >= least);
  let [yeses, noes] = [0, 0];
  for (const id of used) [yeses, noes] = [yeses + number(yes, id) + UNSEEN, noes + number(no, id) + UNSEEN];
  const factors = Float64Array.from(used, (id) => {
    const odds = Math.log((number(yes, id) + UNSEEN) / yeses / ((number(no, id) + UNSEEN) / noes));
    return EVEN + (1 - EVEN) * Math.abs(odds);
  });
  return { ids: used, factors };
}

interface Rows extends Omit<Table, "ids"> {
  readonly yes: Uint8Array;
}

/** The labelled examples by the numbers of the places that are used. */
function rowsOf(table: Table, { ids, factors }: Places, labelled: readonly Labelled[]): Rows {
  const numberOf = new Int32Array(table.places.length).fill(-1);
  for (const [nth, id] of ids.entries()) numberOf[id] = nth;
  const most = labelled.reduce((sum, { row }) => sum + (table.ends[row] as number) - beginOf(table, row), 0);
  const [places, values] = [new Int32Array(most), new Float64Array(most)];
  let used = 0;
  const ends = Int32Array.from(labelled, ({ row }) => {
    for (let at = beginOf(table, row); at < (table.ends[row] as number); at++) {
      const nth = numberOf[table.ids[at] as number] as number;
      if (nth === -1) continue;
      places[used] = nth;
      values[used++] = number(table.values, at) * number(factors, nth);
    }
    return used;
  });
  return { ends, places, values, yes: Uint8Array.from(labelled, ({ yes }) => (yes ? 1 : 0)) };
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
