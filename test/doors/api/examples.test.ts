/** Example memories: told to an empty memory by its own tools, seen by no agent elsewhere, and taken away again. */
import { expect, it } from "vitest";
import type { HomeReads } from "../../../src/doors/backend.ts";
import { jobs } from "../../../src/engine/memory/keep/jobs.ts";
import { jobRunner } from "../../../src/engine/memory/keep/run-job.ts";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore, type Rig } from "../../support/stores.ts";

const PROJECT = "example.com/shop/kassa";

/** A door whose jobs are really run. */
function doorOver(rig: Rig, more: { readonly jobs?: HomeReads["jobs"] } = {}) {
  const runner = jobRunner(rig.memory, jobs);
  const home = {
    jobs: async (_: unknown, butler: string, { job }: { job: string }) => {
      const { state, error = null } = await runner.runNow(job, { dryRun: false, interrupted: () => false });
      return { ok: true, answer: { butler, job, state, error } };
    },
    ...more,
  } as unknown as HomeReads;
  const api = apiOver(rig, {}, { home });
  const remove = async (as = "root") => {
    const { status, body } = await api.ask("DELETE", "examples", { as });
    return { status, ...body } as { status: number; forgotten: number };
  };
  const totals = async () => {
    const { episodes, facts, rules } = await api.get("stats");
    return { episodes: episodes.total, facts: facts.total, waiting: facts.waiting, rules: rules.total };
  };
  return { ...api, remove, totals };
}

const events = async (rig: Rig) => (await rig.call("memory_stats", { scope: "*" }, { as: { admin: true } })).events;

