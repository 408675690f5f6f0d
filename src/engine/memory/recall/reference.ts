/**
 * Counts references: one event per answer, written after the answer was given. Answers of a quarter of a second are counted together: with
 * eight readers at once that costs the store a third of counting each by itself, and the next search does not wait for the count.
 */

import { TIERS } from "../../domain/lifecycle/tiers.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { readerOf } from "../../domain/replay.ts";
import { appendEvents } from "../../store/history/events.ts";
import { countReferences, type Read } from "../../store/memories/references.ts";
import { COUNTING } from "../../store/read-model/triggers.ts";
import type { Call, Memory } from "../memory.ts";
import { tierPolicy } from "../settings.ts";
import { memoryOf } from "../tenancy.ts";
import { eventOf } from "../write.ts";

const TOGETHER_MS = 250;

export interface Uncounted extends Read {
  readonly call: Call;
}

export function reference(call: Call, read: readonly { readonly type: MemoryType; readonly id: string }[]): void {
  if (read.length === 0 || call.uncounted === true) return;
  const { memory, now: at, caller } = call;
  const references = [...new Map(read.map(({ type, id }) => [id, { type, id }])).values()];
  memory.uncounted.push({ call, references, at, session: readerOf(caller.session, caller.actor, at) });
  memory.afterwards.later("count references", TOGETHER_MS, () => countAll(memory));
}

async function countAll(memory: Memory): Promise<void> {
  const reads = memory.uncounted.splice(0);
  const lives = TIERS.map((tier) => ({ tier, ...tierPolicy(memory.settings, tier) }));
  const tenants = [...new Set(reads.map(({ call }) => call.caller.tenant))].sort();
  for (const tenant of tenants) {
    const own = reads.filter(({ call }) => call.caller.tenant === tenant);
    await memoryOf(memory, tenant).db.tx(async (sql) => {
      await sql.query(COUNTING);
      const expiry = await countReferences(sql, own, lives);
      await appendEvents(
        sql,
        own.map((read) => referenced(read, expiry)),
      );
    });
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
