/** Who keeps a store open: a store that has died is opened anew by the next call, and no call is lost when one is being closed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { storeKeeper, type Upkeep } from "../../src/daemon/owner/store-keeper.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";

interface Store {
  readonly n: number;
  dead: boolean;
  closed: boolean;
}

/** `wait` is called wherever a real store takes time. */
function keeperOf(stores: Store[], wait: () => Promise<unknown> = async () => undefined, idleMs = 60_000) {
  return storeKeeper({
    butler: "ada",
    log: silentLog,
    async open() {
      await wait();
      if (stores.some(({ closed }) => !closed)) throw new Error("two stores are open at once");
      const store = { n: stores.length, dead: false, closed: false };
      stores.push(store);
      return {
        store,
        isDead: () => store.dead,
        close: async () => {
          await wait();
          store.closed = true;
        },
      };
    },
    maintain: async () => void (await wait()),
    closed: () => undefined,
    idleMs,
    quietMs: 60_000,
    maintainEveryMs: 60_000,
    fullEveryMs: 60_000,
  });
}

test("a store that has stopped for good is closed, and the next call opens another", async () => {
  const stores: Store[] = [];
  const keeper = keeperOf(stores);
  const asked = () => keeper.use(async ({ store }) => store.n);
  expect([await asked(), await asked()]).toEqual([0, 0]);
  (stores[0] as Store).dead = true;
  expect(await Promise.all([asked(), asked(), asked()])).toEqual([1, 1, 1]);
  expect(stores.map(({ closed }) => closed)).toEqual([true, false]);
  await keeper.close();
});

test("whenever a store is let go, every call is answered by an open one", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom("use", "visit", "close", "used"), { minLength: 2, maxLength: 12 }),
      async (order, steps) => {
        const stores: Store[] = [];
        const keeper = keeperOf(stores, () => order.schedule(Promise.resolve()));
        const answers = steps.map(async (step) => {
          await order.schedule(Promise.resolve());
          if (step === "close") return keeper.close();
          if (step === "used") return keeper.used(true);
          const closedBefore = await keeper[step as "use" | "visit"](async ({ store }) => {
            await order.schedule(Promise.resolve());
            return store.closed;
          });
          expect(closedBefore).toBe(false);
        });
        await order.waitFor(Promise.all(answers));
        await order.waitFor(keeper.close());
        expect(stores.every(({ closed }) => closed)).toBe(true);
        expect(keeper.state()).toEqual({ store: "closed" });
      },
    ),
    { numRuns: 300 },
  );
});

test("a store whose time is over at the moment of a call answers it, open or opened again", async () => {
  const stores: Store[] = [];
  const keeper = keeperOf(stores, () => new Promise((done) => setImmediate(done)), 1);
  for (let n = 0; n < 100; n++) {
    expect(await keeper.use(async ({ store }) => store.closed)).toBe(false);
    // About as long as the store stays open: some calls come before it is closed, some after, some in the middle.
    await new Promise((done) => setTimeout(done, n % 3));
  }
  await keeper.close();
  expect(stores.every(({ closed }) => closed)).toBe(true);
});

test("a store that is never quiet is kept up beside calls: the long part of it a quarter as often", async () => {
  const upkeeps: Pick<Upkeep, "level" | "beside">[] = [];
  const keeper = (maintainEveryMs: number, fullEveryMs: number) =>
    storeKeeper({
      ...{ butler: "ada", log: silentLog, idleMs: 60_000, quietMs: 0, maintainEveryMs, fullEveryMs },
      open: async () => ({ close: async () => undefined }),
      maintain: async (_, { level, beside }) => void upkeeps.push({ level, beside }),
      closed: () => undefined,
    });
  const keptUp = async (kept: ReturnType<typeof keeper>) => {
    const before = upkeeps.length;
    await kept.use(async () => kept.used(true));
    while (upkeeps.length === before) await new Promise((done) => setImmediate(done));
    await kept.close();
    return upkeeps.at(-1);
  };
  expect(await keptUp(keeper(60_000, 60_000))).toEqual({ level: "light", beside: false });
  expect(await keptUp(keeper(60_000, 0))).toEqual({ level: "full", beside: false });
  expect(await keptUp(keeper(0, 60_000))).toEqual({ level: "light", beside: true });
  expect(await keptUp(keeper(0, 0))).toEqual({ level: "full", beside: true });
  const [now, began] = [performance.now(), performance.now];
  const busy = keeper(0, 1_000);
  try {
    performance.now = () => now + 2_000;
    expect(await keptUp(busy)).toEqual({ level: "light", beside: true });
    performance.now = () => now + 6_000;
    expect(await keptUp(busy)).toEqual({ level: "full", beside: true });
  } finally {
    performance.now = began;
  }
});
