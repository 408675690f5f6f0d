import fc from "fast-check";
import { expect, it } from "vitest";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { promotedTo } from "../../src/engine/domain/lifecycle/promotion.ts";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { promotionBar, Settings } from "../../src/engine/memory/settings.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { dump, likeness, runJob } from "../support/job-runs.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const HOUR = 1 / 24;
const store = async (rig: Rig, content: string, tier = "eden") =>
  (await rig.call("memory_store", { content, tier })).id as string;
const read = async (rig: Rig, id: string, session?: string, times = 1) => {
  for (let n = 0; n < times; n++) await rig.call("memory_get", { id }, session === undefined ? {} : { session });
  await rig.settled();
};
const row = async (rig: Rig, id: string) =>
  (await rig.db.query<Record<string, unknown>>("select * from episodes where id = $1", [id]))[0];
const promotions = (rig: Rig) =>
  rig.db.query<{ entity_id: string; actor: string; payload: Record<string, unknown> }>(
    "select entity_id, actor, payload from memory_events where event_type = 'episode.promoted' order by seq",
  );
/** Read on three days from mid, often enough for long. */
const wanted = async (rig: Rig, id: string) => {
  for (let day = 0; day < 3; day++) {
    await read(rig, id, `day${day}`, 4);
    rig.later(1);
  }
  rig.later(4);
};

