import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const START_DAY = new Date("2026-03-01T12:00:00.000Z");
const counted = async (g: Guest, table: "episodes" | "facts" | "rules", id: string) => {
  await g.settled();
  const { reference_count, last_referenced_at, prior_referenced_at } = (await g.row(table, id)) ?? {};
  return { reference_count, last_referenced_at, prior_referenced_at };
};

onOneRig("references", (guest) => {
  it("search, recall, get and context each count once, after the answer", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", {
      subject: "user",
      predicate: "pet",
      content: "A cat called Turing",
    });
    expect(await counted(g, "facts", id)).toEqual({
      reference_count: 0,
      last_referenced_at: null,
      prior_referenced_at: null,
    });
    const reads: [string, object][] = [
      ["memory_search", { query: "Turing" }],
      ["memory_recall", { topic: "Turing" }],
      ["memory_get", { id }],
      ["memory_context", { trigger_prompt: "Turing" }],
    ];
    for (const [index, [tool, input]] of reads.entries()) {
      g.later(0.01);
      await g.call(tool, input);
      expect(await counted(g, "facts", id)).toMatchObject({ reference_count: index + 1, last_referenced_at: g.now });
    }
    const told = (await g.events()).filter((e) => e.event_type === "memory.referenced");
    expect(told).toHaveLength(4);
    for (const e of told) expect(e.payload).toEqual({ references: [{ id, type: "fact" }] });
  });

  it("counts all types, and only what the answer holds", async () => {
    const g = guest();
    const episode = await g.call("memory_store_episode", { content: "Tea at four" });
    const rule = await g.call("memory_store_rule", { content: "Offer tea at four" });
    const other = await g.call("memory_store_fact", { subject: "bank", predicate: "name", content: "Sparkasse" });
    await g.call("memory_search", { query: "tea at four", mode: "keyword" });
    expect((await counted(g, "episodes", episode.id)).reference_count).toBe(1);
    expect((await counted(g, "rules", rule.id)).reference_count).toBe(1);
    expect((await counted(g, "facts", other.id)).reference_count).toBe(0);
    await g.call("memory_search", { query: "nothing matches this", mode: "keyword" });
    await g.settled();
    expect((await g.events()).filter((e) => e.event_type === "memory.referenced")).toHaveLength(1);
  });

  it("remembers the last reading of an earlier day", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { subject: "user", predicate: "pet", content: "Cat" });
    const read = async () => {
      await g.call("memory_get", { id });
      return counted(g, "facts", id);
    };
    expect(await read()).toMatchObject({ last_referenced_at: START_DAY, prior_referenced_at: null });
    g.set("2026-03-01T23:59:59Z");
    expect(await read()).toMatchObject({ last_referenced_at: g.now, prior_referenced_at: null });
    const evening = g.now;
    g.set("2026-03-02T00:00:01Z");
    expect(await read()).toMatchObject({ last_referenced_at: g.now, prior_referenced_at: evening });
    g.set("2026-03-02T08:00:00Z");
    expect(await read()).toMatchObject({ reference_count: 4, last_referenced_at: g.now, prior_referenced_at: evening });
  });

  it("looking at a forgotten memory does not count", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { subject: "user", predicate: "pet", content: "Cat" });
    await g.call("memory_forget", { id });
    await g.call("memory_get", { id });
    expect((await counted(g, "facts", id)).reference_count).toBe(0);
  });

  it("many readers at once lose no count", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { subject: "user", predicate: "pet", content: "Cat" });
    await Promise.all(Array.from({ length: 12 }, () => g.call("memory_search", { query: "cat" })));
    expect((await counted(g, "facts", id)).reference_count).toBe(12);
  });

  it("lineage of a read stands on its event", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { subject: "user", predicate: "pet", content: "Cat" });
    const answer = await g.call("memory_get", { id, request_context: { request_id: "r1", segment_id: "s1" } });
    expect(answer.request_id).toBe("r1");
    await g.settled();
    expect((await g.events()).at(-1)).toMatchObject({
      event_type: "memory.referenced",
      request_id: "r1",
      segment_id: "s1",
    });
  });
});
