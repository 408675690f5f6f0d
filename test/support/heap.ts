/** What a process keeps: the heap after a full collection, compared with what it was when everything had been used once. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Twice, with a turn between: what waits for a finalizer or a timer goes with the second. */
async function heapBytes(): Promise<number> {
  collect();
  await new Promise((done) => setImmediate(done));
  collect();
  return process.memoryUsage().heapUsed;
}

export interface HeapWatch {
  /** Counts one input; after `warm` of them the heap is measured. */
  step(): Promise<void>;
  /** How much more is held since then. */
  grown(): Promise<number>;
}

export function watchHeap(warm: number): HeapWatch {
  let [seen, before] = [0, 0];
  return {
    async step() {
      seen += 1;
      if (seen === warm) before = await heapBytes();
    },
    async grown() {
      expect(seen, "inputs after the warm-up").toBeGreaterThan(warm);
      return (await heapBytes()) - before;
    },
  };
}
