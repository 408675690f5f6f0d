/** A queue of work that follows an answer: one task at a time, in order. A failure is logged and does not stop the next task. */
import type { Log } from "../adapters/log.ts";

export interface Afterwards {
  push(name: string, task: () => Promise<void>): void;
  /** Once for everything that asks for it under this name within `ms`. */
  later(name: string, ms: number, task: () => Promise<void>): void;
  /** What waits under this name is done at once. Resolves when the last task of that name is done. */
  now(name: string): Promise<void>;
  /** Resolves when everything asked for so far is done; what would wait is done at once. */
  settled(): Promise<void>;
}

export function openAfterwards(log: Log): Afterwards {
  let tail: Promise<void> = Promise.resolve();
  const waiting = new Map<string, { readonly timer: NodeJS.Timeout; readonly task: () => Promise<void> }>();
  const last = new Map<string, Promise<void>>();
  const push = (name: string, task: () => Promise<void>) => {
    tail = tail.then(task).catch((error) => {
      log.warn({ task: name, err: error }, "work after the answer failed");
    });
    last.set(name, tail);
  };
  const begin = (name: string) => {
    const waited = waiting.get(name);
    if (waited === undefined) return;
    clearTimeout(waited.timer);
    waiting.delete(name);
    push(name, waited.task);
  };
  return {
    push,
    later(name, ms, task) {
      if (!waiting.has(name)) waiting.set(name, { timer: setTimeout(() => begin(name), ms), task });
    },
    now(name) {
      begin(name);
      return last.get(name) ?? Promise.resolve();
    },
    settled() {
      for (const name of [...waiting.keys()]) begin(name);
      return tail;
    },
  };
}
