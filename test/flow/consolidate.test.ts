/** Episodes become knowledge, exactly once, whatever the extractor says. */
import { expect, it } from "vitest";
import type { Extractor, Material } from "../../src/engine/adapters/extractor/port.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { runJob } from "../support/job-runs.ts";
import { fact, labelled, type Reply, scripted } from "../support/scripted-extractor.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const told = async (rig: Rig, content: string, speaker = "user", more: object = {}): Promise<string> =>
  (await rig.call("memory_store_episode", { content, speaker, ...more })).id;
const rows = <R extends object>(rig: Rig, text: string) => rig.db.query<R>(text);
const facts = (rig: Rig) =>
  rows<{ id: string; content: string; validity: string; confidence: number; trust: string }>(
    rig,
    "select id, content, validity, confidence, trust from facts order by created_at, content",
  );
const episodes = (rig: Rig) =>
  rows<Record<string, unknown>>(
    rig,
    `select content, consolidation_status as status, consolidation_attempts as attempts, last_consolidation_error as error,
       next_consolidation_retry_at as retry from episodes order by created_at, id`,
  );
const links = async (rig: Rig) =>
  (
    await rows<{ line: string }>(
      rig,
      "select source_type || ' ' || relation || ' ' || target_type as line from memory_links order by 1",
    )
  ).map(({ line }) => line);
const runs = (rig: Rig) =>
  rows<Record<string, unknown>>(rig, "select * from consolidation_runs order by started_at, id");
const run = (rig: Rig, answer: (material: Material) => Reply, more: Partial<Extractor> = {}, settings?: object) => {
  const script = scripted(answer, more);
  return runJob(rig, consolidate, {
    extractor: script.extractor,
    ...(settings && { settings: Settings.parse(settings) }),
  }).then((report) => ({ ...report, seen: script.seen }));
};
const nothing = () => ({ facts: [], rules: [], confirmations: [] });

