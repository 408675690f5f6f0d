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

onEachStore("the row of a vector", (open) => {
  it("stays on its page when its memory is read", async () => {
    const rig = await open({ settings: { eden: { ttl_hours: 240 } } });
    const plants = [
      "roses",
      "tulips",
      "beans",
      "figs",
      "lilies",
      "mint",
      "peas",
      "oaks",
      "ferns",
      "hops",
      "dill",
      "kale",
    ];
    for (const [n, plant] of plants.entries())
      await rig.call("memory_store_episode", {
        content: `The ${plant} by the river need water ${n + 2} times a week.`,
      });
    const before = await rowsOf(rig);
    expect(new Set([...before.values()].map(({ page }) => page)).size).toBeGreaterThan(1);
    rig.later(5);
    for (const plant of plants) {
      await rig.call("memory_search", { query: `How often do the ${plant} need water?`, limit: 1 });
      await rig.settled();
    }
    const after = await rowsOf(rig);
    const moved = [...before].filter(([id, { seen }]) => (after.get(id)?.seen ?? 0) > seen);
    expect(moved.length).toBeGreaterThan(5);
    expect(moved.filter(([id, { page }]) => after.get(id)?.page !== page)).toEqual([]);
  });
});
