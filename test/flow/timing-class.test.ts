/**
 * How long an answer takes must not tell whether an id, a word or a key is somebody else's or nobody's. Clocks of a test are too coarse for that, so the
 * work is compared: the same statements, with as many rows in return.
 */
import { expect, it } from "vitest";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { onEachStore, openRig } from "../support/stores.ts";

function recorded(db: Db): { readonly db: Db; readonly done: string[] } {
  const done: string[] = [];
  const noted = (sql: Sql): Sql => ({
    query: async (text, params) => {
      const rows = await sql.query(text, params);
      done.push(`${rows.length} rows: ${text}`);
      return rows as never;
    },
  });
  return {
    done,
    db: wrapDb(db, (inner) => ({ ...noted(inner), tx: (work) => inner.tx((sql) => work(noted(sql))) })),
  };
}

const NOBODYS = "01990000-0000-7000-8000-000000000000";
const SOUTH = { as: { tenant: "south", butler: "general", admin: true } };
const NORTH = { as: { tenant: "north", butler: "general", admin: true }, session: "evening" };

onEachStore("what is somebody else's takes the work of what is nobody's", (open) => {
  it("by id, by words, by session, by key and by run", async () => {
    const rig = await open({ model: false });
    const call = (tool: string, input: object) => rig.call(tool, input, NORTH);
    const episode = await call("memory_store_episode", {
      ...{ content: "The larkspur by the gate.", session_id: "evening", idempotency_key: "first" },
    });
    const keyed = { subject: "garden", predicate: "flower", scope: "global" };
    await call("memory_store_fact", { ...keyed, content: "roses" });
    const fact = await call("memory_store_fact", { ...keyed, content: "larkspur at the gate" });
    const rule = await call("memory_store_rule", { content: "Water the larkspur at dawn.", scope: "global" });
    const { run_id: run } = await call("memory_consolidate", { limit: 1 });
    await rig.call("memory_store_fact", { subject: "south", predicate: "is", content: "warm" }, SOUTH);
    await rig.settled();

    const watched = recorded(rig.db);
    const south = await openRig(watched.db, { model: false });
    /** The work of a call and its answer, both without what the caller sent itself. */
    const workOf = async (tool: string, input: object, sent: string) => {
      await south.settled();
      watched.done.length = 0;
      const outcome = JSON.stringify(await south.outcome(tool, input, SOUTH));
      await south.settled();
      return { outcome: outcome.replaceAll(sent, "…"), done: watched.done.toSorted() };
    };
    const same = async (tool: string, theirs: string, nobodys: string, input: (given: string) => object) => {
      // The first call of a kind fills caches.
      await workOf(tool, input(nobodys), nobodys);
      const [a, b] = [await workOf(tool, input(theirs), theirs), await workOf(tool, input(nobodys), nobodys)];
      expect(a, `${tool} ${JSON.stringify(input(theirs))}`).toEqual(b);
      expect(a.done.length, tool).toBeGreaterThan(0);
    };

    for (const { id } of [episode, fact, rule]) {
      for (const tool of ["memory_get", "memory_forget", "memory_restore", "view_memory"])
        await same(tool, id, NOBODYS, (given) => ({ id: given }));
      await same("memory_get", id, NOBODYS, (given) => ({ id: given, as_of: "2026-03-01T12:00:00Z" }));
      await same("memory_why", id, NOBODYS, (given) => ({ id: given, query: "gate" }));
      await same("view_texts", id, NOBODYS, (given) => ({ ids: [given] }));
      await same("control_erase", id, NOBODYS, (given) => ({ id: given, dry_run: true }));
    }
    await same("memory_confirm", fact.id, NOBODYS, (id) => ({ type: "fact", id }));
    for (const tool of ["memory_mark_helpful", "memory_mark_harmful"])
      await same(tool, rule.id, NOBODYS, (rule_id) => ({ rule_id }));
    await same("view_run", run, NOBODYS, (id) => ({ id }));
    await same("control_undo", run, NOBODYS, (given) => ({ run: given, dry_run: true }));
    await same("control_undo", "evening", "nowhere", (session) => ({ session, dry_run: true }));
    await same("view_episodes", "evening", "nowhere", (session) => ({ session }));
    await same("memory_search", "larkspur", "larkspxr", (query) => ({ query, mode: "keyword", scope: "*" }));
    await same("view_facts", "larkspur", "larkspxr", (q) => ({ q }));
    await same("control_export", "garden", "gxrden", (subject) => ({ subject }));
    await same("memory_activity_stream", episode.id, NOBODYS, (given) => ({ cursor: `e${given}` }));
    await south.memory.close();
  });
});