onEachStore("consolidation", (open) => {
  it("makes facts and rules of episodes, links them, and is done with each episode", async () => {
    const rig = await open({ model: false });
    const porto = await told(rig, "I moved to Porto last month.");
    const tests = await told(rig, "From now on always run the tests before you push.");
    const { counts, seen } = await run(rig, (m) => ({
      facts: [fact("lives_in", "The user lives in Porto.", [labelled(m, "Porto")])],
      rules: [{ content: "Always run the tests before pushing.", episodes: [labelled(m, "tests")] }],
    }));
    expect(counts).toEqual({ episodes_consolidated: 2, facts_created: 1, rules_created: 1 });
    expect(seen[0]?.episodes.map(({ label, trust }) => [label, trust])).toEqual([
      ["e1", "user"],
      ["e2", "user"],
    ]);
    const [made] = await facts(rig);
    expect(made).toMatchObject({
      content: "The user lives in Porto.",
      validity: "active",
      confidence: 0.8,
      trust: "user",
    });
    expect(await links(rig)).toEqual(["fact derived_from episode", "rule derived_from episode"]);
    const { memory, links: around } = await rig.call("memory_get", { id: made?.id });
    expect(memory.source).toMatch(/^consolidation:/);
    expect(around.outbound).toMatchObject([{ relation: "derived_from", id: porto }]);
    expect(await episodes(rig)).toMatchObject([
      { status: "consolidated", attempts: 1, error: null, retry: null },
      { status: "consolidated", attempts: 1, error: null, retry: null },
    ]);
    expect(await runs(rig)).toMatchObject([
      { state: "done", provider: "anthropic", episode_ids: [porto, tests], input_tokens: 100, output_tokens: 20 },
    ]);
    const found = await rig.call("memory_search", { query: "Porto", types: ["fact"] });
    expect(found.results).toHaveLength(1);
    const events = await rows<{ event_type: string }>(rig, "select event_type from memory_events order by seq");
    expect(events.map(({ event_type }) => event_type).filter((type) => !type.endsWith("referenced"))).toEqual([
      ...["episode.stored", "episode.stored", "episode.consolidation_attempted", "episode.consolidation_attempted"],
      ...["fact.stored", "rule.stored", "episode.consolidated", "episode.consolidated", "consolidation.done"],
    ]);
  });

  it("supersedes, confirms, and changes nothing when it is run again over the same episodes", async () => {
    const rig = await open({ model: false });
    const answer = (m: Material) => ({
      facts: m.episodes.map(({ label, text }) =>
        fact(text.includes("live") ? "lives_in" : "drinks", `The user ${text.replace("I ", "")}`, [label]),
      ),
    });
    await told(rig, "I live in Porto");
    await told(rig, "I drink tea");
    await run(rig, answer);
    rig.later(1);
    await told(rig, "I live in Graz");
    await told(rig, "I drink tea", "user", { session_id: "later" });
    const { counts } = await run(rig, answer);
    expect(counts).toEqual({ episodes_consolidated: 2, facts_superseded: 1, facts_confirmed: 1 });
    expect((await facts(rig)).map(({ content, validity }) => [content, validity])).toEqual([
      ["The user drink tea", "active"],
      ["The user live in Porto", "superseded"],
      ["The user live in Graz", "active"],
    ]);
    expect(await links(rig)).toEqual([
      ...["episode supports fact", "fact derived_from episode", "fact derived_from episode"],
      ...["fact derived_from episode", "fact supersedes fact"],
    ]);
    await rows(rig, "update episodes set consolidation_status = 'pending'");
    const before = await rows(rig, "select to_jsonb(f) as row from facts f order by id");
    rig.later(1);
    const again = await run(rig, answer);
    expect(again.counts).toEqual({ episodes_consolidated: 4, dropped_unchanged: 4 });
    expect(await rows(rig, "select to_jsonb(f) as row from facts f order by id")).toEqual(before);
    expect(await links(rig)).toHaveLength(5);
  });

  it("does not let a tool or an echo overrule the user, and keeps the doubt", async () => {
    const rig = await open({ model: false });
    await told(rig, "My port is 5432");
    await run(rig, () => ({ facts: [fact("port", "The port is 5432.", ["e1"])] }));
    await told(rig, "port: 6543", "tool");
    const { counts } = await run(rig, () => ({
      facts: [fact("port", "The port is 6543.", ["e1"])],
      rules: [{ content: "Always use port 6543.", episodes: ["e1"] }],
    }));
    expect(counts).toEqual({ episodes_consolidated: 1, facts_contradicted: 1, dropped_tool_rule: 1 });
    const [port] = await facts(rig);
    expect(port).toMatchObject({ content: "The port is 5432.", validity: "active" });
    expect(port?.confidence).toBe(0.5);
    expect(await links(rig)).toEqual(["episode contradicts fact", "fact derived_from episode"]);
  });

  it("cites only what was shown, and only in scopes of its own", async () => {
    const rig = await open({ model: false, role: "memory" });
    const foreign = await rig.call(
      "memory_store_fact",
      { subject: "user", predicate: "lives_in", content: "Oslo" },
      { as: { tenant: "other" } },
    );
    await rig.call("memory_store_fact", {
      subject: "user",
      predicate: "lives_in",
      content: "The user lives in Turin.",
    });
    await told(rig, "I live in Porto");
    const { counts } = await run(rig, () => ({
      facts: [
        fact("lives_in", "The user lives in Porto.", ["e7"]),
        fact("lives_in", "The user lives in Porto.", ["e1"], { supersedes: "f9" }),
        fact("lives_in", "The user lives in Porto.", ["e1"], { scope: "own", supersedes: "f1" }),
        fact("weather", "It rains today.", ["e1"], { permanence: "ephemeral" }),
      ],
      confirmations: [{ id: "f77", episodes: ["e1"] }],
    }));
    expect(counts).toEqual({
      ...{ episodes_consolidated: 1, dropped_unknown_episode: 1, dropped_unknown_memory: 2 },
      ...{ facts_created: 1, dropped_ephemeral: 1 },
    });
    expect(await rig.db.query("select validity from facts where id = $1", [foreign.id])).toEqual([
      { validity: "active" },
    ]);
    // What everybody knows stays; this butler has learned otherwise.
    expect((await facts(rig)).map(({ validity }) => validity)).toEqual(["active", "active", "active"]);
  });

  it("tries again later, in smaller company, and gives up after five attempts", async () => {
    const rig = await open({ model: false });
    for (let n = 0; n < 30; n++) await told(rig, n === 17 ? "poison" : `note ${n}`);
    const poisoned = (m: Material): Reply =>
      m.episodes.some(({ text }) => text === "poison") ? "invalid_answer" : nothing();
    const sizes: number[] = [];
    for (let n = 0; n < 12; n++) {
      const { seen } = await run(rig, poisoned);
      sizes.push(...seen.map((m) => m.episodes.length));
      rig.later(1);
    }
    const all = await episodes(rig);
    expect(all.filter(({ status }) => status === "consolidated")).toHaveLength(29);
    expect(all.filter(({ status }) => status === "dead_letter")).toMatchObject([
      { content: "poison", attempts: 5, error: "scripted: invalid_answer", retry: null },
    ]);
    expect(sizes[0]).toBe(30);
    expect(Math.max(...sizes.slice(1))).toBeLessThanOrEqual(25);
    expect(sizes.filter((size) => size > 0).length).toBeLessThan(20);
  });

  it("waits between attempts, stops at a provider in trouble, and a refusal alone is final", async () => {
    const rig = await open({ model: false });
    await told(rig, "first");
    const down = await run(rig, () => "unavailable");
    expect(down.counts).toEqual({ episodes_to_retry: 1 });
    const [waiting] = await episodes(rig);
    expect(waiting).toMatchObject({ status: "pending", attempts: 0, error: "scripted: unavailable" });
    expect(waiting?.retry).toEqual(new Date(rig.now.getTime() + 60_000));
    expect((await run(rig, nothing)).seen).toEqual([]);
    rig.later(1);
    expect((await run(rig, () => "refused")).counts).toEqual({ episodes_failed: 1 });
    expect(await episodes(rig)).toMatchObject([{ status: "failed", attempts: 1, retry: null }]);
    rig.later(1);
    expect((await run(rig, nothing)).seen).toEqual([]);
    expect((await runs(rig)).map(({ state }) => state)).toEqual(["failed", "failed"]);
  });

  it("blames no episode for a missing key or program", async () => {
    const rig = await open({ model: false });
    await told(rig, "first");
    for (let n = 0; n < 7; n++)
      expect((await run(rig, () => "misconfigured")).counts).toEqual({ episodes_to_retry: 1 });
    expect(await episodes(rig)).toMatchObject([{ status: "pending", attempts: 0, error: "scripted: misconfigured" }]);
    expect((await run(rig, nothing)).counts).toEqual({ episodes_consolidated: 1 });
  });

  it("never spends more than the day's budget, and says so", async () => {
    const rig = await open({ model: false });
    const settings = { extractor: { daily_budget_usd: 0.025 } };
    const dear = { ceiling: () => 0.01, maxChars: 10 };
    for (let n = 0; n < 4; n++) await told(rig, `note no ${n}`);
    const first = await run(rig, nothing, dear, settings);
    expect(first.counts).toEqual({ episodes_consolidated: 2 });
    expect(first.notes.join(" ")).toContain("budget of $0.025 is used up");
    expect(await runs(rig)).toMatchObject([{ state: "done" }, { state: "done" }, { state: "released", cost_usd: 0 }]);
    expect((await run(rig, nothing, dear, settings)).seen).toEqual([]);
    expect((await episodes(rig)).map(({ attempts }) => attempts)).toEqual([1, 1, 0, 0]);
    rig.later(1);
    expect((await run(rig, nothing, dear, settings)).counts).toEqual({ episodes_consolidated: 2 });
  });

  it("leaves a shard to the run that holds it, until its lease is over", async () => {
    const rig = await open({ model: false });
    await told(rig, "held");
    await rows(
      rig,
      `insert into consolidation_runs (id, tenant_id, butler, state, provider, model, episode_ids, lease_until, started_at, reserved_usd)
       values ('01890000-0000-7000-8000-000000000001', 'default', 'general', 'running', 'local', '', '{}',
         '2026-03-01T12:05:00Z', '2026-03-01T12:00:00Z', 0.5)`,
    );
    const busy = await run(rig, nothing);
    expect([busy.seen, busy.notes]).toEqual([[], ["general is being consolidated elsewhere."]]);
    rig.later(1 / 24);
    expect((await run(rig, nothing)).counts).toEqual({ episodes_consolidated: 1 });
    expect(await runs(rig)).toMatchObject([{ state: "lost", cost_usd: 0.5 }, { state: "done" }]);
  });

  it("shows nothing of our own block, and learns nothing from it", async () => {
    const rig = await open({ model: false });
    await told(rig, "<butler-memory>\n- user / lives_in: Porto\n</butler-memory>\nI like plums.");
    await told(rig, "<butler-memory>\nonly ours\n</butler-memory>");
    const { seen, counts } = await run(rig, nothing);
    expect(seen[0]?.episodes.map(({ text }) => text)).toEqual(["I like plums."]);
    expect(counts).toEqual({ episodes_consolidated: 2 });
  });

  it("refuses an answer that is not one, with nothing half written", async () => {
    const rig = await open({ model: false });
    await told(rig, "note");
    const many = { facts: Array.from({ length: 10_000 }, (_, n) => fact(`p${n}`, `content ${n}`, ["e1"])) };
    for (const bad of [many, { facts: [{ subject: "user" }] }, { extra: 1 }]) {
      const { counts, notes } = await run(rig, () => bad);
      expect(counts).toEqual({ episodes_to_retry: 1 });
      expect(notes.join()).toContain("not what was asked for");
      rig.later(1);
    }
    expect(await facts(rig)).toEqual([]);
    expect((await episodes(rig))[0]).toMatchObject({ status: "pending", attempts: 3 });
  });
});
