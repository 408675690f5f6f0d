/** Reading a memory lets its vector be seen longer, and that is no new entry of the vector index: the row changes where it is. */
import { expect, it } from "vitest";
import { onEachStore, type Rig } from "../support/stores.ts";

const rowsOf = async ({ db }: Rig) =>
  new Map(
    (
      await db.query<{ id: string; page: number; seen: Date }>(
        `select memory_id as id, split_part(trim('()' from ctid::text), ',', 1)::int as page, visible_until as seen from embeddings`,
      )
    ).map(({ id, page, seen }) => [id, { page, seen: new Date(seen).getTime() }]),
  );

const PLANTS = "roses tulips beans figs lilies mint peas oaks ferns hops dill kale".split(" ");

onEachStore("the row of a vector", (open) => {
  it("stays on its page when its memory is read", async () => {
    const rig = await open({ settings: { eden: { ttl_hours: 240 } } });
    const plantOf = new Map<string, string>();
    for (const [n, plant] of PLANTS.entries()) {
      const content = `The ${plant} by the river need water ${n + 2} times a week.`;
      plantOf.set((await rig.call("memory_store_episode", { content })).id, plant);
    }
    const before = await rowsOf(rig);
    // One of each page: there is room for one, until nobody can see the row before it.
    const read = new Map([...before].map(([id, { page }]) => [page, id]));
    expect(read.size).toBeGreaterThan(1);
    rig.later(5);
    for (const id of read.values()) {
      const query = `How often do the ${plantOf.get(id)} by the river need water?`;
      const { results } = await rig.call("memory_search", { query, limit: 1 });
      expect(results).toMatchObject([{ id }]);
    }
    await rig.settled();
    const after = await rowsOf(rig);
    for (const [page, id] of read) {
      expect(after.get(id)?.seen).toBeGreaterThan(before.get(id)?.seen ?? 0);
      expect(after.get(id)?.page).toBe(page);
    }
  });
});
