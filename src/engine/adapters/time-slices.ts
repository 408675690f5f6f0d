/** Pieces of work, one after the other, for a few milliseconds of each turn of the event loop; then sockets and timers are looked at. */

const SLICE_MS = 4;

export interface TimeSlices {
  /** Resolves when there is time for a piece of work: at once, or in one of the next turns of the loop, in the order in which they were asked for. */
  wait(): Promise<void>;
  /** Somebody waits. */
  areAwaited(): boolean;
}

export function timeSlices(nowMs: () => number): TimeSlices {
  /** The first of them has been let go on, or will be in the next turn. */
  const waiting: (() => void)[] = [];
  /** When the first piece of work in this turn of the loop began; undefined: none has. */
  let begun: number | undefined;

  const hasTime = (): boolean => {
    if (begun === undefined) {
      begun = nowMs();
      setImmediate(() => {
        begun = undefined;
      });
    }
    return nowMs() - begun < SLICE_MS;
  };
  const goOn = () => {
    if (hasTime()) letFirst();
    else setImmediate(goOn);
  };
  /** When all that it does without waiting is done, it is the next one's turn. */
  const letFirst = () => {
    waiting[0]?.();
    // A tick that is asked for in a microtask comes when no microtask is left.
    queueMicrotask(() =>
      process.nextTick(() => {
        waiting.shift();
        if (waiting.length > 0) goOn();
      }),
    );
  };
  return {
    wait: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) goOn();
      }),
    areAwaited: () => waiting.length > 0,
  };
}
