import { expect, it } from "vitest";
import { effectiveness } from "../../src/engine/domain/lifecycle/maturity.ts";
import { onEachStore, openRig } from "../support/stores.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const rule = (g: Guest, content = "Always run the tests before a release") =>
  g.call("memory_store_rule", { content }).then((answer) => answer.id as string);
const help = async (g: Guest, rule_id: string, times: number) => {
  let answer: Record<string, unknown> = {};
  for (let n = 0; n < times; n++) answer = await g.call("memory_mark_helpful", { rule_id });
  return answer;
};
const harm = (g: Guest, rule_id: string, reason?: string) =>
  g.call("memory_mark_harmful", { rule_id, ...(reason === undefined ? {} : { reason }) });
const found = async (g: Guest, query: string, extra = {}) =>
  (await g.call("memory_search", { query, types: ["rule"], ...extra })).results;

onOneRig("rules", (guest) => {
  it("starts as a candidate with half confidence and is recalled at once", async () => {
    const g = guest();
    const stored = await g.call("memory_store_rule", {
      content: "Always run the tests before a release",
      tags: ["ci", "ci"],
    });
    expect(stored).toMatchObject({ maturity: "candidate", duplicate_of: null, scope: "global" });
    const { results } = await g.call("memory_recall", { topic: "releasing" });
    expect(results).toMatchObject([
      { type: "rule", id: stored.id, effective_confidence: 0.5, maturity: "candidate", warning: false, tags: ["ci"] },
    ]);
  });

  it("says the same only once per scope, and telling it again keeps it from fading", async () => {
    const g = guest();
    const id = await rule(g);
    g.later(100);
    const again = await g.call("memory_store_rule", { content: "always run the tests  before a release." });
    expect(again).toMatchObject({ id, duplicate_of: id });
    expect(await g.row("rules", id)).toMatchObject({ last_confirmed_at: g.now });
    const own = await g.call("memory_store_rule", {
      content: "Always run the tests before a release",
      scope: "general",
    });
    expect(own.duplicate_of).toBeNull();
    g.later(60);
    expect(
      (await found(g, "run tests before release", { mode: "semantic" })).map((r: { id: string }) => r.id),
    ).toContain(id);
  });

  it("ten at once with the same words are one rule", async () => {
    const g = guest();
    const ids = await Promise.all(Array.from({ length: 10 }, () => rule(g)));
    expect(new Set(ids).size).toBe(1);
    expect(await g.count("rules")).toBe(1);
  });

  it("counts marks as rows, and the counters are those rows", async () => {
    const g = guest();
    const id = await rule(g);
    await g.call("memory_mark_helpful", { rule_id: id, note: "caught a bug", session_id: "s1" });
    await g.call("memory_mark_harmful", { rule_id: id, reason: "cost an hour", session_id: "s2" });
    const answer = await g.call("memory_mark_helpful", { rule_id: id, session_id: "s3" });
    expect(answer).toMatchObject({ applied_count: 3, success_count: 2, harmful_count: 1, counted: true });
    expect(answer.effectiveness).toBeCloseTo(2 / 6.01, 12);
    const rows = await g.db.query(
      "select outcome, note, session_id, actor from rule_applications where rule_id = $1 order by id",
      [id],
    );
    expect(rows).toEqual([
      { outcome: "helpful", note: "caught a bug", session_id: "s1", actor: "test" },
      { outcome: "harmful", note: "cost an hour", session_id: "s2", actor: "test" },
      { outcome: "helpful", note: null, session_id: "s3", actor: "test" },
    ]);
    expect(await g.row("rules", id)).toMatchObject({
      last_applied_at: g.now,
      last_evaluated_at: g.now,
      applied_count: 3,
    });
  });

  it("counts a session once per outcome, and unnamed marks each time", async () => {
    const g = guest();
    const id = await rule(g);
    const twice = [1, 2].map(() => g.call("memory_mark_helpful", { rule_id: id, session_id: "s" }));
    expect((await Promise.all(twice)).map((a) => a.counted).toSorted()).toEqual([false, true]);
    expect(await g.call("memory_mark_harmful", { rule_id: id, session_id: "s" })).toMatchObject({ counted: true });
    expect(await help(g, id, 2)).toMatchObject({ success_count: 3, harmful_count: 1 });
    expect((await g.events()).filter((e) => e.event_type === "rule.marked_helpful")).toHaveLength(3);
  });

  it("keeps every mark of a session as a row with its note, counted or not", async () => {
    const g = guest();
    const id = await rule(g);
    for (const note of ["once", "twice", "thrice"])
      await g.call("memory_mark_helpful", { rule_id: id, session_id: "s", note });
    const rows = await g.db.query(
      "select note, counted, session_id from rule_applications where rule_id = $1 order by id",
      [id],
    );
    expect(rows).toEqual([
      { note: "once", counted: true, session_id: "s" },
      { note: "twice", counted: false, session_id: "s" },
      { note: "thrice", counted: false, session_id: "s" },
    ]);
    expect(await g.row("rules", id)).toMatchObject({ success_count: 1, applied_count: 1 });
    const told = (await g.events()).filter((e) => e.event_type === "rule.marked_again");
    expect(told.map((e) => (e.payload.application as { note: string }).note)).toEqual(["twice", "thrice"]);
  });

  it("ten marks at once are ten", async () => {
    const g = guest();
    const id = await rule(g);
    await Promise.all(Array.from({ length: 10 }, () => g.call("memory_mark_helpful", { rule_id: id })));
    expect(await g.row("rules", id)).toMatchObject({ success_count: 10, applied_count: 10, maturity: "established" });
  });

  it("is established at five, proven at fifteen and thirty days, and demoted by harm", async () => {
    const g = guest();
    const id = await rule(g);
    expect(await help(g, id, 4)).toMatchObject({ maturity: "candidate" });
    expect(await help(g, id, 1)).toMatchObject({ maturity: "established", previous_maturity: "candidate" });
    expect(await help(g, id, 15)).toMatchObject({ success_count: 20, maturity: "established" });
    g.later(29.9);
    expect(await help(g, id, 1)).toMatchObject({ maturity: "established" });
    g.later(0.2);
    expect(await help(g, id, 1)).toMatchObject({ maturity: "proven", previous_maturity: "established" });
    expect(await harm(g, id)).toMatchObject({ maturity: "proven", harmful_count: 1 });
    expect(await harm(g, id)).toMatchObject({ maturity: "established", previous_maturity: "proven" });
    expect(await harm(g, id)).toMatchObject({ maturity: "established" });
    expect(await harm(g, id)).toMatchObject({ maturity: "candidate", inverted: false });
    const moves = (await g.events()).filter((e) => ["rule.promoted", "rule.demoted"].includes(e.event_type));
    expect(moves.map((e) => e.payload.to)).toEqual(["established", "proven", "established", "candidate"]);
  });

  it("turns into a warning at the third harm, with the reasons, and keeps the original", async () => {
    const g = guest();
    const content = "Deploy on Friday afternoon";
    const id = await rule(g, content);
    const [before] = await g.db.query("select embedding::text as v from embeddings where memory_id = $1", [id]);
    await harm(g, id, "nobody was there to fix it");
    expect(await harm(g, id, "the site was down all weekend")).toMatchObject({
      maturity: "candidate",
      inverted: false,
    });
    const last = await harm(g, id, "nobody was there to fix it");
    const warning =
      "Avoid: Deploy on Friday afternoon (because: nobody was there to fix it; the site was down all weekend)";
    expect(last).toMatchObject({ maturity: "anti_pattern", inverted: true, content: warning, harmful_count: 3 });
    expect(await g.row("rules", id)).toMatchObject({ content: warning, original_content: content, confidence: 1 });
    const after = await g.db.query("select embedding::text as v from embeddings where memory_id = $1", [id]);
    expect(after).toHaveLength(1);
    expect(after[0]).not.toEqual(before);
    for (const mode of ["keyword", "semantic", "hybrid"])
      expect(await found(g, "site down on the weekend", { mode })).toMatchObject([
        { id, warning: true, content: warning },
      ]);
    expect((await g.events()).map((e) => e.event_type)).toContain("rule.inverted");
    expect(await help(g, id, 6)).toMatchObject({ maturity: "anti_pattern", content: warning });
    expect(await g.call("memory_store_rule", { content })).toMatchObject({
      id,
      maturity: "anti_pattern",
      duplicate_of: id,
    });
  });

  it("has one formula, whichever mark came last", async () => {
    const g = guest();
    const [a, b] = [await rule(g, "Prefer tabs"), await rule(g, "Prefer spaces")];
    await help(g, a, 3);
    const first = await harm(g, a);
    await harm(g, b);
    const second = await help(g, b, 3);
    expect(first.effectiveness).toBe(second.effectiveness);
    expect(first.effectiveness).toBe(effectiveness({ success: 3, harmful: 1 }));
  });

  it("a helpful mark moves the anchor, a harmful one does not", async () => {
    const g = guest();
    const id = await rule(g);
    g.later(10);
    await harm(g, id);
    expect((await g.row("rules", id))?.last_confirmed_at).not.toEqual(g.now);
    await g.db.query("update rules set validity = 'fading' where id = $1", [id]);
    await help(g, id, 1);
    expect(await g.row("rules", id)).toMatchObject({ last_confirmed_at: g.now, validity: "active" });
  });

  it("a forgotten rule is not listed, counted or marked, and comes back whole", async () => {
    const g = guest();
    const id = await rule(g);
    await help(g, id, 1);
    await g.call("memory_forget", { type: "rule", id, reason: "outdated" });
    expect(await found(g, "run tests before release")).toEqual([]);
    expect((await g.call("memory_stats", {})).rules).toMatchObject({ total: 0, applications: 0, effectiveness: null });
    expect((await g.refused("memory_mark_helpful", { rule_id: id })).code).toBe("integrity");
    expect((await g.call("memory_get", { id })).memory).toMatchObject({
      state: "retracted",
      forget_reason: "outdated",
    });
    expect(await g.call("memory_restore", { id })).toMatchObject({ state: "active" });
    expect((await g.call("memory_stats", {})).rules).toMatchObject({ total: 1, applications: 1 });
    for (const mode of ["keyword", "semantic"])
      expect(await found(g, "run tests before release", { mode })).toMatchObject([{ id }]);
  });

  it("a forgotten rule told again is a new one, and then the old one stays away", async () => {
    const g = guest();
    const old = await rule(g);
    await g.call("memory_forget", { id: old });
    const fresh = await rule(g);
    expect(fresh).not.toBe(old);
    expect((await g.refused("memory_restore", { id: old })).code).toBe("conflict");
  });

  it("marks of unknown rules and of other things are not found", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_episode", { content: "no rule" });
    expect((await g.refused("memory_mark_helpful", { rule_id: id })).code).toBe("not_found");
  });
});

onEachStore("rules across a restart", (open) => {
  it("inverts and restores in a process that has not seen the scope yet", async () => {
    const rig = await open();
    const { id } = await rig.call("memory_store_rule", { content: "Force push to main" });
    const fact = await rig.call("memory_store_fact", { subject: "user", predicate: "name", content: "Ada" });
    await rig.call("memory_forget", { id: fact.id });
    const second = await openRig(rig.db);
    for (let n = 0; n < 3; n++) await second.call("memory_mark_harmful", { rule_id: id });
    expect((await second.call("memory_get", { id })).memory).toMatchObject({ maturity: "anti_pattern" });
    const third = await openRig(rig.db);
    expect(await third.call("memory_restore", { id: fact.id })).toMatchObject({ state: "active" });
  });

  it("an inversion without a model leaves no vector of the old words", async () => {
    const rig = await open();
    const { id } = await rig.call("memory_store_rule", { content: "Force push to main" });
    const blind = await openRig(rig.db, { model: false });
    for (let n = 0; n < 3; n++) await blind.call("memory_mark_harmful", { rule_id: id });
    expect(await rig.db.query("select 1 from embeddings where memory_id = $1", [id])).toEqual([]);
  });
});
