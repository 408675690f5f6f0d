/** The stream alone rebuilds every row. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { replay } from "../../src/engine/memory/past/replay.ts";
import { live, steps } from "../support/history.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { migratedSnapshot, onEachStore } from "../support/stores.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const TABLES = ["episodes", "facts", "rules", "rule_applications", "memory_links", "episode_references"];

async function inStrict<T>(work: (scratch: Db) => Promise<T>): Promise<T> {
  const scratch = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
  try {
    return await work(scratch);
  } finally {
    await scratch.close();
  }
}

const verify = verifyInScratch;

/** A small life with a bit of everything that has its own column or table. */
async function smallLife(g: Pick<Guest, "call" | "later" | "settled">) {
  const episode = await g.call("memory_store_episode", { content: "Ann moved to Rome", session_id: "s1" });
  const old = await g.call("memory_store_fact", { subject: "Ann", predicate: "lives in", content: "Berlin" });
  const fact = await g.call("memory_store_fact", { subject: "Ann", predicate: "lives in", content: "Rome" });
  await g.call("memory_store_fact", {
    subject: "Ann",
    predicate: "lives in",
    content: "Rome",
    source_episode_id: episode.id,
  });
  const rule = await g.call("memory_store_rule", { content: "Deploy on Friday", source_episode_id: episode.id });
  for (const reason of ["outage", "outage again", "nobody was there"])
    await g.call("memory_mark_harmful", { rule_id: rule.id, reason });
  await g.call("memory_search", { query: "Rome Friday" }, { session: "reader" });
  await g.settled();
  g.later(2);
  await g.call("memory_search", { query: "Rome Friday" });
  await g.settled();
  await g.call("memory_forget", { id: old.id, reason: "wrong" });
  return { episode: episode.id as string, fact: fact.id as string, rule: rule.id as string };
}

/** What the drawn lives must have met, or they prove little. */
const EVERY_KIND = [
  ...["stored", "repeated", "deleted", "forgotten", "restored"].map((kind) => `episode.${kind}`),
  ...["stored", "repeated", "superseded", "confirmed", "forgotten", "restored"].map((kind) => `fact.${kind}`),
  ...["stored", "repeated", "marked_helpful", "marked_harmful", "inverted", "forgotten"].map((kind) => `rule.${kind}`),
  "memory.referenced",
];

onOneRig(
  "replay of random lives",
  (guest) => {
    it("equals the rows, whatever was called in whatever order", async () => {
      const told = new Set<string>();
      await fc.assert(
        fc.asyncProperty(steps(150), async (drawn) => {
          const g = guest();
          await live(g, drawn);
          const report = await verify(g.db);
          expect(report.differences).toEqual([]);
          expect(report.orphans).toEqual([]);
          expect(report.equal).toBe(true);
          expect(report.rows.episodes).toBeGreaterThan(0);
          for (const { event_type } of await g.events()) told.add(event_type);
        }),
        { numRuns: 3, seed: 20260301, endOnFailure: true },
      );
      expect([...told]).toEqual(expect.arrayContaining(EVERY_KIND));
    });
  },
  { model: false },
);

