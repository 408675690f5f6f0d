/** The same question to several butlers, one of which does not answer. */
import { expect, it } from "vitest";
import type { Backend } from "../../../src/doors/backend.ts";
import { callTool } from "../../../src/engine/tools/call.ts";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore } from "../../support/stores.ts";

onEachStore("all butlers at once", (open) => {
  async function fleet() {
    const rigs = { general: await open({ model: false }), health: await open({ model: false, butler: "health" }) };
    const butlers = ["general", "health", "down"].map((name) => ({ name, role: "butler" as const, description: "" }));
    const backend: Partial<Backend> = {
      butlers: async () => butlers,
      health: async () => ({
        ok: false,
        version: "1",
        model: "",
        butlers: butlers.map(({ name }) =>
          name === "down" ? { name, store: "unknown", reason: "The disk is gone." } : { name, store: "open" },
        ),
      }),
      invoke: async (principal, name, request) =>
        name === "down"
          ? { ok: false, error: { code: "unavailable", message: "The disk is gone." } }
          : callTool(rigs[name as keyof typeof rigs].memory, principal, request),
    };
    return { ...rigs, api: apiOver(rigs.general, {}, backend) };
  }

  it("who does not answer is named with the reason, and its numbers are no zeros", async () => {
    const { general, health, api } = await fleet();
    await general.call("memory_store_fact", { subject: "tea", predicate: "kind", content: "green tea" });
    await health.call("memory_store_fact", { subject: "tea", predicate: "cups", content: "two cups of tea" });
    const stats = await api.get("/api/memory/stats");
    expect(stats).toMatchObject({ partial: true, facts: 2, rules: 0 });
    expect(stats.butlers).toMatchObject([
      { name: "general", ok: true },
      { name: "health", ok: true },
      { name: "down", ok: false, reason: "The disk is gone." },
    ]);
    const today = await api.get("/api/memory/today");
    expect(today).toMatchObject({ partial: true, learned: { facts: 2 }, day: "2026-03-01" });
    expect(today.items.map(({ of }: { of: string }) => of).toSorted()).toEqual(["general", "health"]);
    expect(today.days.at(-1)).toMatchObject({ learned: 2 });
    const found = await api.get("/api/memory/search?q=tea");
    expect(found.results.map(({ of }: { of: string }) => of).toSorted()).toEqual(["general", "health"]);
    expect(found.silent).toEqual([{ name: "down", reason: "The disk is gone." }]);
    expect(await api.get("/api/memory/health")).toMatchObject({
      ok: false,
      butlers: [
        {},
        {},
        { name: "down", answer: { ok: false, store: "unknown", waiting: null, reason: "The disk is gone." } },
      ],
    });
  });

  it("activity of all goes on page by page, each event once", async () => {
    const { general, health, api } = await fleet();
    for (let n = 0; n < 4; n++) {
      general.set(`2026-03-01T12:0${n}:00Z`);
      health.set(`2026-03-01T12:0${n}:30Z`);
      await general.call("memory_store_fact", { subject: "g", predicate: `p${n}`, content: "v" });
      await health.call("memory_store_fact", { subject: "h", predicate: `p${n}`, content: "v" });
    }
    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; page < 9; page++) {
      const answer = await api.get(`/api/memory/activity?limit=3${cursor}`);
      seen.push(...answer.events.map((event: { memory: { text: string } }) => event.memory.text));
      if (answer.next_cursor === null) break;
      cursor = `&cursor=${answer.next_cursor}`;
    }
    expect(seen).toEqual([3, 2, 1, 0].flatMap((n) => [`h p${n}: v`, `g p${n}: v`]));
    expect((await api.refused("/api/memory/activity?cursor=forged")).status).toBe(400);
  });

  it("a token of one butler hears of no other, and a stranger of nothing", async () => {
    const { general, health, api } = await fleet();
    await general.call("memory_store_fact", { subject: "tea", predicate: "kind", content: "green tea" });
    await health.call("memory_store_fact", { subject: "tea", predicate: "cups", content: "two" });
    const stats = await api.get("/api/memory/stats", { as: "agent" });
    expect(stats).toMatchObject({ partial: false, facts: 1, butlers: [{ name: "general" }] });
    expect((await api.get("/api/memory/search?q=tea", { as: "stranger" })).results).toEqual([]);
    expect((await api.refused("/api/memory/stats", { as: "" })).status).toBe(401);
    expect(await api.refused("/api/memory/search?colour=red")).toMatchObject({ status: 400, field: "colour" });
  });
});
