import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

type Event = { id: string; event_type: string; scope: string; entity_id: string; occurred_at: string };
const page = (g: Guest, input = {}, as = {}) => g.call("memory_activity_stream", input, { as });

async function readAll(g: Guest, limit: number, as = {}): Promise<Event[]> {
  const events: Event[] = [];
  let cursor: string | undefined;
  for (;;) {
    const answer = await page(g, { limit, ...(cursor === undefined ? {} : { cursor }) }, as);
    events.push(...answer.events);
    cursor = answer.next_cursor;
    if (!answer.more) return events;
  }
}

onOneRig("the activity stream", (guest) => {
  it("gives every event once and in order, whatever the page", async () => {
    const g = guest();
    for (let n = 0; n < 11; n++) {
      await g.call("memory_store_episode", { content: `Event ${n}` });
      if (n % 3 === 0) await g.call("memory_store_fact", { subject: "user", predicate: "n", content: `${n}` });
    }
    const expected = (await g.events()).map((e) => e.id);
    for (const limit of [1, 4, 7, 1000]) expect((await readAll(g, limit)).map((e) => e.id)).toEqual(expected);
    const whole = await page(g);
    expect(whole.more).toBe(false);
    expect(whole.events[0]).toMatchObject({ event_type: "episode.stored", entity_type: "episode", actor: "test" });
    expect(whole.events[0]).not.toHaveProperty("tenant_id");
  });

  it("ends a page of long texts early, says so, and goes on with the next", async () => {
    const g = guest();
    for (let n = 0; n < 13; n++)
      await g.call("memory_store_episode", { content: `${n} ${"long words ".repeat(9_000)}` });
    const first = await page(g, { limit: 1000 });
    expect(first.more).toBe(true);
    expect(JSON.stringify(first.events).length).toBeLessThan(1_100_000);
    expect((await readAll(g, 1000)).map((e) => e.id)).toEqual((await g.events()).map((e) => e.id));
  });

  it("goes on from its cursor when something new has happened", async () => {
    const g = guest();
    await g.call("memory_store_episode", { content: "first" });
    const { next_cursor: cursor } = await page(g);
    expect((await page(g, { cursor })).events).toEqual([]);
    const { id } = await g.call("memory_store_episode", { content: "second" });
    expect((await page(g, { cursor })).events).toMatchObject([{ entity_id: id }]);
  });

  it("loses nothing to writers that run beside the reader", async () => {
    const g = guest();
    const seen: string[] = [];
    let cursor: string | undefined;
    const read = async () => {
      const answer = await page(g, cursor === undefined ? {} : { cursor });
      seen.push(...answer.events.map((e: Event) => e.id));
      cursor = answer.next_cursor;
    };
    const writes = Array.from({ length: 30 }, (_, n) => g.call("memory_store_episode", { content: `Parallel ${n}` }));
    for (let n = 0; n < 10; n++) await read();
    await Promise.all(writes);
    await read();
    expect(seen).toEqual((await g.events()).map((e) => e.id));
    expect(new Set(seen).size).toBe(30);
  });

  it("starts at a time", async () => {
    const g = guest();
    await g.call("memory_store_episode", { content: "early" });
    g.later(1);
    const { id } = await g.call("memory_store_episode", { content: "late" });
    expect((await page(g, { since: g.now.toISOString() })).events).toMatchObject([{ entity_id: id }]);
  });

  it("shows only what the caller's scopes hold", async () => {
    const g = guest();
    await g.call("memory_store_fact", { subject: "a", predicate: "b", content: "c" });
    await g.call("memory_store_episode", { content: "mine" });
    await g.call(
      "memory_store_fact",
      { subject: "a", predicate: "b", content: "c", scope: "elsewhere" },
      { as: { admin: true } },
    );
    expect((await readAll(g, 10)).map((e) => e.scope)).toEqual(["global", "general"]);
    expect((await page(g, { scope: "global" })).events).toHaveLength(1);
    expect((await page(g, { scope: "*" }, { admin: true })).events).toHaveLength(3);
    expect((await g.refused("memory_activity_stream", { scope: "*" })).code).toBe("forbidden");
  });

  it("refuses a cursor that is none", async () => {
    const g = guest();
    for (const cursor of ["12", "e", "e1; drop", "e9999999999999999999"])
      expect(await g.refused("memory_activity_stream", { cursor })).toMatchObject({
        code: "invalid_input",
        field: "cursor",
      });
  });
});
