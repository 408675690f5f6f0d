/** What one butler of a tenant can count must not move when another one works. */
import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const as = (butler: string) => ({ as: { butler, admin: false } });

/** Everything with a number in it that a butler can ask for. */
async function counted(g: Guest, butler: string, id: string) {
  await g.settled();
  const { next_cursor, events } = await g.call("memory_activity_stream", {}, as(butler));
  const { links, history } = await g.call("memory_get", { id }, as(butler));
  // Looking is itself written down, after the answer.
  await g.settled();
  return { stats: await g.call("memory_stats", {}, as(butler)), next_cursor, events: events.length, links, history };
}

onOneRig(
  "apart",
  (guest) => {
    it("no number that a butler reads moves with what another one does", async () => {
      const g = guest();
      const said = (butler: string, content: string) => g.call("memory_store_episode", { content }, as(butler));
      const fact = (butler: string, content: string, source_episode_id: string) =>
        g.call(
          "memory_store_fact",
          { subject: "user", predicate: "desk", content, scope: butler, source_episode_id },
          as(butler),
        );
      const mine = await said("ada", "I sit at the window");
      const known = await fact("ada", "at the window", mine.id);
      await counted(g, "ada", known.id);
      const before = await counted(g, "ada", known.id);
      for (const content of ["at the door", "in the hall", "in the cellar"]) {
        const { id } = await said("bob", `I sit ${content}`);
        await fact("bob", content, id);
      }
      expect(
        (await counted(g, "bob", (await fact("bob", "on the roof", (await said("bob", "roof")).id)).id)).stats.links,
      ).toBeGreaterThan(3);
      const after = await counted(g, "ada", known.id);
      // Looking is itself written down, in the looker's own stream.
      expect(after.stats.links).toBe(before.stats.links);
      expect(after.links).toEqual(before.links);
      expect(after.stats).toEqual({ ...before.stats, events: after.stats.events });
      expect(after.stats.events - before.stats.events).toBe(after.events - before.events);
    });

    it("a cursor says nothing about how much happened in between", async () => {
      const g = guest();
      await g.call("memory_store_episode", { content: "one" }, as("ada"));
      const first = await g.call("memory_activity_stream", {}, as("ada"));
      for (let n = 0; n < 9; n++) await g.call("memory_store_episode", { content: `other ${n}` }, as("bob"));
      await g.call("memory_store_episode", { content: "two" }, as("ada"));
      const second = await g.call("memory_activity_stream", { cursor: first.next_cursor }, as("ada"));
      expect(second.events).toHaveLength(1);
      for (const page of [first, second]) {
        expect(page.next_cursor).toBe(`e${page.events.at(-1).id}`);
        expect(page.next_cursor).not.toMatch(/^e\d+$/);
      }
      // A number would be a question about the whole stream.
      expect((await g.refused("memory_activity_stream", { cursor: "e5" }, as("ada"))).code).toBe("invalid_input");
      const other = guest();
      expect((await other.refused("memory_activity_stream", { cursor: first.next_cursor }, as("ada"))).code).toBe(
        "invalid_input",
      );
    });

    it("the links of a shared memory show only what the viewer may see", async () => {
      const g = guest();
      const told = await g.call("memory_store_episode", { content: "The office moved to Pavia" }, as("bob"));
      const shared = await g.call(
        "memory_store_fact",
        { subject: "office", predicate: "place", content: "Pavia", scope: "global", source_episode_id: told.id },
        as("bob"),
      );
      const seen = async (who: object) => (await g.call("memory_get", { id: shared.id }, who)).links.outbound;
      expect(await seen(as("bob"))).toMatchObject([{ relation: "derived_from", id: told.id }]);
      expect(await seen({ as: { butler: "ada", admin: true } })).toHaveLength(1);
      expect(await seen(as("ada"))).toEqual([]);
      expect(
        (await g.call("memory_get", { id: shared.id, as_of: g.now.toISOString() }, as("ada"))).links.outbound,
      ).toEqual([]);
    });
  },
  { role: "memory" },
);
