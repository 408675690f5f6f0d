import { expect, it } from "vitest";
import { DECAY_PER_DAY, RULE_DECAY_PER_DAY } from "../../src/engine/domain/lifecycle/decay.ts";
import { decaySweep } from "../../src/engine/memory/keep/decay-sweep.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { dump, likeness, runJob } from "../support/job-runs.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const START = new Date("2026-03-01T12:00:00.000Z");
const day = (n: number) => new Date(START.getTime() + n * 86_400_000);
/** The first whole day on which a memory of this rate is below the threshold. */
const dayBelow = (confidence: number, rate: number, threshold: number) =>
  Math.floor(Math.log(confidence / threshold) / rate) + 1;

const row = async (rig: Rig, table: "facts" | "rules", id: string) =>
  (await rig.db.query<Record<string, unknown>>(`select * from ${table} where id = $1`, [id]))[0];
const state = async (rig: Rig, table: "facts" | "rules", id: string) => (await row(rig, table, id))?.validity;
const transitions = (rig: Rig, id: string) =>
  rig.db.query<{ event_type: string; occurred_at: Date; actor: string; payload: Record<string, unknown> }>(
    `select event_type, occurred_at, actor, payload from memory_events where entity_id = $1 and actor = 'job:decay_sweep' order by seq`,
    [id],
  );
const fact = async (rig: Rig, subject: string, rest: object = {}) =>
  (await rig.call("memory_store_fact", { subject, predicate: "project", content: `A ${subject} project`, ...rest }))
    .id as string;
const finds = async (rig: Rig, query: string, mode = "hybrid", min_confidence?: number) => {
  const asked = { query, mode, ...(min_confidence === undefined ? {} : { min_confidence }) };
  return (await rig.call("memory_search", asked)).results.map((r: { id: string }) => r.id);
};
const marks = async (rig: Rig, rule_id: string, outcome: "helpful" | "harmful", times: number) => {
  for (let n = 0; n < times; n++)
    await rig.call(`memory_mark_${outcome}`, {
      rule_id,
      session_id: `${outcome}${n}`,
      ...(outcome === "harmful" ? { reason: `broke build ${n}` } : {}),
    });
};

