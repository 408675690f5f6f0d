/** Jobs have no caller: they act in their own name, for the tenant whose row they change. */
import type { Sql } from "../adapters/db/port.ts";
import { appendEvents, type NewEvent } from "../store/events.ts";
import type { JobContext, JobName, JobReport } from "./job.ts";
import type { Call } from "./memory.ts";

export function jobCall(
  context: JobContext,
  job: JobName,
  tenant: string,
  butler: string = context.memory.butler,
): Call {
  return {
    memory: context.memory,
    caller: { tenant, butler, admin: false, actor: `job:${job}`, session: undefined },
    now: context.now,
    request: undefined,
    idempotencyKey: undefined,
  };
}

/** One batch may hold events of several tenants. Their streams are locked in the order of their names, by every job. */
export async function appendForTenants(sql: Sql, events: readonly NewEvent[]): Promise<void> {
  const tenants = [...new Set(events.map((event) => event.tenant_id))].toSorted();
  for (const tenant of tenants)
    await appendEvents(
      sql,
      events.filter((event) => event.tenant_id === tenant),
    );
}

/** What a job adds up while it runs. */
export interface Tallying {
  count(kind: string, by?: number): void;
  /** A few are kept; the audit stream has them all. */
  note(words: string): void;
  report(complete: boolean): JobReport;
}

const NOTES = 10;

export function tallying(): Tallying {
  const counts: Record<string, number> = {};
  const notes: string[] = [];
  return {
    count(kind, by = 1) {
      if (by > 0) counts[kind] = (counts[kind] ?? 0) + by;
    },
    note(words) {
      if (notes.length < NOTES) notes.push(words);
    },
    report(complete) {
      const changed = Object.values(counts).reduce((sum, n) => sum + n, 0);
      return { changed, counts, notes, complete };
    },
  };
}
