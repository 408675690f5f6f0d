/**
 * Calls under way, shared out among tenants. A tenant that is alone may have many at once. While others call too, each has one (and one that
 * takes long beside it), and the next that may begin is of the tenant whose turn it is: a tenant with a long queue waits behind its own
 * calls, not the others behind it. What a refusal costs, and the counting that follows
 * an answer, are not in the queue: without CPU time to spare they still slow the others down (bench/RESULTS.md).
 */
export interface QueueLimits {
  /** Of a tenant while nobody else calls, and of all of them together. */
  readonly alone: number;
  /** Of each tenant while several call. */
  readonly shared: number;
  /** Calls of one tenant that wait; the next one is refused. */
  readonly waiting: number;
}

export interface Turn {
  readonly tenant: string;
  /** Has a place of its own, so that a tenant's short calls do not wait for its batches. */
  readonly long: boolean;
  /** Of this machine itself: never refused, and not held to a share. */
  readonly patient: boolean;
}

export interface FairQueue {
  /** Runs the work when it is its turn; undefined when too many wait already. */
  run<T>(turn: Turn, work: () => Promise<T>): Promise<T | undefined>;
}

/** So long after its last call a tenant counts as one that calls. */
const LATELY_MS = 5_000;

interface Lane {
  readonly tenant: string;
  readonly patient: boolean;
  running: number;
  lastMs: number;
  readonly waiting: (() => void)[];
}

export function fairQueue(limits: QueueLimits, nowMs: () => number): FairQueue {
  /** In the order of their turns. */
  const lanes = new Map<string, Lane>();
  let total = 0;

  const isBusy = (lane: Lane) => lane.running > 0 || lane.waiting.length > 0 || nowMs() - lane.lastMs < LATELY_MS;
  const tenants = () => new Set([...lanes.values()].filter(isBusy).map(({ tenant }) => tenant)).size;
  const hasRoom = (lane: Lane, share: number) =>
    total < limits.alone && lane.running < (lane.patient ? limits.alone : share);
  const shareNow = () => (tenants() > 1 ? limits.shared : limits.alone);

  function laneOf({ tenant, long, patient }: Turn): Lane {
    for (const [key, lane] of lanes) if (!isBusy(lane)) lanes.delete(key);
    const key = JSON.stringify([tenant, long, patient]);
    const lane = lanes.get(key) ?? { tenant, patient, running: 0, lastMs: nowMs(), waiting: [] };
    lane.lastMs = nowMs();
    lanes.set(key, lane);
    return lane;
  }

  function begin(lane: Lane): void {
    lane.running += 1;
    total += 1;
  }

  function beginNext(): void {
    const share = shareNow();
    for (let begun = true; begun; ) {
      begun = false;
      for (const [key, lane] of [...lanes]) {
        if (lane.waiting.length === 0 || !hasRoom(lane, share)) continue;
        begin(lane);
        // Its next turn comes after the others'.
        lanes.delete(key);
        lanes.set(key, lane);
        lane.waiting.shift()?.();
        begun = true;
      }
    }
  }

  return {
    async run(turn, work) {
      const lane = laneOf(turn);
      if (lane.waiting.length === 0 && hasRoom(lane, shareNow())) begin(lane);
      else {
        if (!turn.patient && lane.waiting.length >= limits.waiting) return undefined;
        await new Promise<void>((start) => lane.waiting.push(start));
      }
      try {
        return await work();
      } finally {
        lane.running -= 1;
        total -= 1;
        lane.lastMs = nowMs();
        beginNext();
      }
    },
  };
}
