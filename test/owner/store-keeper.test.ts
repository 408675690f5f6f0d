/** Who keeps a store open: a store that has died is opened anew by the next call. */
import { expect, test } from "vitest";
import { storeKeeper } from "../../src/daemon/owner/store-keeper.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";

test("a store that has stopped for good is closed, and the next call opens another", async () => {
  const stores: { n: number; dead: boolean; closed: boolean }[] = [];
  const keeper = storeKeeper({
    butler: "ada",
    log: silentLog,
    async open() {
      const store = { n: stores.length, dead: false, closed: false };
      stores.push(store);
      return {
        store,
        isDead: () => store.dead,
        close: async () => {
          store.closed = true;
        },
      };
    },
    maintain: async () => undefined,
    closed: () => undefined,
    idleMs: 60_000,
    quietMs: 60_000,
    maintainEveryMs: 60_000,
    fullEveryMs: 60_000,
  });
  const asked = () => keeper.use(async ({ store }) => store.n);
  expect([await asked(), await asked()]).toEqual([0, 0]);
  (stores[0] as { dead: boolean }).dead = true;
  expect(await Promise.all([asked(), asked(), asked()])).toEqual([1, 1, 1]);
  expect(stores.map(({ closed }) => closed)).toEqual([true, false]);
  await keeper.close();
});
