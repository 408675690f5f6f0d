/**
 * What went wrong in an earlier implementation of this system, one test each. Those that belong to jobs are tested with
 * them: 4 (a decay sweep nobody called), 5 (consolidation without an extractor), 7 (consolidated though nothing was
 * parsed), 8 (a failing group retried for ever), 9 (consolidation remembering itself).
 */
import { describe, expect, inject, it } from "vitest";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { openOnnxEmbedder } from "../../src/engine/adapters/embedder/onnx.ts";
import { effectiveness } from "../../src/engine/domain/lifecycle/maturity.ts";
import { testModel } from "../support/model.ts";
import { freshDatabase } from "../support/postgres.ts";
import { onEachStore, openRig } from "../support/stores.ts";
import { onOneRig } from "../support/tenants.ts";

type Hit = { id: string; effective_confidence: number };

onOneRig("never again", (guest) => {
  it("1: retrieval ranks and gates by effective, not by stored confidence", async () => {
    const g = guest();
    const fact = (predicate: string, permanence: string) =>
      g.call("memory_store_fact", { subject: "user", predicate, content: "Plays chess on Sundays", permanence });
    const volatile = await fact("plan", "volatile");
    const permanent = await fact("habit", "permanent");
    const search = async () =>
      (await g.call("memory_search", { query: "chess on Sundays", rank: "composite" })).results as Hit[];
    g.later(40);
    const hits = await search();
    expect(hits.map((h) => h.id)).toEqual([permanent.id, volatile.id]);
    expect(hits[1]?.effective_confidence).toBeCloseTo(Math.exp(-1.2), 10);
    // exp(-0.03 · days) meets 0.2 after 53.6 days; the stored confidence is still 1.
    g.later(14);
    expect((await search()).map((h) => h.id)).toEqual([permanent.id]);
    expect((await g.row("facts", volatile.id))?.confidence).toBe(1);
  });

  it("2: a new rule is recalled at once, because its anchor is its birth", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_rule", { content: "Quote prices in euros" });
    expect((await g.row("rules", id))?.last_confirmed_at).toEqual(g.now);
    expect((await g.call("memory_recall", { topic: "prices" })).results).toMatchObject([{ id }]);
    expect((await g.call("memory_context", { trigger_prompt: "quote a price" })).text).toContain("euros");
  });

  it("3: harmful marks alone turn a rule into a warning", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_rule", { content: "Quote prices in dollars" });
    for (let n = 0; n < 3; n++) await g.call("memory_mark_harmful", { rule_id: id, reason: "wrong currency" });
    const { results } = await g.call("memory_recall", { topic: "prices in dollars" });
    expect(results).toMatchObject([{ id, warning: true, maturity: "anti_pattern" }]);
  });

  it("6: a butler's own fact leaves the global one alone", async () => {
    const g = guest();
    const fact = { subject: "office", predicate: "opens at", content: "nine" };
    const everyone = await g.call("memory_store_fact", fact);
    const own = await g.call("memory_store_fact", { ...fact, content: "ten", scope: "general" });
    expect(own).toMatchObject({ status: "created", superseded_id: null });
    expect((await g.call("memory_get", { id: everyone.id })).memory.state).toBe("active");
  });

  it("11: provenance is there from the answer down to the link and the event", async () => {
    const g = guest();
    const { id: source } = await g.call("memory_store_episode", { content: "He said it" });
    for (const [tool, input] of [
      ["memory_store_fact", { subject: "a", predicate: "b", content: "c" }],
      ["memory_store_rule", { content: "d" }],
    ] as const) {
      const { id } = await g.call(tool, { ...input, source_episode_id: source });
      const { memory, links } = await g.call("memory_get", { id });
      expect(memory).toMatchObject({
        source_episode_id: source,
        source: `episode:${source}`,
        source_butler: "general",
      });
      expect(links.outbound).toContainEqual(
        expect.objectContaining({ relation: "derived_from", type: "episode", id: source }),
      );
      const rows = await g.db.query(
        "select target_id from memory_links where source_id = $1 and relation = 'derived_from'",
        [id],
      );
      expect(rows).toEqual([{ target_id: source }]);
    }
  });

  it("12: a NUL is refused by name, and metadata comes back as it went in", async () => {
    const g = guest();
    const metadata = {
      text: '{"a":1}',
      twice: JSON.stringify(JSON.stringify({ b: "\\u0000" })),
      quote: '"',
      back: "\\",
      list: ["1", 1, null, true],
    };
    const { id } = await g.call("memory_store_episode", { content: 'He said "{\\"json\\": true}"', metadata });
    expect((await g.call("memory_get", { id })).memory.metadata).toEqual(metadata);
    for (const bad of [
      { content: "a\0b" },
      { content: "x", metadata: { k: "a\0b" } },
      { content: "x", metadata: { "a\0b": 1 } },
      { content: "x", tags: ["a\0b"] },
      { content: "x", speaker: "a\0b" },
      { content: "x", session_id: "a\0b" },
      { content: "x", idempotency_key: "a\0b" },
      { content: "x", request_context: { request_id: "a\0b" } },
    ])
      expect(await g.refused("memory_store_episode", bad), JSON.stringify(bad)).toMatchObject({
        code: "invalid_input",
      });
    const batch = { episodes: [{ content: "a\0b" }, { content: "fine" }] };
    const { results } = await g.call("memory_ingest_batch", batch);
    expect(results.map((r: { ok: boolean }) => r.ok)).toEqual([false, true]);
  });

  it("14: a forgotten rule is neither listed nor counted", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_rule", { content: "Never mind the budget" });
    await g.call("memory_forget", { id });
    for (const mode of ["keyword", "semantic", "hybrid"])
      expect((await g.call("memory_search", { query: "never mind the budget", mode })).results).toEqual([]);
    const { rules } = await g.call("memory_stats", {});
    expect(rules).toMatchObject({ total: 0, by_maturity: { candidate: 0 } });
  });

  it("15: a helpful mark does not erase what harm weighs", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_rule", { content: "Answer within a minute" });
    let tally = { success: 0, harmful: 0 };
    for (const outcome of ["helpful", "harmful", "helpful", "helpful", "harmful", "helpful"] as const) {
      const answer = await g.call(`memory_mark_${outcome}`, { rule_id: id });
      tally =
        outcome === "helpful" ? { ...tally, success: tally.success + 1 } : { ...tally, harmful: tally.harmful + 1 };
      expect(answer.effectiveness).toBe(effectiveness(tally));
      expect((await g.row("rules", id))?.effectiveness_score).toBe(effectiveness(tally));
    }
  });

  it("16: an expired episode is not found, though nobody has cleaned up", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_episode", { content: "The lift is out of order" });
    g.later(7.001);
    for (const mode of ["keyword", "semantic", "hybrid"])
      expect((await g.call("memory_search", { query: "lift out of order", mode, min_confidence: 0 })).results).toEqual(
        [],
      );
    expect((await g.refused("memory_get", { id })).code).toBe("not_found");
    expect(await g.count("episodes")).toBe(1);
  });

  it("18: one person is one subject, however it is written", async () => {
    const g = guest();
    const ids = new Set<string>();
    for (const subject of ["user", "User", " USER ", "user\u200b", "ｕｓｅｒ"])
      ids.add((await g.call("memory_store_fact", { subject, predicate: "shoe size", content: "42" })).id);
    for (const predicate of ["Shoe_Size", "shoe-size", "SHOE  SIZE"])
      ids.add((await g.call("memory_store_fact", { subject: "user", predicate, content: "42" })).id);
    expect(ids.size).toBe(1);
    // Another word is another subject; that `owner` means `user` is for whoever extracts facts to know.
    const owner = await g.call("memory_store_fact", { subject: "the_owner", predicate: "shoe size", content: "42" });
    expect(owner).toMatchObject({ status: "created", subject: "the owner" });
  });
});

