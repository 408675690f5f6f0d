/** How a read model beside a server learns of changes: what it asks, what it holds, and what it does when the server is gone or has lost something. */
import { describe, expect, inject, it, vi } from "vitest";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { unavailable } from "../../src/engine/domain/errors.ts";
import type { FollowedModel } from "../../src/engine/memory/read-model/follow.ts";
import { followTenants } from "../../src/engine/memory/read-model/follow-tenants.ts";
import { memoryOf } from "../../src/engine/memory/tenancy.ts";
import { dropOldChanges } from "../../src/engine/store/read-model/changes.ts";
import { tenantIds } from "../../src/engine/store/read-model/tenant-ids.ts";
import { PATIENCE } from "../support/patience.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

const version = (rig: Rig) => rig.memory.versions.serving?.version;
const store = (rig: Rig, content: string, tenant = "default") =>
  rig.call("memory_store_episode", { content, butler: "general" }, { as: { tenant } });
const found = async (rig: Rig, query: string, tenant = "default"): Promise<string[]> =>
  (await rig.call("memory_search", { query, mode: "keyword", min_relevance: 0 }, { as: { tenant } })).results.map(
    ({ content }: { content: string }) => content,
  );
const sizeOf = async (model: FollowedModel, rig: Rig, tenant: string) =>
  (await model.caughtUp(version(rig), tenant))?.size();

/** Tells which statements are sent, and can be made to fail. */
function watched(rig: Rig) {
  const sent: string[] = [];
  const state = { gone: false };
  const db: Db = wrapDb(rig.db, (inner) => ({
    query: async (text, params) => {
      sent.push(text);
      if (state.gone) throw unavailable("the server is gone");
      return inner.query(text, params);
    },
    close: async () => undefined,
  }));
  return { db, sent, state };
}

