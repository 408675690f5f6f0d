import { expect, it } from "vitest";
import { onOneRig } from "../support/tenants.ts";

onOneRig("ingest", (guest) => {
  it("answers in order, and a bad row does not lose the others", async () => {
    const g = guest();
    const { results } = await g.call("memory_ingest_batch", {
      episodes: [
        { content: "first of the batch" },
        { content: "" },
        { content: "third of the batch", importance: 99 },
        { content: "fourth of the batch", butler: "somebody-else" },
        { content: "First of the batch." },
        "not even an object",
        { content: "last of the batch", colour: "red" },
        { content: "really the last" },
      ],
    });
    expect(results.map((r: { ok: boolean }) => r.ok)).toEqual([true, false, false, false, true, false, false, true]);
    expect(results[1].error).toMatchObject({ code: "invalid_input", field: "episodes.1.content" });
    expect(results[2].error.field).toBe("episodes.2.importance");
    expect(results[3].error).toMatchObject({ code: "forbidden", field: "episodes.3.butler" });
    expect(results[4]).toMatchObject({ id: results[0].id, duplicate: true });
    expect(results[6].error.field).toBe("episodes.6.colour");
    expect(await g.count("episodes")).toBe(2);
    const { results: found } = await g.call("memory_search", { query: "really the last", mode: "semantic", limit: 1 });
    expect(found[0].id).toBe(results[7].id);
  });

  it("keeps the order of a session", async () => {
    const g = guest();
    const episodes = Array.from({ length: 20 }, (_, n) => ({ content: `Turn ${n}`, session_id: "s" }));
    const { results } = await g.call("memory_ingest_batch", { episodes });
    const rows = await g.db.query<{ id: string }>("select id from episodes where tenant_id = $1 order by ordinal", [
      g.tenant,
    ]);
    expect(rows.map((r) => r.id)).toEqual(results.map((r: { id: string }) => r.id));
  });

  it("knows a row by its own key, whatever else is in the batch", async () => {
    const g = guest();
    const row = { content: "keyed row", idempotency_key: "k1" };
    const first = await g.call("memory_ingest_batch", { episodes: [row, { content: "other" }] });
    const second = await g.call("memory_ingest_batch", {
      episodes: [{ content: "new one" }, row, { ...row, content: "another content" }],
    });
    expect(second.results[1]).toMatchObject({ ok: true, id: first.results[0].id, duplicate: true });
    expect(second.results[2]).toMatchObject({ ok: false, error: { code: "conflict" } });
    expect(await g.count("episodes")).toBe(3);
  });

  it("tells two rows of one batch with the same key apart by their content", async () => {
    const g = guest();
    const { results } = await g.call("memory_ingest_batch", {
      episodes: [
        { content: "a", idempotency_key: "k" },
        { content: "a", idempotency_key: "k" },
        { content: "b", idempotency_key: "k" },
      ],
    });
    expect(results[1]).toMatchObject({ id: results[0].id, duplicate: true });
    expect(results[2].error.code).toBe("conflict");
  });

  it("shares its keys with memory_store_episode, in both directions", async () => {
    const g = guest();
    const single = { content: "told alone first", butler: "general", idempotency_key: "k1" };
    const alone = await g.call("memory_store_episode", single);
    const batch = await g.call("memory_ingest_batch", {
      episodes: [single, { content: "told in a batch first", idempotency_key: "k2" }],
    });
    expect(batch.results[0]).toMatchObject({ ok: true, id: alone.id, duplicate: true });
    const later = await g.call("memory_store_episode", { content: "told in a batch first", idempotency_key: "k2" });
    expect(later).toMatchObject({ id: batch.results[1].id, duplicate: true });
    expect(await g.count("episodes")).toBe(2);
  });

  it("a repeat of the whole call hears the same, refusals too", async () => {
    const g = guest();
    await g.call("memory_store_episode", { content: "taken", idempotency_key: "k" });
    const input = { episodes: [{ content: "fine" }, { content: "other", idempotency_key: "k" }, { content: "" }] };
    const first = await g.call("memory_ingest_batch", input, { idempotencyKey: "door-1" });
    const events = (await g.events()).length;
    const again = await g.call("memory_ingest_batch", input, { idempotencyKey: "door-1" });
    expect(first.results.map((r: { ok: boolean }) => r.ok)).toEqual([true, false, false]);
    expect(again).toEqual(first);
    expect(await g.events()).toHaveLength(events);
  });

  it("two overlapping batches at once store each episode once", async () => {
    const g = guest();
    const words = Array.from({ length: 30 }, (_, n) => ({ content: `Observation ${n}` }));
    await Promise.all([
      g.call("memory_ingest_batch", { episodes: words }),
      g.call("memory_ingest_batch", { episodes: words.toReversed() }),
    ]);
    expect(await g.count("episodes")).toBe(30);
  });
});
