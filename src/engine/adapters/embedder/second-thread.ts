/**
 * A second thread for the model while many texts wait for the first, or queries keep coming while it has what is being written. It takes 70 MB and a
 * moment to load, so it is started when texts have kept waiting, and given back when none has waited for a while. Both give the same bytes for a text.
 */
import { availableParallelism } from "node:os";
import type { Log } from "../log.ts";
import type { OnnxThread, Priority } from "../threads/onnx-thread.ts";

/** So many texts before one's own are a queue. */
const CROWD = 3;
/** Asked so often in a queue: a burst of a moment is over before a second thread is loaded. */
const PATIENCE = 24;
/** A second thread is worth it when so many queries within `LATELY_MS` came while the first had a text of a write: each waits for half of a forward pass on average. */
const HELD_UP = 8;
const LATELY_MS = 4_000;
const REST_MS = 30_000;

type Thread<Q, A> = OnnxThread<Q, A>;

export interface Helped<Q, A> {
  ask(question: Q, priority: Priority): Promise<A>;
  close(): Promise<void>;
}

/** `open` loads the model once more. */
export function helped<Q, A>(
  first: Thread<Q, A>,
  open: () => Promise<Thread<Q, A>>,
  log: Log,
  nowMs: () => number = () => performance.now(),
): Helped<Q, A> {
  let second: Thread<Q, A> | undefined;
  let loading: Promise<void> | undefined;
  let closed = false;
  let crowded = 0;
  let resting: NodeJS.Timeout | undefined;
  /** Texts of writes that the first thread has. */
  let writes = 0;
  const heldUp: number[] = [];

  const rest = async () => {
    const idle = second;
    second = undefined;
    crowded = 0;
    heldUp.length = 0;
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
  /** Whether writes have held up many queries lately, this one included. */
  const areHeldUp = (priority: Priority): boolean => {
    if (priority === "write" || writes === 0) return false;
    const now = nowMs();
    heldUp.push(now);
    if (heldUp.length > HELD_UP) heldUp.shift();
    return heldUp.length === HELD_UP && now - (heldUp[0] as number) <= LATELY_MS;
  };
  const isCrowded = (): boolean => {
    // A queue that came to its end was a burst.
    if (first.pending === 0) crowded = 0;
    if (first.pending < CROWD) return false;
    crowded += 1;
    return second !== undefined || crowded >= PATIENCE;
  };
  const notice = (priority: Priority) => {
    const [isHeldUp, isQueue] = [areHeldUp(priority), isCrowded()];
    if (!isHeldUp && !isQueue) return;
    if (second !== undefined) keepFor(REST_MS);
    else if (loading === undefined && availableParallelism() > 1) {
      crowded = 0;
      heldUp.length = 0;
      loading = load();
    }
  };
  const askFirst = async (question: Q, priority: Priority): Promise<A> => {
    if (priority === "query") return first.ask(question, priority);
    writes += 1;
    try {
      return await first.ask(question, priority);
    } finally {
      writes -= 1;
    }
  };
  return {
    async ask(question, priority) {
      notice(priority);
      const helper = second;
      // What is stored goes to the second, so that the first is free for queries; of many texts both have their share.
      const further = priority === "write" ? 1 : 0;
      if (helper === undefined || first.pending + further <= helper.pending) return askFirst(question, priority);
      try {
        return await helper.ask(question, priority);
      } catch (error) {
        if (closed) throw error;
        return askFirst(question, priority);
      }
    },
    async close() {
      closed = true;
      clearTimeout(resting);
      await Promise.all([first.close(), loading, rest()]);
    },
  };
}
