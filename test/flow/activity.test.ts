import { expect, it } from "vitest";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { runJob } from "../support/job-runs.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

type Seen = { text?: string; state: string; trust: string };
type Event = {
  id: string;
  event_type: string;
  scope: string;
  entity_id: string;
  occurred_at: string;
  payload: Record<string, unknown>;
  memory?: Seen;
  replaced?: Seen;
  sessions?: string[];
};
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

  it("gives the last ones, and goes on from there", async () => {
    const g = guest();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await g.call("memory_store_episode", { content: `Event ${n}` })).id);
    const last = await page(g, { newest: true, limit: 2 });
    expect(last.events.map((e: Event) => e.entity_id)).toEqual(ids.slice(3));
    const { id } = await g.call("memory_store_episode", { content: "after" });
    const next = await page(g, { newest: true, cursor: last.next_cursor });
    expect(next.events.map((e: Event) => e.entity_id)).toEqual([id]);
    expect((await page(g, { newest: true, limit: 1000 })).more).toBe(false);
  });

  it("of long texts the newest page holds the last", async () => {
    const g = guest();
    const long = "long words ".repeat(9_000);
    for (let n = 0; n < 12; n++) await g.call("memory_store_episode", { content: `${n} ${long}` });
    const all = (await g.events()).map((e) => e.id);
    const { events, more } = await page(g, { newest: true, limit: 1000 });
    expect(more).toBe(true);
    expect(events.map((e: Event) => e.id)).toEqual(all.slice(-events.length));
  });

  it("tells what changed with the memory as it is now, its predecessor and its session, and nothing that is forgotten", async () => {
    const g = guest();
    const said = await g.call("memory_store_episode", { content: "DNS moved to route53", session_id: "s1" });
    const old = await g.call("memory_store_fact", { subject: "dns", predicate: "host", content: "cloudflare" });
    const now = await g.call("memory_store_fact", {
      ...{ subject: "dns", predicate: "host", content: "route53", source_episode_id: said.id },
    });
    const rule = await g.call("memory_store_rule", { content: "Never mention the ROSEBUD plan" });
    await g.call("memory_search", { query: "where is dns" });
    await g.settled();
    await g.call("memory_forget", { type: "rule", id: rule.id });
    const { events } = await page(g, { changes: true });
    const told = events.map((e: Event) => [
      e.event_type,
      e.memory?.text,
      e.memory?.state,
      e.replaced?.text,
      e.sessions,
    ]);
    expect(told).toEqual([
      ["episode.stored", "DNS moved to route53", "active", undefined, ["s1"]],
      ["fact.stored", "dns host: cloudflare", "superseded", undefined, []],
      ["fact.superseded", "dns host: cloudflare", "superseded", undefined, []],
      ["fact.stored", "dns host: route53", "active", "dns host: cloudflare", ["s1"]],
      ["rule.stored", undefined, "retracted", undefined, []],
      ["rule.forgotten", undefined, "retracted", undefined, []],
    ]);
    expect(JSON.stringify(events)).not.toContain("ROSEBUD");
    expect(events[2]?.payload).toEqual({ from: "active", superseded_by: now.id });
    expect(events.find((e: Event) => e.entity_id === old.id)?.memory?.trust).toBe("user");
  });

  it("tells what one session said and what was learned from it, also when its episodes are gone", async () => {
    const g = guest();
    const said = await g.call("memory_store_episode", { content: "We use pnpm", session_id: "s1" });
    await g.call("memory_store_episode", { content: "We use npm", session_id: "s10" });
    const source = { source_episode_id: said.id };
    const fact = await g.call("memory_store_fact", { subject: "app", predicate: "uses", content: "pnpm", ...source });
    await g.call("memory_store_fact", { subject: "app", predicate: "runs on", content: "node" });
    const direct = await g.call("memory_store_rule", { content: "Ask before pushing" }, { session: "s1" });
    const idsOf = async (input: object) =>
      (await page(g, { changes: true, ...input })).events.map((e: Event) => e.entity_id);
    expect(await idsOf({ session_id: "s1" })).toEqual([said.id, fact.id, direct.id]);
    expect(await idsOf({ session_id: "s" })).toEqual([]);
    expect(await idsOf({ ids: [fact.id] })).toEqual([fact.id]);
    await g.db.query("update episodes set consolidation_status = 'consolidated' where id = $1", [said.id]);
    g.later(40);
    await runJob(g, episodeCleanup);
    expect(await g.row("episodes", said.id)).toBeUndefined();
    const { events } = await page(g, { changes: true, session_id: "s1" });
    const [first, ...more] = events;
    expect([first?.entity_id, first?.memory, first?.sessions]).toEqual([said.id, undefined, ["s1"]]);
    expect(more.find((e: Event) => e.entity_id === fact.id)).toMatchObject({
      memory: { text: "app uses: pnpm" },
      sessions: ["s1"],
    });
  });

  it("shows no memory of another tenant or project, by whichever id", async () => {
    const g = guest();
    const other = guest();
    const theirs = await other.call("memory_store_fact", { subject: "x", predicate: "y", content: "theirs" });
    const apart = await g.call("memory_store_rule", { content: "Only in app" }, { project: "app" });
    const said = { content: "said in app", session_id: "s1" };
    const episode = await g.call("memory_store_episode", said, { project: "app" });
    const ids = [theirs.id, apart.id, episode.id];
    for (const input of [{ ids }, { session_id: "s1" }, {}])
      expect((await g.call("memory_activity_stream", { changes: true, ...input }, { project: "web" })).events).toEqual(
        [],
      );
    const own = await g.call("memory_activity_stream", { changes: true, ids }, { project: "app" });
    expect(own.events.map((e: Event) => e.entity_id)).toEqual([apart.id, episode.id]);
  });
});