onEachStore("the decay sweep", (open) => {
  it("fades and expires a volatile fact on the day of the formula, a permanent one never, a confirmed one anew", async () => {
    const rig = await open();
    const volatile = await fact(rig, "volatile", { permanence: "volatile" });
    const permanent = await fact(rig, "permanent", { permanence: "permanent" });
    const confirmed = await fact(rig, "confirmed", { permanence: "volatile" });
    const fades = dayBelow(1, DECAY_PER_DAY.volatile, 0.2);
    const expires = dayBelow(1, DECAY_PER_DAY.volatile, 0.05);
    expect([fades, expires]).toEqual([54, 100]);

    rig.set(day(fades - 1));
    expect(await runJob(rig, decaySweep)).toMatchObject({ changed: 0, complete: true });
    rig.set(day(fades));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ facts_faded: 2 });
    expect(await state(rig, "facts", volatile)).toBe("fading");
    await rig.call("memory_confirm", { id: confirmed });

    rig.set(day(expires - 1));
    expect((await runJob(rig, decaySweep)).changed).toBe(0);
    rig.set(day(expires));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ facts_expired: 1 });
    expect(await state(rig, "facts", volatile)).toBe("expired");
    expect(await state(rig, "facts", confirmed)).toBe("active");

    rig.set(day(fades + fades));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ facts_faded: 1 });
    rig.set(day(30_000));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ facts_expired: 1 });
    expect(await state(rig, "facts", permanent)).toBe("active");
    // exp() of so faint a memory is an error to PostgreSQL where it is 0 to us.
    expect((await rig.call("memory_stats", {})).facts.by_state).toMatchObject({ active: 1, expired: 2 });

    const told = await transitions(rig, volatile);
    expect(told.map((e) => [e.event_type, e.occurred_at])).toEqual([
      ["fact.faded", day(fades)],
      ["fact.expired", day(expires)],
    ]);
    expect(told[0]?.payload).toMatchObject({
      set: { validity: "fading" },
      from: "active",
      days: fades,
      threshold: 0.2,
      confidence: 1,
      decay_rate: 0.03,
      why: "confidence",
    });
    expect(told[0]?.payload.effective).toBeCloseTo(Math.exp(-0.03 * fades), 12);
    expect(told[1]?.payload).toMatchObject({ set: { validity: "expired" }, from: "fading", threshold: 0.05 });
    expect(await verifyLexical(rig.db)).toEqual([]);
  });

  it("leaves nothing of the expired in the index, and a restored one is found again", async () => {
    const rig = await open();
    const gone = await fact(rig, "zeppelin", { permanence: "ephemeral" });
    const kept = await fact(rig, "balloon", { permanence: "permanent" });
    const over = await fact(rig, "glider", { permanence: "permanent", valid_to: day(10).toISOString() });
    rig.set(day(31));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ facts_expired: 2 });
    expect((await transitions(rig, over))[0]?.payload).toMatchObject({
      why: "valid_to",
      set: { validity: "expired" },
      from: "active",
    });
    const indexed = await rig.db.query<{ memory_id: string }>("select memory_id from lex_doc where state <> 2");
    expect(indexed.map((r) => r.memory_id)).toEqual([kept]);
    const seen = await rig.db.query<{ memory_id: string }>(
      "select memory_id from embeddings where visible_until > $1",
      [rig.now],
    );
    expect(seen.map((r) => r.memory_id)).toEqual([kept]);
    for (const mode of ["keyword", "semantic", "hybrid"])
      expect(await finds(rig, "zeppelin project", mode, 0)).not.toContain(gone);
    expect(await verifyLexical(rig.db)).toEqual([]);

    await rig.call("memory_restore", { id: gone });
    for (const mode of ["keyword", "semantic"]) expect(await finds(rig, "zeppelin project", mode)).toContain(gone);
    expect((await runJob(rig, decaySweep)).changed).toBe(0);
    expect(await verifyLexical(rig.db)).toEqual([]);
  });

  it("takes a fading memory back when it is confident enough again", async () => {
    const rig = await open();
    const id = await fact(rig, "kite", { permanence: "volatile" });
    const { id: rule } = await rig.call("memory_store_rule", { content: "Fly kites only in steady wind" });
    const strict = Settings.parse({ facts: { retrieval_confidence_threshold: 0.9 } });
    rig.set(day(20));
    expect((await runJob(rig, decaySweep, { settings: strict })).counts).toEqual({ facts_faded: 1, rules_faded: 1 });
    await rig.db.query("update embeddings set visible_until = $1", [START]);
    expect((await runJob(rig, decaySweep)).counts).toEqual({ facts_revived: 1, rules_revived: 1 });
    expect((await transitions(rig, id)).map((e) => e.event_type)).toEqual(["fact.faded", "fact.revived"]);
    expect(await finds(rig, "kite project", "semantic")).toEqual(expect.arrayContaining([id, rule]));
    const [until] = await rig.db.query<{ until: Date }>(
      "select visible_until as until from embeddings where memory_id = $1",
      [id],
    );
    expect(until?.until.getTime()).toBeCloseTo(day(Math.log(5) / 0.03).getTime(), -2);
  });

  it("rules fade, are excluded, and a helpful mark starts them anew", async () => {
    const rig = await open();
    const { id } = await rig.call("memory_store_rule", { content: "Water the ferns on Sunday" });
    const { id: helped } = await rig.call("memory_store_rule", { content: "Prune the roses in March" });
    const fades = dayBelow(0.5, RULE_DECAY_PER_DAY, 0.2);
    const expires = dayBelow(0.5, RULE_DECAY_PER_DAY, 0.05);
    rig.set(day(fades));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ rules_faded: 2 });
    await marks(rig, helped, "helpful", 1);
    expect(await state(rig, "rules", helped)).toBe("active");
    rig.set(day(expires));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ rules_faded: 1, rules_expired: 1 });
    expect(await state(rig, "rules", id)).toBe("expired");
    expect((await transitions(rig, id)).map((e) => e.event_type)).toEqual(["rule.faded", "rule.expired"]);
    expect(await finds(rig, "water the ferns", "keyword", 0)).not.toContain(id);
  });

  it("a rule is proven by its age, without a new mark", async () => {
    const rig = await open();
    const { id } = await rig.call("memory_store_rule", { content: "Ask before deleting a branch" });
    await marks(rig, id, "helpful", 15);
    expect(await row(rig, "rules", id)).toMatchObject({ maturity: "established" });
    rig.set(day(30 - 1 / 86_400));
    expect((await runJob(rig, decaySweep)).changed).toBe(0);
    rig.set(day(30));
    expect((await runJob(rig, decaySweep)).counts).toEqual({ rules_promoted: 1 });
    expect(await row(rig, "rules", id)).toMatchObject({ maturity: "proven", last_evaluated_at: rig.now });
    const [told] = await transitions(rig, id);
    expect(told).toMatchObject({
      event_type: "rule.promoted",
      payload: { from: "established", to: "proven", success: 15, harmful: 0, age_days: 30 },
    });
    expect(told?.payload.set).toEqual({
      maturity: "proven",
      effectiveness_score: 15 / 15.01,
      last_evaluated_at: rig.now.toISOString(),
    });
    expect((await runJob(rig, decaySweep)).changed).toBe(0);
  });

  it("inverts what did harm and was not inverted, and demotes by harm only", async () => {
    const lenient = { rules: { harmful_to_antipattern: { min_harmful: 50 } } };
    const rig = await open({ settings: lenient });
    await rig.call("memory_store_episode", { content: "The forced push lost a day of work", session_id: "harmful1" });
    const { id } = await rig.call("memory_store_rule", { content: "Force push to main" });
    const { id: sunk } = await rig.call("memory_store_rule", { content: "Rebase before merging" });
    await marks(rig, id, "harmful", 3);
    await marks(rig, sunk, "helpful", 10);
    await marks(rig, sunk, "harmful", 1);
    expect((await row(rig, "rules", sunk))?.maturity).toBe("established");
    rig.later(1);
    const strict = Settings.parse({ rules: { promote_to_established: { min_successes: 11 } } });

    const before = await dump(rig.db);
    expect((await runJob(rig, decaySweep, { settings: strict, dryRun: true })).counts).toEqual({
      rules_inverted: 1,
      rules_demoted: 1,
    });
    expect(await dump(rig.db)).toEqual(before);

    expect((await runJob(rig, decaySweep, { settings: strict })).counts).toEqual({
      rules_inverted: 1,
      rules_demoted: 1,
    });
    const warning = "Avoid: Force push to main (because: broke build 0; broke build 1; broke build 2)";
    expect(await row(rig, "rules", id)).toMatchObject({
      maturity: "anti_pattern",
      content: warning,
      original_content: "Force push to main",
      confidence: 1,
      last_confirmed_at: rig.now,
    });
    const [told] = await transitions(rig, id);
    expect(told).toMatchObject({
      event_type: "rule.inverted",
      payload: { from: "candidate", to: "anti_pattern", harmful: 3 },
    });
    expect(told?.payload.set).toMatchObject({ content: warning, maturity: "anti_pattern", validity: "active" });
    expect(told?.payload.links).toMatchObject([{ source_type: "episode", relation: "contradicts", target_id: id }]);
    expect((await rig.call("memory_get", { id })).links.inbound).toMatchObject([
      { type: "episode", relation: "contradicts" },
    ]);
    const { results } = await rig.call("memory_search", { query: "avoid force push broke build", types: ["rule"] });
    expect(results[0]).toMatchObject({ id, warning: true });
    expect((await runJob(rig, decaySweep, { settings: strict })).changed).toBe(0);
    expect(await verifyLexical(rig.db)).toEqual([]);
  });

  it("without harm a rule does not fall when the bars are raised", async () => {
    const rig = await open({ model: false });
    const { id } = await rig.call("memory_store_rule", { content: "Rebase before merging" });
    await marks(rig, id, "helpful", 5);
    const strict = Settings.parse({ rules: { promote_to_established: { min_successes: 50 } } });
    expect((await runJob(rig, decaySweep, { settings: strict })).changed).toBe(0);
    expect((await row(rig, "rules", id))?.maturity).toBe("established");
  });

  it("works for every tenant; a dry run changes nothing, a second run neither", async () => {
    const rig = await open({ model: false });
    for (const tenant of ["b", "a", "c"])
      for (const [n, permanence] of ["volatile", "ephemeral", "stable"].entries())
        await rig.call(
          "memory_store_fact",
          { subject: `s${n}`, predicate: "p", content: `value ${n}`, permanence },
          { as: { tenant } },
        );
    rig.set(day(60));
    const before = await dump(rig.db);
    const foretold = await runJob(rig, decaySweep, { dryRun: true });
    expect(foretold.counts).toEqual({ facts_faded: 3, facts_expired: 3 });
    expect(foretold.notes).toHaveLength(6);
    expect(await dump(rig.db)).toEqual(before);

    expect((await runJob(rig, decaySweep)).counts).toEqual(foretold.counts);
    const told = await rig.db.query<{ tenant_id: string; n: number }>(
      "select tenant_id, count(*)::int4 as n from memory_events where actor = 'job:decay_sweep' group by 1 order by 1",
    );
    expect(told).toEqual(["a", "b", "c"].map((tenant_id) => ({ tenant_id, n: 2 })));
    const after = await dump(rig.db);
    expect(await runJob(rig, decaySweep)).toEqual({ changed: 0, counts: {}, notes: [], complete: true });
    expect(await dump(rig.db)).toEqual(after);
  });

  it("sweeps many windows, and takes up where it was interrupted", async () => {
    const rig = await open({ model: false });
    await rig.db.query(
      `insert into facts (id, tenant_id, subject, predicate, subject_text, predicate_text, content, scope, permanence,
         confidence, decay_rate, last_confirmed_at, source_butler, source, created_at)
       select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'tenant' || n % 3, 's' || n, 'p', 's' || n, 'p',
         'value', 'global', 'standard', 1, (array[0, 0.03, 0.1])[n % 3 + 1], $1, 'general', 'manual', $1
       from generate_series(1, 6000) n`,
      [START],
    );
    rig.set(day(60));
    const half = await runJob(rig, decaySweep, { stopAfter: 1 });
    expect(half.complete).toBe(false);
    expect(half.changed).toBeGreaterThan(0);
    expect(half.changed).toBeLessThan(4000);
    const rest = await runJob(rig, decaySweep);
    expect(half.changed + rest.changed).toBe(4000);
    const [states] = await rig.db.query(
      `select count(*) filter (where validity = 'active')::int4 as active, count(*) filter (where validity = 'fading')::int4 as fading,
         count(*) filter (where validity = 'expired')::int4 as expired, (select count(distinct id)::int4 from memory_events) as events
       from facts`,
    );
    expect(states).toEqual({ active: 2000, fading: 2000, expired: 2000, events: 4000 });
  });

  it("interrupted anywhere and run again, it ends as if it had not been", async () => {
    const live = async () => {
      const rig = await open({ model: false, settings: { rules: { harmful_to_antipattern: { min_harmful: 50 } } } });
      await fact(rig, "one", { permanence: "volatile" });
      await fact(rig, "two", { permanence: "ephemeral" });
      for (const name of ["first", "second"]) {
        const { id } = await rig.call("memory_store_rule", { content: `Follow the ${name} advice` });
        await marks(rig, id, "harmful", 3);
      }
      await rig.call("memory_store_rule", { content: "Fade quietly" });
      rig.set(day(150));
      return rig;
    };
    const settings = Settings.parse({});
    const straight = await live();
    expect((await runJob(straight, decaySweep, { settings })).counts).toEqual({
      facts_expired: 2,
      rules_inverted: 2,
      rules_faded: 1,
    });
    const halting = await live();
    let stops = 0;
    while (!(await runJob(halting, decaySweep, { settings, stopAfter: stops })).complete) stops++;
    expect(stops).toBeGreaterThanOrEqual(4);
    expect((await runJob(halting, decaySweep, { settings })).changed).toBe(0);
    expect(await likeness(halting.db)).toEqual(await likeness(straight.db));
  });
});
