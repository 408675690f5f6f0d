/** Adds up readings that are old enough, day by day: one event of a day and scope stands for all of them. */
import { readsOf } from "../../domain/replay.ts";
import { mergeReads, type ReadEvent, runsOfDays } from "../../domain/retention/merge-reads.ts";
import { changesOf, type Reach, readEventsOf } from "../../store/history/retention.ts";
import type { JobContext } from "../keep/job.ts";
import type { JobTally } from "../keep/job-call.ts";
import { fold, holdCheckpoints, markOf } from "./checkpoints.ts";

/** Readings in one transaction; each names the few memories of an answer. */
const PAGE = { pglite: 200, postgres: 1_000 } as const;

export async function mergeOldReads(
  context: JobContext,
  tally: JobTally,
  reach: Reach,
  from: string,
): Promise<boolean> {
  const limit = PAGE[context.memory.db.kind];
  for (let after = from; ; ) {
    if (context.interrupted()) return false;
    const page = await mergePage(context, reach, after, limit);
    tally.count("reads_added_up", page.removed);
    if (page.next === undefined) return true;
    after = page.next;
  }
}

async function mergePage({ memory, now }: JobContext, reach: Reach, after: string, limit: number) {
  const { tenant } = reach;
  return memory.db.tx(async (sql) => {
    const before = await holdCheckpoints(sql, tenant);
    const page = await readEventsOf(sql, { ...reach, after, limit });
    const runs = runsOfDays(page);
    const whole = page.length < limit;
    // The last day of a full page may go on: it is looked at again, unless it fills the page.
    const complete = whole || runs.length === 1 ? runs : runs.slice(0, -1);
    const kept = new Map<string, Record<string, unknown>>();
    const removed: ReadEvent[] = [];
    const folding = {
      ...{ id: memory.ids.next(now), tenant, kind: "reads" as const, now },
      through: complete.at(-1)?.at(-1)?.seq ?? after,
      until: latest(complete.flat()) ?? now,
    };
    for (const run of complete) {
      const [first, last] = [run.at(0), run.at(-1)];
      if (first === undefined || last === undefined || run.length === 1) continue;
      const ids = [...new Set(run.flatMap((event) => readsOf(event).map(({ id }) => id)))];
      const merged = mergeReads(run, await changesOf(sql, tenant, ids, first.seq, last.seq));
      if (merged.removed.length === 0) continue;
      const gone = new Set(merged.removed);
      removed.push(...run.filter(({ id }) => gone.has(id)));
      for (const [id, references] of merged.kept)
        kept.set(id, { references, folded: markOf(folding, run.length - merged.kept.size + 1) });
    }
    if (removed.length > 0)
      await fold(
        sql,
        folding,
        before,
        kept,
        removed.map(({ id, event_type, payload }) => ({ id, event_type, marked: payload.folded !== undefined })),
      );
    if (whole) return { removed: removed.length, next: undefined };
    // What a day was added up to is added up with the rest of that day.
    const last = complete.length === runs.length ? complete.at(-1) : undefined;
    const carrier = last?.find(({ id }) => kept.has(id));
    const next = carrier === undefined || removed.length === 0 ? folding.through : before1(carrier.seq);
    return { removed: removed.length, next };
  });
}

const before1 = (seq: string): string => (BigInt(seq) - 1n).toString();

const latest = (events: readonly ReadEvent[]): Date | undefined =>
  events.reduce<Date | undefined>((max, { occurred_at }) => (max && max > occurred_at ? max : occurred_at), undefined);
