/** One store for a whole suite: opening one costs more than most tests, and a tenant of its own keeps a test just as separate. */

import { afterAll, beforeAll, describe, inject } from "vitest";
import type { MemoryEvent } from "../../src/engine/domain/event.ts";
import { closeSharedAtEnd } from "./file-end.ts";
import { takeStore } from "./reused-stores.ts";
import { openRig, type Rig, type RigOptions, STORES } from "./stores.ts";

export interface Guest extends Omit<Rig, "now"> {
  readonly now: Date;
  readonly tenant: string;
  /** Everything that happened to this tenant, in order. */
  events(): Promise<MemoryEvent[]>;
  /** One row by its id. */
  row(table: "episodes" | "facts" | "rules", id: string): Promise<Record<string, unknown> | undefined>;
  /** How many rows this tenant has. */
  count(table: string): Promise<number>;
}

export const START = "2026-03-01T12:00:00.000Z";

/**
 * Suites that run on a server with one connection too. Whoever waits for a second one inside of a transaction waits for ever; the
 * embedded store has no second one either, so those that write in every way are enough.
 */
const ON_ONE_CONNECTION = new Set(["events", "facts", "idempotency", "ingest", "references", "rules"]);

/** Each call of the function given to the suite makes a guest: a tenant nobody has used, at the start of time. */
export function onOneRig(
  name: string,
  suite: (guest: () => Guest, store: string) => void,
  options: RigOptions & { readonly only?: "embedded" } = {},
): void {
  for (const store of STORES) {
    if (options.only === "embedded" && store.server) continue;
    if (store.poolOfOne && !ON_ONE_CONNECTION.has(name)) continue;
    describe.skipIf(store.server && inject("postgresUrl") === undefined)(`${name} on ${store.name}`, () => {
      let rig: Rig | undefined;
      let drop: (() => Promise<unknown>) | undefined;
      let guests = 0;
      beforeAll(async () => {
        const opened = await takeStore(store.name, store.open);
        drop = opened.drop;
        rig = await openRig(opened.db, options);
      });
      afterAll(async () => {
        await rig?.memory.close();
        await drop?.();
      });
      suite(() => {
        if (!rig) throw new Error("ask for a tenant inside of a test, when the store is open");
        guests++;
        return guestOf(rig, `tenant${guests}`);
      }, store.name);
    });
  }
  closeSharedAtEnd();
}

export function guestOf(rig: Rig, tenant: string): Guest {
  rig.set(START);
  const mine: Rig["outcome"] = (tool, input, { as, ...extra } = {}) =>
    rig.outcome(tool, input, { ...extra, as: { tenant, ...as } });
  return {
    ...rig,
    tenant,
    get now() {
      return rig.now;
    },
    outcome: mine,
    call: (tool, input, { as, ...extra } = {}) => rig.call(tool, input, { ...extra, as: { tenant, ...as } }),
    refused: (tool, input, { as, ...extra } = {}) => rig.refused(tool, input, { ...extra, as: { tenant, ...as } }),
    events: () => rig.db.query<MemoryEvent>("select * from memory_events where tenant_id = $1 order by seq", [tenant]),
    async row(table, id) {
      const [row] = await rig.db.query(`select * from ${table} where id = $1`, [id]);
      return row;
    },
    async count(table) {
      const [row] = await rig.db.query<{ n: number }>(`select count(*)::int4 as n from ${table} where tenant_id = $1`, [
        tenant,
      ]);
      return row?.n ?? 0;
    },
  };
}
