/** Does long work in slices. Between them the event loop serves other callers: a health check, a search, another agent. */
import { setImmediate as nextIteration } from "node:timers/promises";
import { timeSlices } from "./time-slices.ts";

/** Characters of text that are worked on in one go: the slowest work on so many takes some ten milliseconds. */
export const TURN_CHARS = 16_384;

let last: Promise<void> = Promise.resolve();

/** Each caller gets a turn of the event loop to itself: fifty callers that wait at once would otherwise all go on in the same turn. */
export function nextTurn(): Promise<void> {
  last = last.then(() => nextIteration());
  return last;
}

const answers = timeSlices(() => performance.now());

/**
 * A turn for work on an answer that somebody waits for: at once if little was done in this turn of the event loop, else in one of the next. It waits
 * for other answers, never for slices of long work. (With a turn of the loop for each, however short its work, a context waited for ten others where 50 contexts and
 * 40 episodes came a second.)
 */
export const answerTurn = (): Promise<void> => answers.wait();

/** Most turns that work for nobody who waits stands back for. */
const MOST_BEHIND = 50;

/** A turn for work that nobody waits for: when no answer wants one, or after many. */
export async function lastTurn(): Promise<void> {
  for (let turn = 0; turn < MOST_BEHIND; turn++) {
    await nextTurn();
    if (!answers.areAwaited()) return;
  }
}

/** Work on a question that nobody waits for yet: done while the model has it, which is sent on its way first. */
export const meanwhile = async <T>(work: () => T): Promise<T> => {
  await nextIteration();
  return work();
};

/** Runs a generator that stops between its steps, one step a turn. */
export async function inTurns<T>(steps: Generator<void, T>, turn: () => Promise<void> = nextTurn): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await turn();
  }
}

/** `items.map(work)` with a turn of the event loop wherever the work since the last one has grown to a slice. */
export async function mapInTurns<T, R>(
  items: readonly T[],
  charsOf: (item: T) => number,
  work: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  let chars = 0;
  for (const [index, item] of items.entries()) {
    if (chars >= TURN_CHARS) {
      chars = 0;
      await nextTurn();
    }
    chars += charsOf(item);
    done.push(await work(item, index));
  }
  return done;
}

/** Texts that wait for the model at a time: enough that it is never idle, few enough that a cancelled call leaves little behind. */
const AHEAD = 8;

/** `items.map(work)`, begun in order and a few at a time. The first that fails ends it, and no further one is begun. */
export async function mapAhead<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  const left = items.entries();
  let failed = false;
  async function take(): Promise<void> {
    for (const [index, item] of left) {
      if (failed) return;
      try {
        done[index] = await work(item, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AHEAD, items.length) }, take));
  return done;
}