onEachStore("promotion", (open) => {
  it("counts who read an episode on which day", async () => {
    const rig = await open({ model: false });
    const id = await store(rig, "Tea at four");
    await read(rig, id, "s1", 2);
    await read(rig, id, "s2");
    await read(rig, id);
    rig.set("2026-03-02T00:00:00Z");
    await read(rig, id, "s1");
    const rows = await rig.db.query("select session_id, day::text, n from episode_references order by day, session_id");
    expect(rows).toEqual([
      { session_id: "s1", day: "2026-03-01", n: 2 },
      { session_id: "s2", day: "2026-03-01", n: 1 },
      { session_id: "test 2026-03-01", day: "2026-03-01", n: 1 },
      { session_id: "s1", day: "2026-03-02", n: 1 },
    ]);
    expect((await row(rig, id))?.reference_count).toBe(5);
  });

  it("eden → mid after three references from two sessions and six hours", async () => {
    const rig = await open();
    const long = `The ferry timetable changed. ${Array.from({ length: 20 }, (_, n) => `Stop ${n} is served hourly.`).join(" ")}`;
    const [id, short, lonely, fewer] = [
      await store(rig, long),
      await store(rig, "Ferry at nine"),
      await store(rig, "Ferry at ten"),
      await store(rig, "Ferry at eleven"),
    ];
    for (const rising of [id, short]) {
      await read(rig, rising, "s1", 2);
      await read(rig, rising, "s2");
    }
    await read(rig, lonely, "s1", 9);
    await read(rig, fewer, "s1");
    await read(rig, fewer, "s2");
    rig.later(6 * HOUR - 1 / 86_400);
    expect((await runJob(rig, promote)).changed).toBe(0);
    rig.later(1 / 86_400);

    const before = await dump(rig.db);
    expect((await runJob(rig, promote, { dryRun: true })).counts).toEqual({ promoted_to_mid: 2 });
    expect(await dump(rig.db)).toEqual(before);
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_mid: 2 });
    const expires = new Date(rig.now.getTime() + 30 * 86_400_000);
    expect(await row(rig, short)).toMatchObject({
      tier: "mid",
      summary: "Ferry at nine",
      content: "Ferry at nine",
      promoted_at: rig.now,
      expires_at: expires,
    });
    const raised = await row(rig, id);
    expect(raised?.content).toBe(long);
    expect(raised?.summary).toMatch(/^The ferry timetable changed\./);
    expect(String(raised?.summary).length).toBeLessThan(long.length);
    const told = await promotions(rig);
    expect(told.map((e) => [e.entity_id, e.actor])).toEqual([
      [id, "job:promote"],
      [short, "job:promote"],
    ]);
    expect(told[1]?.payload).toEqual({
      set: {
        tier: "mid",
        summary: "Ferry at nine",
        promoted_at: rig.now.toISOString(),
        expires_at: expires.toISOString(),
      },
      from: "eden",
      references: 3,
      sessions: 2,
      days: 1,
      hours_in_tier: 6,
    });
    const after = await dump(rig.db);
    expect((await runJob(rig, promote)).changed).toBe(0);
    expect(await dump(rig.db)).toEqual(after);

    // Still there when eden would have been over, shown by its summary and found by words that are only in the text.
    rig.later(10);
    for (const mode of ["keyword", "hybrid", "semantic"]) {
      const { results } = await rig.call("memory_search", { query: "stop 7 served hourly ferry timetable", mode });
      expect(results).toContainEqual(expect.objectContaining({ id, tier: "mid", content: raised?.summary }));
    }
    const { memory } = await rig.call("memory_get", { id });
    expect(memory).toMatchObject({ content: long, summary: raised?.summary, tier: "mid" });
    expect(await verifyLexical(rig.db)).toEqual([]);
  });

  it("mid → long after ten references on three days and seven days in mid", async () => {
    const rig = await open({ model: false });
    const id = await store(rig, "The boiler needs a new valve", "mid");
    const twoDays = await store(rig, "The boiler was cleaned", "mid");
    const nine = await store(rig, "The boiler is loud", "mid");
    for (let day = 0; day < 3; day++) {
      await read(rig, id, "s", day === 0 ? 4 : 3);
      await read(rig, nine, "s", 3);
      if (day < 2) await read(rig, twoDays, "s", 9);
      rig.later(1);
    }
    rig.later(4 - 1 / 86_400);
    expect((await runJob(rig, promote)).changed).toBe(0);
    rig.later(1 / 86_400);
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_long: 1 });
    expect(await row(rig, id)).toMatchObject({
      tier: "long",
      expires_at: new Date("9999-12-31T23:59:59.999Z"),
    });
    expect((await promotions(rig))[0]?.payload).toMatchObject({
      from: "mid",
      references: 10,
      sessions: 1,
      days: 3,
      hours_in_tier: 168,
    });
  });

  it("what has just risen to mid stays there for its seven days, and what has expired or is forgotten does not rise", async () => {
    const rig = await open({ model: false });
    const id = await store(rig, "A much wanted note");
    const forgotten = await store(rig, "A forgotten note");
    const late = await store(rig, "A late note");
    for (const each of [id, forgotten, late]) for (const s of ["s1", "s2", "s3"]) await read(rig, each, s, 4);
    await rig.call("memory_forget", { id: forgotten });
    await rig.db.query("update episodes set expires_at = $2 where id = $1", [
      late,
      new Date(rig.now.getTime() + 3_600_000),
    ]);
    rig.later(5);
    await read(rig, id, "s1");
    rig.later(1);
    await read(rig, id, "s1");
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_mid: 1 });
    rig.later(6.9);
    expect((await runJob(rig, promote)).changed).toBe(0);
    rig.later(0.1);
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_long: 1 });
    expect((await row(rig, forgotten))?.tier).toBe("eden");
    expect((await row(rig, late))?.tier).toBe("eden");
  });

  it("rising to long distils what is plainly said, once, and overrules nothing", async () => {
    const rig = await open();
    const rule = await store(rig, "Always run the tests before a release.", "mid");
    const fact = await store(rig, "Ann lives in Oslo.", "mid");
    const stale = await store(rig, "Bob lives in Rome.", "mid");
    const vague = await store(rig, "We talked about many things.", "mid");
    await rig.call("memory_store_fact", { subject: "Bob", predicate: "lives in", content: "Paris" });
    for (const id of [rule, fact, stale, vague])
      for (let n = 0; n < 10; n++) {
        rig.set(`2026-03-0${1 + (n % 3)}T13:00:00Z`);
        await read(rig, id, "s");
      }
    rig.set("2026-03-10T12:00:00Z");
    expect((await runJob(rig, promote)).counts).toEqual({ promoted_to_long: 4 });

    const links = await rig.db.query("select source_type, target_id, relation from memory_links order by source_type");
    expect(links).toEqual([
      { source_type: "fact", target_id: fact, relation: "derived_from" },
      { source_type: "rule", target_id: rule, relation: "derived_from" },
    ]);
    const rules = await rig.db.query("select id, content, maturity, scope, source_episode_id from rules");
    expect(rules).toMatchObject([
      {
        content: "Always run the tests before a release.",
        maturity: "candidate",
        scope: "general",
        source_episode_id: rule,
      },
    ]);
    const facts = await rig.db.query("select id, subject, predicate, content, validity from facts order by subject");
    expect(facts).toMatchObject([
      { subject: "ann", predicate: "lives in", content: "Oslo", validity: "active" },
      { subject: "bob", content: "Paris", validity: "active" },
    ]);
    const told = new Map((await promotions(rig)).map((e) => [e.entity_id, e.payload.distilled]));
    expect(told.get(rule)).toEqual([{ type: "rule", id: rules[0]?.id }]);
    expect(told.get(fact)).toEqual([{ type: "fact", id: facts[0]?.id }]);
    expect(told.get(stale)).toBeUndefined();
    const stored = await rig.db.query(
      "select actor from memory_events where event_type in ('rule.stored', 'fact.stored')",
    );
    expect(stored.filter((e) => e.actor === "job:promote")).toHaveLength(2);
    const { results } = await rig.call("memory_recall", { topic: "running tests before a release" });
    expect(results.map((r: { id: string }) => r.id)).toContain(rules[0]?.id);
    expect((await runJob(rig, promote)).changed).toBe(0);
  });

  it("a run that ended after distilling goes on without doing it twice", async () => {
    const lived = async () => {
      const rig = await open({ model: false });
      await wanted(rig, await store(rig, "Never use tabs in Makefile comments", "mid"));
      return rig;
    };
    const straight = await lived();
    await runJob(straight, promote);
    const broken = await lived();
    let writes = 0;
    // The rule's own transaction passes, the episode's fails before it begins.
    const failing = Object.create(broken.memory, {
      db: {
        value: wrapDb(broken.memory.db, (inner) => ({
          tx: (work) => (writes++ === 0 ? inner.tx(work) : Promise.reject(new Error("power cut"))),
        })),
      },
    });
    const context = { memory: failing, now: broken.now, dryRun: false, interrupted: () => false };
    await expect(promote.run(context)).rejects.toThrow("power cut");
    expect(await broken.db.query("select 1 from rules")).toHaveLength(1);
    expect(await promotions(broken)).toEqual([]);
    expect((await runJob(broken, promote)).counts).toEqual({ promoted_to_long: 1 });
    expect((await promotions(broken))[0]?.payload.distilled).toHaveLength(1);
    expect(await likeness(broken.db)).toEqual(await likeness(straight.db));
  });

  it("interrupted and run again, it ends as if it had not been", async () => {
    const lived = async () => {
      const rig = await open({ model: false });
      await wanted(rig, await store(rig, "Ann likes green tea", "mid"));
      const id = await store(rig, "A note of the day");
      for (const s of ["s1", "s2", "s3"]) await read(rig, id, s);
      rig.later(1);
      return rig;
    };
    const straight = await lived();
    expect((await runJob(straight, promote)).counts).toEqual({ promoted_to_mid: 1, promoted_to_long: 1 });
    const halting = await lived();
    expect(await runJob(halting, promote, { stopAfter: 0 })).toMatchObject({ changed: 0, complete: false });
    expect(await runJob(halting, promote, { stopAfter: 1 })).toMatchObject({ changed: 1, complete: false });
    expect(await runJob(halting, promote)).toMatchObject({ changed: 1, complete: true });
    expect(await likeness(halting.db)).toEqual(await likeness(straight.db));
  });

  it("whatever is read by whom and when, exactly what the policy says rises", async () => {
    const rig = await open({ model: false });
    const settings = Settings.parse({});
    const reading = fc.record({
      session: fc.constantFrom("", "a", "b", "c"),
      day: fc.nat({ max: 4 }),
      n: fc.integer({ min: 1, max: 4 }),
    });
    const episode = fc.record({
      tier: fc.constantFrom("eden" as const, "mid" as const),
      bornDaysAgo: fc.constantFrom(0.2, 0.25, 1, 6.9, 7, 9),
      readings: fc.uniqueArray(reading, { maxLength: 6, selector: (r) => `${r.session}${r.day}` }),
    });
    const now = rig.now;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(episode, { minLength: 1, maxLength: 12 }), async (episodes) => {
        run++;
        const expected = new Map<string, string>();
        for (const [index, { tier, bornDaysAgo, readings }] of episodes.entries()) {
          const content = `Run ${run} episode ${index}`;
          rig.set(now);
          const id = await store(rig, content, tier);
          const born = new Date(now.getTime() - bornDaysAgo * 86_400_000);
          const references = readings.reduce((sum, r) => sum + r.n, 0);
          await rig.db.query("update episodes set created_at = $2, reference_count = $3 where id = $1", [
            id,
            born,
            references,
          ]);
          for (const r of readings)
            await rig.db.query(
              "insert into episode_references (tenant_id, episode_id, session_id, day, n) values ('default', $1, $2, date '2026-02-20' + $3::int4, $4)",
              [id, r.session, r.day, r.n],
            );
          const { expires_at } = (await row(rig, id)) as { expires_at: Date };
          const evidence = {
            references,
            sessions: new Set(readings.map((r) => r.session)).size,
            days: new Set(readings.map((r) => r.day)).size,
          };
          const rising = { tier, validity: "active" as const, created_at: born, promoted_at: null, expires_at };
          expected.set(id, promotedTo(rising, evidence, promotionBar(settings, tier), now) ?? tier);
        }
        await runJob(rig, promote);
        const rows = await rig.db.query<{ id: string; tier: string }>(
          "select id, tier from episodes where id = any($1::uuid[])",
          [[...expected.keys()]],
        );
        expect(new Map(rows.map((r) => [r.id, r.tier]))).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });
});
