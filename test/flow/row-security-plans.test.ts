/** Under row security a condition that is not known to keep its secrets is no way into an index: what a write looks up must not read every row. */
import { expect, it } from "vitest";
import type { Row, Sql } from "../../src/engine/adapters/db/port.ts";
import { asOwner, memoryOf } from "../../src/engine/memory/tenancy.ts";
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

    const plan = await db.tx(async (sql) => {
      const lines: string[] = [];
      const explaining: Sql = {
        async query<R = Row>(text: string, params?: readonly unknown[]): Promise<R[]> {
          const rows = await sql.query<{ "QUERY PLAN": string }>(`explain ${text}`, params);
          lines.push(...rows.map((row) => row["QUERY PLAN"]));
          return [];
        },
      };
      await findTwins(explaining, "default", "general", keys);
      return lines.join("\n");
    });
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
});