onEachStore("example memories", (open) => {
  it("fill an empty memory with life: every permanence, chains, a contradiction, a ladder of rules, a run", async () => {
    const rig = await open({ model: false });
    const api = doorOver(rig);
    const told = await api.post("examples");
    expect(told.note).toBeUndefined();
    expect(told.projects).toHaveLength(2);
    const { facts } = await api.get("facts?state=all&limit=200");
    const of = (key: string) => new Set(facts.map((fact: Record<string, unknown>) => fact[key]));
    expect([...of("permanence")].toSorted()).toEqual(["ephemeral", "permanent", "stable", "standard", "volatile"]);
    for (const state of ["active", "superseded", "expired", "retracted"]) expect(of("state")).toContain(state);
    expect(Math.max(...facts.map((fact: { replaced: number }) => fact.replaced))).toBeGreaterThanOrEqual(2);
    expect((await api.get("today")).waiting).toMatchObject({ contradictions: 1, backlog: 0, dead_letters: 0 });
    const { ladder, rules } = await api.get("rules?limit=200");
    expect(ladder.candidate).toBeGreaterThanOrEqual(2);
    expect(ladder.established).toBe(3);
    expect(ladder.anti_pattern).toBe(1);
    // A rule is proven after thirty days, and these were told today.
    expect(rules).toContainEqual(
      expect.objectContaining({ helpful: 16, next_step: { to: "proven", helpful: 0, days: 30 } }),
    );
    const { runs } = await api.get("runs");
    expect(runs).toHaveLength(2);
    for (const provider of ["local", "agent"])
      expect(runs).toContainEqual(expect.objectContaining({ provider, state: "done" }));
    const { episodes } = await api.get("episodes?limit=200");
    expect(episodes).toHaveLength(told.episodes);
    expect(episodes.filter((one: { taught: unknown[] }) => one.taught.length > 0).length).toBeGreaterThan(8);
    const days = new Set(episodes.map((one: { occurred_at: string }) => one.occurred_at.slice(0, 10)));
    expect(days.size).toBe(10);
    expect([...days].toSorted().at(-1)).toBe("2026-02-28");
    expect(await api.totals()).toMatchObject({ facts: told.facts - 1, waiting: 1, rules: told.rules });
    await rig.settled();
    expect(facts.some((fact: { sources: number }) => fact.sources > 0)).toBe(true);
    const { facts: after } = await api.get("facts?limit=200");
    expect(after.some((fact: { references: number }) => fact.references > 0)).toBe(true);
  });

  it("are told to no agent outside of their two projects", async () => {
    const rig = await open({ model: false });
    const api = doorOver(rig);
    await api.post("examples");
    const scopes = (await api.get("facts?state=all&limit=200")).facts.map(({ scope }: { scope: string }) => scope);
    const ofRules = (await api.get("rules?state=all&limit=200")).rules.map(({ scope }: { scope: string }) => scope);
    expect([...new Set([...scopes, ...ofRules])].toSorted()).toEqual([
      "general/example.com/shop/kassa",
      "general/example.com/shop/labels",
    ]);
    const prompt = { trigger_prompt: "Prepare the next release of kassa" };
    expect((await rig.call("memory_context", prompt)).sections.flatMap(({ items }: { items: [] }) => items)).toEqual(
      [],
    );
    expect((await rig.call("memory_context", prompt, { project: PROJECT })).text).toContain("Petra");
  });

  it("told again change nothing, on another day neither, and one that was cut off is told to its end", async () => {
    const rig = await open({ model: false });
    let cut = true;
    const api = doorOver(rig);
    const failing = doorOver(rig, {
      jobs: (async () => {
        if (cut) throw new Error("the owner was killed");
      }) as unknown as HomeReads["jobs"],
    });
    await failing.refused("examples", { method: "POST", body: {} });
    cut = false;
    expect((await api.get("today")).waiting.backlog).toBeGreaterThan(0);
    rig.later(1);
    const first = await api.post("examples");
    const count = await events(rig);
    expect((await api.get("today")).waiting.backlog).toBe(0);
    rig.later(1);
    expect(await api.post("examples")).toEqual(first);
    await rig.settled();
    expect(await events(rig)).toBe(count);
  });

  it("are forgotten as a whole, teach the reader nothing by that, and can be told anew", async () => {
    const rig = await open({ model: false });
    const api = doorOver(rig);
    const told = await api.post("examples");
    const mine = await rig.call("memory_store_fact", { subject: "tea", predicate: "kind", content: "green" });
    const bars = (await rig.call("memory_learning", {})).bars;
    const { forgotten } = await api.remove();
    expect(forgotten).toBeGreaterThanOrEqual(told.episodes + told.facts + told.rules);
    expect(await api.totals()).toEqual({ episodes: 0, facts: 1, waiting: 0, rules: 0 });
    expect((await rig.call("memory_learning", {})).bars).toEqual(bars);
    expect(await api.remove()).toEqual({ status: 200, forgotten: 0 });
    expect((await api.refused("examples", { method: "POST", body: {} })).code).toBe("conflict");
    await rig.call("memory_forget", { id: mine.id });
    expect(await api.post("examples")).toEqual(told);
    expect(await api.totals()).toMatchObject({ facts: told.facts - 1 });
  });

  it("what is somebody's own stays: a fact that their episodes say too", async () => {
    const rig = await open({ model: false });
    const api = doorOver(rig);
    await api.post("examples");
    const { facts } = await api.get("facts?limit=200");
    const [learned, other] = facts.filter(({ tags }: { tags: string[] }) => tags.length === 0);
    const said = { project: PROJECT };
    const own = await rig.call("memory_store_episode", { content: "I say the same.", session_id: "mine" }, said);
    const { subject, predicate, content, scope } = learned;
    const again = { subject, predicate, content, scope, source_episode_id: own.id };
    expect(await rig.call("memory_store_fact", again, said)).toMatchObject({ id: learned.id, status: "confirmed" });
    await api.remove();
    expect((await api.get(`memories/${learned.id}`)).memory.state).toBe("active");
    expect((await api.get(`memories/${other.id}`)).memory.state).toBe("retracted");
    expect((await api.get(`memories/${own.id}`)).memory.state).toBe("active");
  });

  it("are for an empty memory, and for whoever may change it", async () => {
    const rig = await open({ model: false });
    const api = doorOver(rig);
    for (const as of ["reader", "agent"]) {
      expect((await api.refused("examples", { method: "POST", as, body: {} })).status).toBe(403);
      expect((await api.remove(as)).status).toBe(403);
    }
    expect((await api.refused("examples", { method: "POST", body: { story: "other" } })).status).toBe(400);
    await rig.call("memory_store_rule", { content: "A rule of mine." });
    expect(await api.refused("examples", { method: "POST", body: {} })).toMatchObject({
      status: 409,
      code: "conflict",
    });
    expect(await api.totals()).toEqual({ episodes: 0, facts: 0, waiting: 0, rules: 1 });
    expect((await api.refused("examples", { method: "POST", as: "", body: {} })).status).toBe(401);
  });

  it("are not sent to a language model", async () => {
    const rig = await open({ model: false });
    const extractor = { ...rig.memory.extractor, provider: "anthropic" } as unknown as typeof rig.memory.extractor;
    const memory = { ...rig.memory, extractor };
    const api = doorOver({ ...rig, memory });
    const told = await api.post("examples");
    expect(told.note).toContain("anthropic");
    expect((await api.get("today")).waiting.backlog).toBe(0);
    expect((await api.get("runs")).runs).toMatchObject([{ provider: "agent" }, { provider: "agent" }]);
  });
});
