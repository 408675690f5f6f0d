import { describe, expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const make = {
  episode: (g: Guest) => g.call("memory_store_episode", { content: "A walk along the river" }),
  fact: (g: Guest) => g.call("memory_store_fact", { subject: "river", predicate: "name", content: "Spree" }),
  rule: (g: Guest) => g.call("memory_store_rule", { content: "Walk along the river daily" }),
};
const TABLE = { episode: "episodes", fact: "facts", rule: "rules" } as const;
const types = ["episode", "fact", "rule"] as const;

onOneRig("forget and restore", (guest) => {
  describe.each(types)("%s", (type) => {
    it("needs no type, tells the stream why, and says the same twice", async () => {
      const g = guest();
      const { id } = await make[type](g);
      const forgotten = await g.call("memory_forget", { id, reason: "no longer wanted" });
      expect(forgotten).toEqual({ type, id, state: "retracted", recoverable: true });
      expect(await g.call("memory_forget", { id, type })).toEqual(forgotten);
      const told = (await g.events()).filter((e) => e.event_type === `${type}.forgotten`);
      expect(told).toHaveLength(1);
      expect(told[0]?.payload).toMatchObject({
        from: "active",
        set: { validity: "retracted", forget_reason: "no longer wanted" },
      });
      expect((await g.call("memory_context", { trigger_prompt: "river" })).text).toBe("");
    });

    it("comes back once, and asking again changes nothing", async () => {
      const g = guest();
      const { id } = await make[type](g);
      await g.call("memory_forget", { id });
      g.later(1);
      expect(await g.call("memory_restore", { id })).toEqual({ type, id, state: "active" });
      expect(await g.call("memory_restore", { id })).toEqual({ type, id, state: "active" });
      expect((await g.events()).filter((e) => e.event_type === `${type}.restored`)).toHaveLength(1);
      expect(await g.row(TABLE[type], id)).toMatchObject({
        validity: "active",
        forgotten_at: null,
        forget_reason: null,
      });
      expect((await g.call("memory_search", { query: "river" })).results).toMatchObject([{ id }]);
    });

    it("ten at once are told once", async () => {
      const g = guest();
      const { id } = await make[type](g);
      await Promise.all(Array.from({ length: 10 }, () => g.call("memory_forget", { id })));
      expect((await g.events()).filter((e) => e.event_type === `${type}.forgotten`)).toHaveLength(1);
      await Promise.all(Array.from({ length: 10 }, () => g.call("memory_restore", { id })));
      expect((await g.events()).filter((e) => e.event_type === `${type}.restored`)).toHaveLength(1);
    });

    it("is not found under another type's name", async () => {
      const g = guest();
      const { id } = await make[type](g);
      const wrong = type === "fact" ? "rule" : "fact";
      expect((await g.refused("memory_forget", { id, type: wrong })).code).toBe("not_found");
      expect((await g.refused("memory_get", { id, type: wrong })).code).toBe("not_found");
      expect((await g.call("memory_get", { id: id.toUpperCase(), type })).memory.id).toBe(id);
    });
  });

  it("a memory too faint to be found is restored with a new anchor", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", {
      subject: "user",
      predicate: "mood",
      content: "Sunny",
      permanence: "ephemeral",
    });
    await g.call("memory_forget", { id });
    g.later(60);
    await g.call("memory_restore", { id });
    expect((await g.call("memory_search", { query: "mood sunny", mode: "semantic" })).results).toMatchObject([
      { id, effective_confidence: 1 },
    ]);
  });

  it("refuses what is no id", async () => {
    const g = guest();
    expect(await g.refused("memory_forget", { id: "42" })).toMatchObject({ code: "invalid_input", field: "id" });
    expect((await g.refused("memory_restore", { id: "0198c0de-1234-7abc-8def-0123456789ab" })).code).toBe("not_found");
  });

  it("episodes are not confirmed", async () => {
    const g = guest();
    const { id } = await make.episode(g);
    expect((await g.refused("memory_confirm", { id })).code).toBe("invalid_input");
  });
});
