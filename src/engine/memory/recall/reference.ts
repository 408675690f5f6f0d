/**
 * Counts references: one event per answer, written after the answer was given. Answers of a second are counted together, in one transaction:
 * counting each by itself took the embedded store longer than finding it. Whatever reads counts waits for those that are due (`allCounted`);
 * a process that is killed loses those of its last second, and their events with them, so that rows and stream still agree.
 */

import { TIERS } from "../../domain/lifecycle/tiers.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { readerOf } from "../../domain/replay.ts";
import { appendEvents } from "../../store/history/events.ts";
import { type CountedRow, countReferences, type Read } from "../../store/memories/references.ts";
import { COUNTING } from "../../store/read-model/triggers.ts";
import type { Call, Memory } from "../memory.ts";
import { tierPolicy } from "../settings.ts";
import { memoryOf } from "../tenancy.ts";
import { eventOf } from "../write.ts";

const TOGETHER_MS = 1_000;
/** So many are counted at once: a longer transaction would hold up a write. */
const MOST_TOGETHER = 100;
const COUNT = "count references";

export interface Uncounted extends Read {
  readonly call: Call;
}

export function reference(call: Call, read: readonly { readonly type: MemoryType; readonly id: string }[]): void {
  if (read.length === 0 || call.uncounted === true) return;
  const { memory, now: at, caller } = call;
  const references = [...new Map(read.map(({ type, id }) => [id, { type, id }])).values()];
  memory.uncounted.push({ call, references, at, session: readerOf(caller.session, caller.actor, at) });
  memory.afterwards.later(COUNT, TOGETHER_MS, () => countAll(memory));
  if (memory.uncounted.length >= MOST_TOGETHER) void memory.afterwards.now(COUNT);
}

/** Resolves when every reference of the answers given so far is in the store. */
export const allCounted = ({ afterwards }: Pick<Memory, "afterwards">): Promise<void> => afterwards.now(COUNT);

async function countAll(memory: Memory): Promise<void> {
  const reads = memory.uncounted.splice(0);
  const lives = TIERS.map((tier) => ({ tier, ...tierPolicy(memory.settings, tier) }));
  const tenants = [...new Set(reads.map(({ call }) => call.caller.tenant))].sort();
  for (const tenant of tenants) {
    const own = reads.filter(({ call }) => call.caller.tenant === tenant);
    let counted: readonly CountedRow[] = [];
    try {
      await memoryOf(memory, tenant).db.tx(async (sql) => {
        await sql.query(COUNTING);
        counted = await countReferences(sql, own, lives);
        const expiry = new Map(
          counted.flatMap(({ id, expires_at }) => (expires_at ? [[id, expires_at] as const] : [])),
        );
        await appendEvents(
          sql,
          own.map((read) => referenced(read, expiry)),
        );
        memory.readModel.expectCounts(counted);
      });
    } finally {
      memory.readModel.unexpectCounts(counted);
    }
  }
}

/** The event holds the new expiry of each episode, because replay does not know the settings. */
const referenced = ({ call, references }: Uncounted, expiry: ReadonlyMap<string, Date>) =>
  eventOf(call, {
    type: "memory.referenced",
    entity: { type: "read", id: call.memory.ids.next(call.now) },
    scope: call.caller.butler,
    payload: {
      references: references.map(({ type, id }) => {
        const expires_at = expiry.get(id);
        return expires_at === undefined ? { type, id } : { type, id, expires_at };
      }),
    },
  });