onEachStore("replay", (open) => {
  it("rebuilds every table in a store with all its rules", async () => {
    const rig = await open({ model: false });
    await smallLife(rig);
    await inStrict(async (scratch) => {
      const done = await replay(rig.db, scratch);
      expect(done.orphanCount).toBe(0);
      for (const table of TABLES) {
        const rows = async (db: Db) =>
          (await db.query<{ row: object }>(`select to_jsonb(t) as row from ${table} t order by t::text`)).map(
            (r) => r.row,
          );
        const stored = await rows(rig.db);
        expect(stored.length, table).toBeGreaterThan(0);
        expect(await rows(scratch), table).toEqual(stored);
      }
    });
  });

  it("finds what was changed behind the stream's back, and says what it should be", async () => {
    const rig = await open({ model: false });
    const { episode, fact, rule } = await smallLife(rig);
    expect((await verify(rig.db)).equal).toBe(true);
    await rig.db.query("update facts set content = 'Paris' where id = $1", [fact]);
    await rig.db.query("update rules set success_count = 1, applied_count = applied_count + 1 where id = $1", [rule]);
    await rig.db.query("delete from memory_links where source_id = $1 and relation = 'supports'", [episode]);
    const report = await verify(rig.db);
    expect(report.equal).toBe(false);
    expect(report.differing).toEqual({ facts: 1, rules: 1, memory_links: 1 });
    expect(report.differences).toContainEqual({
      table: "facts",
      id: fact,
      column: "content",
      stored: "Paris",
      replayed: "Rome",
    });
    expect(report.differences.filter((d) => d.table === "rules").map((d) => d.column)).toEqual([
      "applied_count",
      "success_count",
    ]);
    expect(report.differences).toContainEqual({
      table: "memory_links",
      id: `${episode} ${fact} supports`,
      column: "*",
      stored: "no row",
      replayed: "a row",
    });
  });

  it("finds rows that no event tells of, and events that tell of no row", async () => {
    const rig = await open({ model: false });
    const { episode } = await smallLife(rig);
    await rig.db.query(
      `insert into episodes (id, tenant_id, butler, content, content_key, occurred_at, expires_at, source_butler, source,
         created_at)
       select $2::uuid, tenant_id, butler, 'smuggled', '\\x00', occurred_at, expires_at, source_butler, source, created_at
       from episodes where id = $1`,
      [episode, "0198c0de-1234-7abc-8def-0123456789ab"],
    );
    await rig.db.query(
      `insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
       values (gen_random_uuid(), 'default', 'general', 'general', 'fact.confirmed', 'fact', gen_random_uuid(), now(), 'x',
         '{"set": {"validity": "active"}}')`,
    );
    const report = await verify(rig.db);
    expect(report.equal).toBe(false);
    expect(report.differences).toEqual([
      {
        table: "episodes",
        id: "0198c0de-1234-7abc-8def-0123456789ab",
        column: "*",
        stored: "a row",
        replayed: "no row",
      },
    ]);
    expect(report.orphans).toHaveLength(1);
    expect(report.orphans[0]).toMatch(/fact\.confirmed: no fact .* was stored before/);
  });

  it("is not confused by writers that go on beside it, nor by many tenants", async () => {
    const rig = await open({ model: false });
    await smallLife(rig);
    let writing = true;
    let written = 0;
    const writer = async (tenant: string) => {
      while (writing) {
        written += 1;
        await rig.call(
          "memory_store_fact",
          { subject: "n", predicate: "is", content: `${written}` },
          { as: { tenant } },
        );
        await rig.call("memory_search", { query: "n is" }, { as: { tenant } });
      }
    };
    const writers = ["default", "a", "b"].map(writer);
    try {
      const report = await verify(rig.db);
      expect(report.differences).toEqual([]);
      expect(report.equal).toBe(true);
    } finally {
      writing = false;
      await Promise.all(writers);
    }
    expect(written).toBeGreaterThanOrEqual(writers.length);
    await rig.settled();
    expect((await verify(rig.db)).equal).toBe(true);
  });

  it("is read once and in order by a follower beside four writers", async () => {
    const rig = await open({ model: false });
    const seen: string[] = [];
    let cursor: string | undefined;
    const follow = async () => {
      const page = await rig.call("memory_activity_stream", {
        limit: 7,
        ...(cursor === undefined ? {} : { cursor }),
      });
      cursor = page.next_cursor;
      seen.push(...page.events.map((event: { id: string }) => event.id));
      return page.more as boolean;
    };
    let writing = 4;
    const writers = Array.from({ length: 4 }, async (_, w) => {
      for (let n = 0; n < 15; n++) {
        // One key for all: supersessions wait for each other, so that commits come in another order than calls.
        await rig.call("memory_store_fact", { subject: "n", predicate: "is", content: `${w} ${n}` });
        await rig.call("memory_store_episode", { content: `${w} told ${n}` });
      }
      writing -= 1;
    });
    while (writing > 0) await follow();
    await Promise.all(writers);
    while (await follow());
    const stored = await rig.db.query<{ id: string }>("select id from memory_events order by seq");
    expect(seen).toEqual(stored.map(({ id }) => id));
    expect(new Set(seen).size).toBe(4 * 15 * 3 - 1);
  });
});
