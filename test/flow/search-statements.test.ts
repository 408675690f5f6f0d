/** What a search from memory asks the store for before it answers: nothing where the store is this process's own. */
import { expect, it } from "vitest";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import type { Embedder } from "../../src/engine/adapters/embedder/port.ts";
import { onEachStore, openRig } from "../support/stores.ts";

onEachStore("the statements of a search from memory", (open, store) => {
  const onServer = store.includes("PostgreSQL");

  it("are none but a server's question for changes, and the model has the question before that is answered", async () => {
    const order: string[] = [];
    const db = wrapDb((await open()).db, (inner) => ({
      query: async (text, params) => {
        order.push("sent");
        const rows = await inner.query(text, params);
        order.push("answered");
        return rows as never;
      },
    }));
    const rig = await openRig(db);
    await rig.call("memory_store_episode", { content: "The cat slept on the warm laptop" });
    const serving = rig.memory.versions.serving;
    await rig.memory.readModel.load(serving?.version, "default");
    const embedder = serving?.embedder as Embedder;
    const { embed } = embedder;
    // A project without a memory, and nothing that was stored for all: two scopes without shelves.
    const ask = () => rig.call("memory_search", { query: "where does the cat sleep" }, { project: "garden" });
    await ask();
    await rig.settled();
    order.length = 0;
    Object.assign(embedder, {
      embed: (...asked: Parameters<Embedder["embed"]>) => {
        order.push("embedded");
        return embed(...asked);
      },
    });
    try {
      const { results } = await ask();
      expect(results).toHaveLength(1);
    } finally {
      Object.assign(embedder, { embed });
    }
    expect(order.filter((word) => word === "sent")).toHaveLength(onServer ? 1 : 0);
    expect(order.slice(0, order.indexOf("embedded"))).not.toContain("answered");
    await rig.settled();
    await rig.memory.close();
  });
});
