/** A queue of work that follows an answer: one task at a time, in order. A failure is logged and does not stop the next task. */
import type { Log } from "../adapters/log.ts";

export interface Afterwards {
  push(name: string, task: () => Promise<void>): void;
  /** Resolves when everything pushed so far is done. */
  settled(): Promise<void>;
}

export function openAfterwards(log: Log): Afterwards {
  let tail: Promise<void> = Promise.resolve();
  return {
    push(name, task) {
      tail = tail.then(task).catch((error) => {
        log.warn({ task: name, err: error }, "work after the answer failed");
      });
    },
    settled: () => tail,
  };
}
