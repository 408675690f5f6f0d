import { expect, it } from "vitest";
import { onOneRig } from "../support/tenants.ts";

onOneRig("stats", (guest) => {
  it("of an empty memory are zeros, and the degraded note is absent", async () => {
    const g = guest();
    expect(await g.call("memory_stats", {})).toEqual({
      episodes: {
        total: 0,
        by_tier: { eden: 0, mid: 0, long: 0 },
        by_status: { pending: 0, consolidated: 0, failed: 0, dead_letter: 0 },
        backlog: 0,
        backlog_age_hours: 0,
        backlog_age_p95_hours: 0,
      },
      consolidation: { runs_done: 0, runs_failed: 0, cost_usd: 0, learned_after_p95_hours: null, failing: null },
      facts: {
        total: 0,
        by_state: { active: 0, fading: 0, superseded: 0, expired: 0, retracted: 0 },
        waiting: 0,
        confidence_histogram: Array(10).fill(0),
      },
      rules: {
        total: 0,
        by_maturity: { candidate: 0, established: 0, proven: 0, anti_pattern: 0 },
        effectiveness: null,
        applications: 0,
      },
      links: 0,
      events: 0,
      duplicate_rate: 0,
    });
  });

  it("count what is there, by tier, state, confidence and maturity", async () => {
    const g = guest();
    await g.call("memory_store_episode", { content: "one" });
    g.later(0.25);
    const { id: source } = await g.call("memory_store_episode", { content: "two" });
    await g.call("memory_store", { content: "three", tier: "long" });
    await g.db.query("update episodes set consolidation_status = 'consolidated' where id = $1", [source]);
    const fact = (predicate: string, content: string, extra = {}) =>
      g.call("memory_store_fact", { subject: "user", predicate, content, ...extra });
    await fact("a", "old", { source_episode_id: source });
    await fact("a", "new");
    await fact("b", "half", { confidence: 0.55 });
    await fact("c", "history", { valid_to: "2020-01-01" });
    const { id } = await fact("d", "gone");
    await g.call("memory_forget", { id });
    const rule = await g.call("memory_store_rule", { content: "be kind" });
    await g.call("memory_mark_helpful", { rule_id: rule.id });
    await g.call("memory_store_rule", { content: "be brief" });
    await g.call("memory_store_rule", { content: "Be brief!" });
    const events = await g.events();
    g.later(0.25);
    const stats = await g.call("memory_stats", {});
    expect(stats.episodes).toMatchObject({
      total: 3,
      by_tier: { eden: 2, mid: 0, long: 1 },
      by_status: { pending: 2, consolidated: 1 },
      backlog: 2,
    });
    expect(stats.episodes.backlog_age_hours).toBeCloseTo(12, 6);
    expect(stats.facts.total).toBe(2);
    expect(stats.facts.by_state).toEqual({ active: 2, fading: 0, superseded: 1, expired: 1, retracted: 1 });
    expect(stats.facts.confidence_histogram).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect(stats.rules).toMatchObject({ total: 2, by_maturity: { candidate: 2 }, applications: 1 });
    expect(stats.rules.effectiveness).toBeCloseTo(1 / 1.01, 10);
    expect(stats.links).toBe(2);
    expect(stats.events).toBe(events.length);
    expect(stats.duplicate_rate).toBeCloseTo(1 / 11, 10);
  });

  it("follow the decay of confidence", async () => {
    const g = guest();
    await g.call("memory_store_fact", { subject: "user", predicate: "mood", content: "Fine", permanence: "volatile" });
    g.later(30);
    const bucket = Math.floor(Math.exp(-0.9) * 10);
    expect((await g.call("memory_stats", {})).facts.confidence_histogram[bucket]).toBe(1);
  });

  it("of one scope leave the others out", async () => {
    const g = guest();
    await g.call("memory_store_fact", { subject: "user", predicate: "a", content: "x", scope: "general" });
    await g.call("memory_store_fact", { subject: "user", predicate: "a", content: "x", scope: "global" });
    expect((await g.call("memory_stats", {})).facts.total).toBe(2);
    expect((await g.call("memory_stats", { scope: "global" })).facts.total).toBe(1);
  });
});