onEachStore("never again", (open) => {
  it("10: two memories in one process never share", async () => {
    const [left, right] = [await open({ butler: "left" }), await open({ butler: "right" })];
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        Promise.all([
          left.call("memory_store_fact", { subject: "left", predicate: `p${n}`, content: "left only" }),
          right.call("memory_store_fact", { subject: "right", predicate: `p${n}`, content: "right only" }),
        ]),
      ),
    );
    for (const [rig, own] of [
      [left, "left"],
      [right, "right"],
    ] as const) {
      expect(await rig.db.query("select distinct subject, source_butler from facts")).toEqual([
        { subject: own, source_butler: own },
      ]);
      const { results } = await rig.call("memory_search", { query: "left right only", limit: 50 });
      expect(new Set(results.map((r: { subject: string }) => r.subject))).toEqual(new Set([own]));
      expect((await rig.call("memory_stats", {})).facts.total).toBe(8);
    }
  });

  it("17: a dead store is unavailable, never zeros", async () => {
    const rig = await open();
    await rig.call("memory_store_fact", { subject: "a", predicate: "b", content: "c" });
    await rig.db.close();
    for (const [tool, input] of [
      ["memory_stats", {}],
      ["memory_search", { query: "c" }],
      ["memory_context", { trigger_prompt: "c" }],
      ["memory_activity_stream", {}],
      ["memory_store_episode", { content: "x" }],
    ] as const)
      expect((await rig.refused(tool, input)).code, tool).toBe("unavailable");
  });
});

describe.skipIf(inject("postgresUrl") === undefined)("never again on a server that goes away", () => {
  it("17: the answer says so", async () => {
    const database = await freshDatabase(inject("postgresUrl") ?? "");
    const db = await openPostgres({ url: database.url });
    const rig = await openRig(db, { model: false });
    await rig.call("memory_store_fact", { subject: "a", predicate: "b", content: "c" });
    await database.drop();
    for (let n = 0; n < 3; n++) {
      const refusal = await rig.refused("memory_stats", {});
      expect(refusal.code).toBe("unavailable");
      expect(refusal.message).not.toMatch(/stack|password/i);
    }
    await rig.memory.close();
  });
});

describe("never again on the event loop", () => {
  it("13: it turns while the model loads for the first call", async () => {
    let turns = 0;
    let counting = true;
    const turn = () => {
      turns++;
      if (counting) setImmediate(turn);
    };
    setImmediate(turn);
    const embedder = await openOnnxEmbedder(await testModel());
    await embedder.embed("the first text of all", "query");
    counting = false;
    await embedder.close();
    // Loading takes a few hundred milliseconds of work. Done on this thread, it would leave a handful of turns.
    expect(turns).toBeGreaterThan(200);
  });
});
