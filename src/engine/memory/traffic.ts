/** What is asked of this process. Whoever works in the background looks whether somebody waits; what can wait gives way where much is read. */

export interface Traffic {
  /** How many calls this process was asked for. */
  readonly calls: number;
  readonly underWay: number;
  /** A call has come; returns what is called when it was answered. */
  begin(isRead: boolean): () => void;
  /** Somebody else reads all the time: what is written is better written together, if a little later. */
  isReadBusily(): boolean;
}

/** So many reads within a second. */
const BUSILY = 20;
const LATELY_MS = 1_000;

export function openTraffic(nowMs: () => number = () => performance.now()): Traffic {
  let calls = 0;
  let underWay = 0;
  /** When the last reads came, the oldest at `next`. */
  const reads = new Float64Array(BUSILY).fill(Number.NEGATIVE_INFINITY);
  let next = 0;
  return {
    get calls() {
      return calls;
    },
    get underWay() {
      return underWay;
    },
    begin(isRead) {
      calls += 1;
      underWay += 1;
      if (isRead) {
        reads[next] = nowMs();
        next = (next + 1) % BUSILY;
      }
      return () => {
        underWay -= 1;
      };
    },
    isReadBusily: () => nowMs() - (reads[next] as number) <= LATELY_MS,
  };
}
