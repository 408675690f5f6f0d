import { describe, expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const TABLES = ["episodes", "facts", "rules", "rule_applications", "memory_links", "memory_events"];
const sizes = (g: Guest) => Promise.all(TABLES.map((table) => g.count(table)));

const fact = { subject: "user", predicate: "name", content: "Ada" };
const prepared = async (g: Guest) => {
  const rule = await g.call("memory_store_rule", { content: "Be brief" });
  const live = await g.call("memory_store_fact", { subject: "user", predicate: "city", content: "Berlin" });
  const gone = await g.call("memory_store_fact", { subject: "user", predicate: "pet", content: "Cat" });
  await g.call("memory_forget", { id: gone.id });
  return { rule: rule.id as string, live: live.id as string, gone: gone.id as string };
};

const WRITES: readonly [string, (ids: Awaited<ReturnType<typeof prepared>>) => object][] = [
  ["memory_store_episode", () => ({ content: "It rained" })],
  ["memory_store_fact", () => fact],
  ["memory_store_rule", () => ({ content: "Be kind" })],
  ["memory_store", () => ({ content: "A note" })],
  ["memory_confirm", (ids) => ({ id: ids.live })],
  ["memory_mark_helpful", (ids) => ({ rule_id: ids.rule })],
  ["memory_mark_harmful", (ids) => ({ rule_id: ids.rule, reason: "too short" })],
  ["memory_forget", (ids) => ({ id: ids.live })],
  ["memory_restore", (ids) => ({ id: ids.gone })],
  ["memory_ingest_batch", () => ({ episodes: [{ content: "One" }, { content: "Two" }] })],
];

onOneRig("idempotency", (guest) => {
  describe.each(WRITES)("%s", (tool, inputOf) => {
    it("twice with one door key: one answer, one effect, events once", async () => {
      const g = guest();
      const input = inputOf(await prepared(g));
      const first = await g.call(tool, input, { idempotencyKey: "call:1" });
      const after = await sizes(g);
      g.later(0.5);
      expect(await g.call(tool, input, { idempotencyKey: "call:1" })).toEqual(first);
      expect(await sizes(g)).toEqual(after);
    });

    it("ten at once with one key have one effect", async () => {
      const g = guest();
      const input = inputOf(await prepared(g));
      const before = await sizes(g);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => g.call(tool, input, { idempotencyKey: "call:1" })),
      );
      expect(new Set(answers.map((a) => JSON.stringify(a))).size).toBe(1);
      const twin = guest();
      const same = inputOf(await prepared(twin));
      await twin.call(tool, same);
      expect(await sizes(g)).toEqual(await sizes(twin));
      expect(await sizes(g)).not.toEqual(before);
    });

    it("refuses the key for another input", async () => {
      const g = guest();
      const ids = await prepared(g);
      await g.call(tool, inputOf(ids), { idempotencyKey: "call:1" });
      const other = inputOf({ rule: ids.live, live: ids.rule, gone: ids.live });
      const changed = JSON.stringify(other) === JSON.stringify(inputOf(ids)) ? alter(other) : other;
      const after = await sizes(g);
      expect((await g.refused(tool, changed, { idempotencyKey: "call:1" })).code).toBe("conflict");
      expect(await sizes(g)).toEqual(after);
    });
  });

  it("says duplicate for an explicit key, which wins over the door's", async () => {
    const g = guest();
    const input = { content: "Keyed", idempotency_key: "mine" };
    const first = await g.call("memory_store_episode", input, { idempotencyKey: "call:1" });
    expect(first.duplicate).toBe(false);
    expect(await g.call("memory_store_episode", input, { idempotencyKey: "call:2" })).toEqual({
      ...first,
      duplicate: true,
    });
  });

  it("lineage is not part of what is asked for", async () => {
    const g = guest();
    const first = await g.call("memory_store_fact", { ...fact, idempotency_key: "k" });
    const again = { ...fact, idempotency_key: "k", request_context: { request_id: "r2" } };
    expect(await g.call("memory_store_fact", again)).toEqual({ ...first, request_id: "r2" });
  });

  it("a key belongs to its tenant and its tool", async () => {
    const [a, b] = [guest(), guest()];
    await a.call("memory_store_episode", { content: "Hello", idempotency_key: "k" });
    expect(await b.call("memory_store_episode", { content: "Other", idempotency_key: "k" })).toMatchObject({
      duplicate: false,
    });
    expect(await a.call("memory_store_rule", { content: "Rule", idempotency_key: "k" })).toMatchObject({
      duplicate_of: null,
    });
  });

  it("hears the first answer even when its source is gone by now", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_episode", { content: "The source" });
    const input = { ...fact, source_episode_id: id, idempotency_key: "k" };
    const first = await g.call("memory_store_fact", input);
    g.later(30);
    expect(await g.call("memory_store_fact", input)).toEqual(first);
  });

  it("a refused call keeps no answer", async () => {
    const g = guest();
    const missing = { id: "0198c0de-1234-7abc-8def-0123456789ab" };
    await g.refused("memory_confirm", missing, { idempotencyKey: "k" });
    expect(await g.count("idempotency_keys")).toBe(0);
  });
});

function alter(input: object): object {
  if ("episodes" in input) return { episodes: [{ content: "Three" }] };
  return { ...input, content: "Something else" };
}
