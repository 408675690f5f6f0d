/** Under row security a condition that is not known to keep its secrets is no way into an index: what a write looks up must not read every row. */
import { expect, it } from "vitest";
import type { Db, Row, Sql } from "../../src/engine/adapters/db/port.ts";
import { asOwner, memoryOf } from "../../src/engine/memory/tenancy.ts";
import { listActivity } from "../../src/engine/store/browse/activity.ts";
import { findTwins } from "../../src/engine/store/memories/episodes.ts";
import { onEachStore } from "../support/stores.ts";

onEachStore("plans under row security", (open) => {
  it("the twins of an episode are found by their key", async () => {
    const rig = await open({ model: false });
    for (let part = 0; part < 10; part++)
      await rig.call("memory_ingest_batch", {
        episodes: Array.from({ length: 100 }, (_, n) => ({ content: `The gull w${part}x${n}w was seen` })),
      });
    const { id } = await rig.call("memory_store_episode", { content: "The heron was seen at the pond" });
    await rig.db.exec("analyze episodes");
    const { db } = memoryOf(rig.memory, "default");
    const [stored] = await db.query<{ key: string; butler: string }>(
      "select encode(content_key, 'hex') as key, butler from episodes where id = $1",
      [id],
    );
    const keys = [Buffer.from(stored?.key ?? "", "hex")];
    const found = await findTwins(db, "default", stored?.butler ?? "", keys);
    expect(found.map((twin) => twin.id)).toEqual([id]);

    const plan = await explained(db, "costs off", (sql) => findTwins(sql, "default", "general", keys));
    expect(plan).toMatch(/Index Cond: .*content_key = ANY/);

    // The tenant is in every key, behind the id: a look-up by id goes to its row, for a tenant and for work over all of them.
    for (const each of [db, asOwner(rig.memory, "health")]) {
      const lines = await each.query<{ "QUERY PLAN": string }>(
        "explain select content from episodes where id = any ($1::uuid[])",
        [[id]],
      );
      expect(lines.map((row) => row["QUERY PLAN"]).join("\n")).toMatch(/Index Cond: .*\bid = /);
    }
  });

  it("a page of a session's events reads its newest and no more", async () => {
    const rig = await open({ model: false });
    const { db } = memoryOf(rig.memory, "default");
    // Their times are not in the order of their numbers: every third came late.
    await db.query(
      `insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, session_id, payload)
       select gen_random_uuid(), 'default', $1, $1, 'fact.confirmed', 'fact', gen_random_uuid(),
         timestamptz '2026-01-01' + n * interval '1 minute' - case when n % 3 = 0 then interval '1 day' else interval '0' end,
         'bench', 'walk ' || n % 2, '{}' from generate_series(1, 5000) as n`,
      [rig.memory.butler],
    );
    await rig.db.exec("analyze memory_events");
    const page = {
      ...{ tenant: "default", scopes: undefined, entity: undefined, types: undefined, without: [], actor: undefined },
      ...{ session: "walk 1", from: undefined, to: undefined, before: undefined, limit: 21 },
    };
    const all = await listActivity(db, { ...page, limit: 5000 });
    const first = await listActivity(db, page);
    const [last] = first.slice(-1);
    if (last === undefined) throw new Error("no events");
    const before = { at: last.occurred_at, seq: last.seq };
    const second = await listActivity(db, { ...page, before });
    expect(all).toHaveLength(2500);
    expect([...first, ...second].map(({ id }) => id)).toEqual(all.slice(0, 42).map(({ id }) => id));

    for (const asked of [page, { ...page, before }]) {
      const lines = await explained(db, "analyze, timing off", (sql) => listActivity(sql, asked));
      expect(lines).toMatch(/Index( Only)? Scan Backward using memory_events_session.*rows=21(\.00)? loops=1/);
    }
  });
});

const explained = (db: Db, options: string, ask: (sql: Sql) => Promise<unknown>): Promise<string> =>
  db.tx(async (sql) => {
    const lines: string[] = [];
    await ask({
      async query<R = Row>(text: string, params?: readonly unknown[]): Promise<R[]> {
        const rows = await sql.query<{ "QUERY PLAN": string }>(`explain (${options}) ${text}`, params);
        lines.push(...rows.map((row) => row["QUERY PLAN"]));
        return [];
      },
    });
    return lines.join("\n");
  });
