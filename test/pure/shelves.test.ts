/** What is remembered of shelves, over any order of readers, writers and transactions that end as they like. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Sql } from "../../src/engine/adapters/db/port.ts";
import { MEMORY_TYPES } from "../../src/engine/domain/memory-types.ts";
import { openShelves, type Shelf } from "../../src/engine/store/memories/shelves.ts";

const TENANT = "default";

/** The table `shelves` of one tenant, and views of it: of everybody, and of a transaction that is not committed yet. */
function table() {
  const committed = new Map<string, Shelf[]>();
  let sk = 0;
  let asked = 0;
  const viewOf = (own: Map<string, Shelf[]>): Sql => ({
    async query<R>(text: string, [, scopes]: readonly unknown[] = []): Promise<R[]> {
      asked += 1;
      const wanted = [scopes].flat() as string[];
      if (text.startsWith("insert")) {
        for (const scope of wanted)
          if (!committed.has(scope) && !own.has(scope))
            own.set(
              scope,
              MEMORY_TYPES.map((type) => ({ sk: ++sk, scope, type })),
            );
        return [];
      }
      return wanted.flatMap((scope) => committed.get(scope) ?? own.get(scope) ?? []) as R[];
    },
  });
  /** As a read model has it, which is told of everything that is committed. */
  let revision: object = {};
  const commit = (own: Map<string, Shelf[]>) => {
    for (const [scope, shelves] of own) if (!committed.has(scope)) committed.set(scope, shelves);
    revision = {};
  };
  const all: Sql = {
    async query<R>(text: string, asked: readonly unknown[]): Promise<R[]> {
      const rows = await viewOf(committed).query<R>(text, asked);
      if (text.startsWith("insert")) revision = {};
      return rows;
    },
  };
  return { committed, viewOf, commit, all, asked: () => asked, revision: () => revision };
}

const scope = fc.constantFrom("global", "ada", "ada/garden", "ada/kitchen");
const step = fc.oneof(
  fc.record({
    kind: fc.constant("find" as const),
    scopes: fc.array(scope, { minLength: 1, maxLength: 4 }),
    fromMemory: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("make" as const), scope }),
  fc.record({ kind: fc.constant("make within" as const), scope }),
  fc.record({ kind: fc.constantFrom("commit" as const, "roll back" as const, "another process" as const), scope }),
);

describe.each([true, false])("shelves, with nobody else who makes them: %s", (alone) => {
  it("a reader finds those that were committed before, whatever was asked for earlier", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const store = table();
        const shelves = openShelves(() => store.all, { alone });
        let open: Map<string, Shelf[]> | undefined;
        for (const one of steps) {
          if (one.kind === "find") {
            const revision = one.fromMemory ? store.revision() : undefined;
            const found = await shelves.find(store.all, TENANT, one.scopes, revision);
            expect(found).toEqual([...new Set(one.scopes)].flatMap((name) => store.committed.get(name) ?? []));
          } else if (one.kind === "make") await shelves.of(TENANT, [one.scope]);
          else if (one.kind === "make within") {
            open ??= new Map();
            await shelves.of(TENANT, [one.scope], store.viewOf(open));
          } else if (one.kind === "commit" || one.kind === "roll back") {
            if (one.kind === "commit" && open !== undefined) store.commit(open);
            open = undefined;
          } else if (!alone) await openShelves(() => store.all, { alone }).of(TENANT, [one.scope]);
        }
      }),
    ));

  it("a scope that has none is asked for once where nobody else can make them, and by every search elsewhere", async () => {
    const store = table();
    const shelves = openShelves(() => store.all, { alone });
    await shelves.of(TENANT, ["ada"]);
    const before = store.asked();
    for (let n = 0; n < 5; n++)
      expect(await shelves.find(store.all, TENANT, ["global", "ada"])).toHaveLength(MEMORY_TYPES.length);
    expect(store.asked() - before).toBe(alone ? 1 : 5);
    await shelves.of(TENANT, ["global"]);
    expect(await shelves.find(store.all, TENANT, ["global", "ada"])).toHaveLength(2 * MEMORY_TYPES.length);
  });
});

it("a search from memory asks for absent shelves once for each state of the memory, and never a replica", async () => {
  const store = table();
  const shelves = openShelves(() => store.all, { alone: false });
  const replica: Sql = { query: () => Promise.reject(new Error("a replica was asked")) };
  const find = () => shelves.find(replica, TENANT, ["global"], store.revision());
  for (let n = 0; n < 3; n++) expect(await find()).toEqual([]);
  expect(store.asked()).toBe(1);
  store.commit(new Map());
  expect(await find()).toEqual([]);
  expect(store.asked()).toBe(2);
  await openShelves(() => store.all, { alone: false }).of(TENANT, ["global"]);
  expect(await find()).toHaveLength(MEMORY_TYPES.length);
});

it("a scope whose shelves are being made while a reader looks is not taken for absent", async () => {
  const store = table();
  const shelves = openShelves(() => store.all, { alone: true });
  const own = new Map<string, Shelf[]>();
  const looking = shelves.find(store.all, TENANT, ["global"]);
  const making = shelves.of(TENANT, ["global"], store.viewOf(own));
  expect(await looking).toEqual([]);
  await making;
  expect(await shelves.find(store.all, TENANT, ["global"])).toEqual([]);
  store.commit(own);
  expect(await shelves.find(store.all, TENANT, ["global"])).toHaveLength(MEMORY_TYPES.length);
});
