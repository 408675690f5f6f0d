/**
 * A second thread for the model while many texts wait for the first. It takes 70 MB and a moment to load, so it is started when texts have kept
 * waiting, and given back when none has waited for a while. Both give the same bytes for a text.
 */
import { availableParallelism } from "node:os";
import type { Log } from "../log.ts";
import type { OnnxThread, Priority } from "../threads/onnx-thread.ts";

/** So many texts before one's own are a queue. */
const CROWD = 3;
/** Asked so often in a queue: a burst of a moment is over before a second thread is loaded. */
const PATIENCE = 24;
const REST_MS = 30_000;

type Thread<Q, A> = OnnxThread<Q, A>;

export interface Helped<Q, A> {
  ask(question: Q, priority: Priority): Promise<A>;
  close(): Promise<void>;
}

/** `open` loads the model once more. */
export function helped<Q, A>(first: Thread<Q, A>, open: () => Promise<Thread<Q, A>>, log: Log): Helped<Q, A> {
  let second: Thread<Q, A> | undefined;
  let loading: Promise<void> | undefined;
  let closed = false;
  let crowded = 0;
  let resting: NodeJS.Timeout | undefined;

  const rest = async () => {
    const idle = second;
    second = undefined;
    crowded = 0;
    await idle?.close();
  };
  const keepFor = (ms: number) => {
    clearTimeout(resting);
    resting = setTimeout(() => void rest(), ms).unref();
  };
  const load = async () => {
    try {
      const made = await open();
      if (closed) return await made.close();
      second = made;
      keepFor(REST_MS);
    } catch (error) {
      log.warn({ err: error }, "a second thread for the model could not be started; the first goes on alone");
    } finally {
      loading = undefined;
    }
  };
  const notice = () => {
    // A queue that came to its end was a burst.
    if (first.pending === 0) crowded = 0;
    if (first.pending < CROWD) return;
    crowded += 1;
    if (second !== undefined) keepFor(REST_MS);
    else if (crowded >= PATIENCE && loading === undefined && availableParallelism() > 1) {
      crowded = 0;
      loading = load();
    }
  };
  return {
    async ask(question, priority) {
      notice();
      const helper = second;
      if (helper === undefined || first.pending <= helper.pending) return first.ask(question, priority);
      try {
        return await helper.ask(question, priority);
      } catch (error) {
        if (closed) throw error;
        return first.ask(question, priority);
      }
    },
    async close() {
      closed = true;
      clearTimeout(resting);
      await Promise.all([first.close(), loading, rest()]);
    },
  };
}
