/** One house for a whole suite: opening costs more than most tests, and a tenant of its own keeps a test as alone. */

import { afterAll, beforeAll, describe, inject } from "vitest";
import type { MemoryEvent } from "../../src/engine/domain/event.ts";
import { closeSharedEmbedder, type House, type HouseOptions, openHouse, STORES } from "./stores.ts";

export interface Guest extends Omit<House, "now"> {
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
export function inOneHouse(
  name: string,
  suite: (guest: () => Guest, store: string) => void,
  options: HouseOptions & { readonly only?: "embedded" } = {},
): void {
  for (const store of STORES) {
    if (options.only === "embedded" && store.server) continue;
    if (store.poolOfOne && !ON_ONE_CONNECTION.has(name)) continue;
    describe.skipIf(store.server && inject("postgresUrl") === undefined)(`${name} on ${store.name}`, () => {
      let house: House | undefined;
      let drop: (() => Promise<unknown>) | undefined;
      let guests = 0;
      beforeAll(async () => {
        const opened = await store.open();
        drop = opened.drop;
        house = await openHouse(opened.db, options);
      });
      afterAll(async () => {
        await house?.memory.close();
        await drop?.();
      });
      suite(() => {
        if (!house) throw new Error("guests come when the house is open, inside of a test");
        guests++;
        return guestOf(house, `tenant${guests}`);
      }, store.name);
    });
  }
  afterAll(closeSharedEmbedder);
}

export function guestOf(house: House, tenant: string): Guest {
  house.set(START);
  const mine: House["outcome"] = (tool, input, { as, ...extra } = {}) =>
    house.outcome(tool, input, { ...extra, as: { tenant, ...as } });
  return {
    ...house,
    tenant,
    get now() {
      return house.now;
    },
    outcome: mine,
    call: (tool, input, { as, ...extra } = {}) => house.call(tool, input, { ...extra, as: { tenant, ...as } }),
    refused: (tool, input, { as, ...extra } = {}) => house.refused(tool, input, { ...extra, as: { tenant, ...as } }),
    events: () =>
      house.db.query<MemoryEvent>("select * from memory_events where tenant_id = $1 order by seq", [tenant]),
    async row(table, id) {
      const [row] = await house.db.query(`select * from ${table} where id = $1`, [id]);
      return row;
    },
    async count(table) {
      const [row] = await house.db.query<{ n: number }>(
        `select count(*)::int4 as n from ${table} where tenant_id = $1`,
        [tenant],
      );
      return row?.n ?? 0;
    },
  };
}