onEachStore("models of tenants", (open, name) => {
  describe.skipIf(name === "PGlite" || inject("postgresUrl") === undefined)("beside a server", () => {
    it("memories are loaded in the order in which they came", async () => {
      const rig = await open();
      const stored: string[] = [];
      for (const content of ["A first turn", "A second turn", "A third turn", "A fourth turn"])
        stored.push((await store(rig, content)).id);
      const ids = await tenantIds(memoryOf(rig.memory, "default").db, "default", 100);
      expect(ids.part(0, 100)).toEqual(stored);
    });

    it("a search in memory asks one thing, and reads what another daemon has written", async () => {
      const rig = await open();
      await store(rig, "The lighthouse keeper counts ships");
      await rig.call("memory_store_rule", { content: "Be kind", scope: "global" });
      const { db, sent } = watched(rig);
      const other = await openRig(db);
      expect(await found(other, "lighthouse")).toEqual(["The lighthouse keeper counts ships"]);
      await other.memory.readModel.load(version(other), "default");
      await other.settled();

      sent.length = 0;
      expect(await found(other, "lighthouse")).toHaveLength(1);
      expect(sent.filter((text) => text.startsWith("select"))).toEqual([expect.stringContaining("changed_memories")]);
      await other.settled();

      await store(rig, "The lighthouse has a new lamp");
      sent.length = 0;
      expect(await found(other, "lighthouse lamp")).toContain("The lighthouse has a new lamp");
      expect(sent.some((text) => text.includes("lex_block"))).toBe(false);
      await other.memory.close();
    });

    it("holds the rows of one tenant, whoever wrote meanwhile", async () => {
      const rig = await open();
      for (const tenant of ["north", "south"]) await store(rig, `The harbour of ${tenant}`, tenant);
      const model = followTenants(rig.db, rig.memory.roles, silentLog);
      for (const tenant of ["north", "south"]) await model.load(version(rig), tenant);
      expect([await sizeOf(model, rig, "north"), await sizeOf(model, rig, "south")]).toEqual([1, 1]);
      // Even if somebody could note ids of another tenant under its own name, no row would come of it.
      const [foreign] = await rig.db.query<{ id: string }>("select id from episodes where tenant_id = 'south'");
      await rig.db.query("insert into changed_memories (tenant_id, ids, counted) values ('north', $1, false)", [
        [foreign?.id],
      ]);
      expect(await sizeOf(model, rig, "north")).toBe(1);
      expect((await model.caughtUp(version(rig), "north"))?.slotOf(foreign?.id ?? "")).toBeUndefined();
      await model.close();
    });

    it("lets go of tenants that rest, keeps those in use, and leaves what is too large to the store", async () => {
      const rig = await open();
      const sizes = { small: 2, other: 2, large: 5, huge: 9 };
      for (const [tenant, count] of Object.entries(sizes))
        for (let nth = 0; nth < count; nth++) await store(rig, `Note ${nth} of ${tenant}`, tenant);
      const resting = followTenants(rig.db, rig.memory.roles, silentLog, { most: 8, least: 1, restMs: 0 });
      const loaded = async (model: FollowedModel) => {
        const all = [];
        for (const tenant of Object.keys(sizes)) if (model.asKnown?.(version(rig), tenant)) all.push(tenant);
        return all;
      };
      for (const tenant of ["small", "other", "large", "huge"]) await resting.load(version(rig), tenant);
      expect(await loaded(resting)).toEqual(["other", "large"]);
      await resting.close();

      const inUse = followTenants(rig.db, rig.memory.roles, silentLog, { most: 8, least: 1, restMs: 60_000 });
      for (const tenant of ["small", "other", "large", "huge"]) await inUse.load(version(rig), tenant);
      expect(await loaded(inUse)).toEqual(["small", "other"]);
      // A model that has grown too large goes too.
      for (let nth = 0; nth < 7; nth++) await store(rig, `Another ${nth}`, "other");
      expect(await inUse.caughtUp(version(rig), "other")).toBeUndefined();
      expect(await inUse.caughtUp(version(rig), "small")).toBeUndefined();
      await inUse.close();
    });

    it("fails where the store would, answers nothing that is out of date, and goes on where it was", async () => {
      const rig = await open();
      await store(rig, "The mill stands by the river");
      const { db, sent, state } = watched(rig);
      const other = await openRig(db);
      await other.memory.readModel.load(version(other), "default");
      expect(await found(other, "mill")).toHaveLength(1);
      await store(rig, "The mill burned down");
      state.gone = true;
      expect((await other.refused("memory_search", { query: "mill" })).code).toBe("unavailable");
      expect((await other.refused("memory_context", { trigger_prompt: "mill" })).code).toBe("unavailable");
      state.gone = false;
      sent.length = 0;
      expect((await found(other, "mill")).toSorted()).toEqual(["The mill burned down", "The mill stands by the river"]);
      expect(sent.some((text) => text.includes("string_agg(uuid_send"))).toBe(false);
      await other.memory.close();
    });

    it.each([
      ["has lost its log, as a crash does", "truncate change_log, changed_memories"],
      ["has begun another one", "update change_log set id = gen_random_uuid()"],
      ["has dropped what was not read yet", "update change_log set dropped = pg_snapshot_xmax(pg_current_snapshot())"],
    ])("reads everything anew where the server %s", async (_, loss) => {
      const rig = await open();
      await store(rig, "The vineyard faces south");
      const { memory } = rig;
      await memory.readModel.load(version(rig), "default");
      expect(await sizeOf(memory.readModel, rig, "default")).toBe(1);
      await rig.db.query("delete from lex_doc");
      await rig.db.query("delete from embeddings");
      await rig.db.query("delete from episodes");
      await rig.db.query(loss);
      expect(await memory.readModel.caughtUp(version(rig), "default")).toBeUndefined();
      // Not before every transaction of the server has ended that was under way at the loss, those of other tests too.
      await vi.waitFor(async () => {
        await memory.readModel.load(version(rig), "default");
        expect(await sizeOf(memory.readModel, rig, "default")).toBe(0);
      }, PATIENCE);
    });

    it("drops old changes, and whoever has read them goes on", async () => {
      const rig = await open();
      await store(rig, "The orchard has forty trees");
      const { readModel } = rig.memory;
      await readModel.load(version(rig), "default");
      await store(rig, "The orchard lost a tree");
      expect(await sizeOf(readModel, rig, "default")).toBe(2);
      await rig.db.query("update changed_memories set at = at - interval '3 hours'");
      // What is still under way anywhere on the server, in other tests too, might have been dropped unread.
      await vi.waitFor(async () => {
        await rig.db.query("select pg_current_xact_id()");
        const [over] = await rig.db.query<{ all: boolean }>(
          "select bool_and(xid < pg_snapshot_xmin(pg_current_snapshot())) as all from changed_memories",
        );
        expect(over?.all).toBe(true);
      }, PATIENCE);
      await readModel.caughtUp(version(rig), "default");
      await dropOldChanges(rig.db);
      expect(await rig.db.query("select from changed_memories")).toEqual([]);
      expect(await sizeOf(readModel, rig, "default")).toBe(2);
    });

    it("misses nothing that is committed in another order than it was begun", async () => {
      const rig = await open();
      await store(rig, "The first bell");
      const { readModel } = rig.memory;
      await readModel.load(version(rig), "default");
      let commit: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        commit = resolve;
      });
      let begun: () => void = () => undefined;
      const hasBegun = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const slow = rig.db.tx(async (sql) => {
        await sql.query("update episodes set importance = 9");
        begun();
        await held;
      });
      await hasBegun;
      await store(rig, "The second bell");
      const importance = async () => {
        const model = await readModel.caughtUp(version(rig), "default");
        return [0, 1].map((slot) => model?.rowAt(slot)?.importance);
      };
      expect(await importance()).not.toContain(9);
      commit();
      await slow;
      expect((await importance()).filter((value) => value === 9)).toHaveLength(1);
    });
  });
});
