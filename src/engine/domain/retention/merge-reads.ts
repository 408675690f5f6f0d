/** Adds up the readings of a day, so that one event stands for many. Replay comes to the same rows, row by row. */
import { groupBy } from "../collections/group-by.ts";
import { type Reader, type ReplayEvent, type RowJson, readerOf, readsOf } from "../replay.ts";

export type ReadEvent = Pick<ReplayEvent, "seq" | "event_type" | "occurred_at" | "actor" | "session_id" | "payload"> & {
  readonly id: string;
  readonly scope: string;
};

export interface Merged {
  /** By id of the events that stay: what they refer to from now on. */
  readonly kept: ReadonlyMap<string, readonly RowJson[]>;
  readonly removed: readonly string[];
}

const utcDay = ({ occurred_at }: ReadEvent): string => occurred_at.toISOString().slice(0, 10);

/** Cuts a page where the day changes, so that each part is of one day, in the order of the stream. */
export function runsOfDays(page: readonly ReadEvent[]): ReadEvent[][] {
  const runs: ReadEvent[][] = [];
  for (const event of page) {
    const last = runs.at(-1);
    if (last?.[0] !== undefined && utcDay(last[0]) === utcDay(event)) last.push(event);
    else runs.push([event]);
  }
  return runs;
}

interface Sum {
  readonly id: string;
  readonly type: string;
  n: number;
  last: Date;
  expires_at: string | undefined;
  readonly readers: Map<string, number>;
}

/**
 * Readings move to the last event of their scope that is before the next change of the memory itself: a change sets columns that
 * readings count up. `changes` are the places of such events, by memory, in order. Within a day the order of readings does not matter.
 */
export function mergeReads(run: readonly ReadEvent[], changes: ReadonlyMap<string, readonly bigint[]>): Merged {
  const sums = new Map<string, Map<string, Sum>>();
  const ofScope = groupBy(run, ({ scope }) => scope);
  for (const event of run)
    for (const read of readsOf(event)) {
      const seq = BigInt(event.seq);
      const next = changes.get(read.id)?.find((change) => change > seq);
      const carrier =
        (ofScope.get(event.scope) ?? []).findLast((other) => next === undefined || BigInt(other.seq) < next) ?? event;
      const carried = sums.get(carrier.id) ?? new Map<string, Sum>();
      sums.set(carrier.id, carried);
      const at = read.last ?? event.occurred_at;
      const sum = carried.get(read.id) ?? { ...read, n: 0, last: at, readers: new Map<string, number>() };
      carried.set(read.id, sum);
      sum.n += read.n;
      if (sum.last < at) sum.last = at;
      sum.expires_at = later(sum.expires_at, read.expires_at);
      if (read.type !== "episode") continue;
      const own: Reader[] = [
        { session_id: readerOf(event.session_id ?? undefined, event.actor, event.occurred_at), n: read.n },
      ];
      for (const { session_id, n } of read.readers ?? own)
        sum.readers.set(session_id, (sum.readers.get(session_id) ?? 0) + n);
    }
  return {
    kept: new Map([...sums].map(([id, carried]) => [id, [...carried.values()].map(written)])),
    removed: run.map(({ id }) => id).filter((id) => !sums.has(id)),
  };
}

const later = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && new Date(a) < new Date(b)) ? b : a;

const written = ({ id, type, n, last, expires_at, readers }: Sum): RowJson => ({
  ...{ id, type, n, last: last.toISOString() },
  ...(expires_at === undefined ? {} : { expires_at }),
  ...(type === "episode" ? { readers: [...readers].map(([session_id, met]) => ({ session_id, n: met })) } : {}),
});
