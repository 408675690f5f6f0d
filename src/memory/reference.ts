/** Reading counts as a reference: one write and one event per answer, after it has been given. */
import type { MemoryType } from "../domain/memory-types.ts";
import { appendEvents } from "../store/events.ts";
import { countReferences } from "../store/references.ts";
import type { Call } from "./memory.ts";
import { eventOf } from "./write.ts";

export function reference(call: Call, read: readonly { readonly type: MemoryType; readonly id: string }[]): void {
  if (read.length === 0) return;
  const { memory, now, caller } = call;
  const references = read.map(({ type, id }) => ({ type, id }));
  memory.afterwards.push("count references", () =>
    memory.db.tx(async (sql) => {
      // A count lost to a power cut within the next moment is harmless; an fsync for every read is not.
      await sql.query("set local synchronous_commit = off");
      await countReferences(sql, references, now, caller.session ?? "");
      const happened = {
        type: "memory.referenced",
        entity: { type: "read", id: memory.ids.next(now) },
        scope: caller.butler,
        payload: { references },
      } as const;
      await appendEvents(sql, [eventOf(call, happened)]);
    }),
  );
}
