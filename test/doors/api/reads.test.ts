/** What the pages read, over HTTP, on both stores. */
import { expect, it } from "vitest";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore } from "../../support/stores.ts";

onEachStore("reads of the pages", (open) => {
  it("facts come by subject, each with its curve, its sources and the chain behind it", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const episode = await rig.call("memory_store_episode", {
      content: "We moved dns.",
      butler: "general",
      session_id: "s1",
    });
    const old = await rig.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Cloudflare" });
    await rig.call("memory_store_fact", {
      subject: "alice",
      predicate: "drinks",
      content: "tea",
      permanence: "volatile",
      tags: ["food"],
    });
    rig.later(5);
    const now = await rig.call("memory_store_fact", {
      subject: "dns",
      predicate: "provider",
      content: "Route 53",
      source_episode_id: episode.id,
    });
    const { facts, next_cursor } = await api.get("facts");
    expect(next_cursor).toBeNull();
    expect(facts.map((fact: { subject: string; content: string }) => [fact.subject, fact.content])).toEqual([
      ["alice", "tea"],
      ["dns", "Route 53"],
    ]);
    expect(facts[0]).toMatchObject({
      decay_per_day: 0.03,
      permanence: "volatile",
      tags: ["food"],
      sources: 0,
      replaced: 0,
    });
    expect(facts[0].effective_confidence).toBeCloseTo(Math.exp(-0.15), 6);
    expect(facts[1]).toMatchObject({ id: now.id, supersedes_id: old.id, sources: 1, replaced: 1, contradicted: false });

    expect((await api.get("facts?state=superseded")).facts).toMatchObject([{ id: old.id, state: "superseded" }]);
    expect((await api.get("facts?state=all")).facts).toHaveLength(3);
    expect((await api.get("facts?tag=food")).facts).toMatchObject([{ subject: "alice" }]);
    expect((await api.get("facts?subject=DNS")).facts).toMatchObject([{ content: "Route 53" }]);
    expect((await api.get("facts?q=route")).facts).toMatchObject([{ content: "Route 53" }]);
    expect((await api.get("facts?trust=tool")).facts).toEqual([]);
    expect((await api.get("facts?order=newest&limit=1")).facts).toMatchObject([{ id: now.id }]);

    expect((await api.get("facts?as_of=2026-03-04T00:00:00Z")).facts).toMatchObject([
      { subject: "alice" },
      { subject: "dns", content: "Cloudflare", state: "active" },
    ]);
    expect((await api.get("facts?as_of=2026-02-05T00:00:00Z")).facts).toEqual([]);
    expect((await api.get("subjects")).subjects).toEqual([
      { subject: "alice", name: "alice", facts: 1, fading: 0 },
      { subject: "dns", name: "dns", facts: 1, fading: 0 },
    ]);
  });

  it("pages are whole and do not overlap, also when facts are added in between", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    for (let n = 0; n < 9; n++)
      await rig.call("memory_store_fact", { subject: `s${n % 3}`, predicate: `p${n}`, content: `value ${n}` });
    for (const order of ["subject", "newest"]) {
      const seen: string[] = [];
      let cursor = "";
      for (let page = 0; page < 10; page++) {
        const answer = await api.get(`facts?order=${order}&limit=2${cursor}`);
        seen.push(...answer.facts.map((fact: { content: string }) => fact.content));
        if (answer.next_cursor === null) break;
        cursor = `&cursor=${answer.next_cursor}`;
        await rig.call("memory_store_fact", { subject: "a", predicate: `late ${order} ${page}`, content: "late" });
      }
      const values = seen.filter((content) => content.startsWith("value"));
      expect([values.length, new Set(values).size]).toEqual([9, 9]);
    }
    const pages = [await api.get("subjects?limit=2")];
    pages.push(await api.get(`subjects?limit=2&after=${pages[0]?.next}`));
    expect(pages.flatMap(({ subjects }) => subjects.map((one: { subject: string }) => one.subject))).toEqual([
      "a",
      "s0",
      "s1",
      "s2",
    ]);
  });

  it("subjects are found by their beginning, however it is written", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    for (const subject of ["Ada Lovelace", "ada_byron", "Adam", "Bert", "ADA", "x%"])
      await rig.call("memory_store_fact", { subject, predicate: "p", content: subject });
    const begin = async (q: string) =>
      (await api.get(`subjects?q=${encodeURIComponent(q)}`)).subjects.map((one: { name: string }) => one.name);
    expect(await begin("Ada")).toEqual(["ADA", "ada_byron", "Ada Lovelace", "Adam"]);
    expect(await begin("ada b")).toEqual(["ada_byron"]);
    expect(await begin("%")).toEqual([]);
    expect(await begin("x%")).toEqual(["x%"]);
    const { next } = await api.get("subjects?q=ada&limit=2");
    const rest = await api.get(`subjects?q=ada&limit=2&after=${encodeURIComponent(next)}`);
    expect([rest.subjects.length, rest.next]).toEqual([2, null]);
  });

  it("facts and rules are found by who read them", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const metadata = { learned: { by: "reader-1" } };
    // Metadata of an agent's own does not make it a reader.
    await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "told", metadata });
    await rig.call("memory_store_rule", { content: "Ask first." });
    for (const list of ["facts", "rules"]) {
      expect((await api.get(`${list}?reader=reader-1`))[list]).toEqual([]);
      await rig.db.query(`update ${list} set source = 'consolidation:1', metadata = $1`, [JSON.stringify(metadata)]);
      expect((await api.get(`${list}?reader=reader-1`))[list]).toMatchObject([{ reader: "reader-1" }]);
      expect((await api.get(`${list}?reader=patterns`))[list]).toEqual([]);
    }
  });

  it("rules stand on their ladder, with what is missing for the next step", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const rule = await rig.call("memory_store_rule", { content: "Run the tests before a push." });
    for (const session of ["a", "b", "c"])
      await rig.call("memory_mark_helpful", { rule_id: rule.id, session_id: session });
    const bad = await rig.call("memory_store_rule", { content: "Push on Fridays." });
    for (const session of ["a", "b", "c"])
      await rig.call("memory_mark_harmful", { rule_id: bad.id, session_id: session, reason: "It broke." });
    const { rules, ladder } = await api.get("rules");
    expect(ladder).toEqual({ candidate: 1, established: 0, proven: 0, anti_pattern: 1 });
    expect(rules).toMatchObject([
      { id: bad.id, warning: true, original_content: "Push on Fridays.", next_step: null, harmful: 3 },
      { id: rule.id, warning: false, helpful: 3, next_step: { to: "established", helpful: 2, days: 0 } },
    ]);
    expect(rules[1].marks.map((mark: { outcome: string }) => mark.outcome)).toEqual(["helpful", "helpful", "helpful"]);
    expect((await api.get("rules?maturity=anti_pattern")).rules).toMatchObject([{ id: bad.id }]);
    for (const session of ["d", "e"]) await rig.call("memory_mark_helpful", { rule_id: rule.id, session_id: session });
    rig.later(12);
    expect((await api.get("rules?maturity=established")).rules[0].next_step).toEqual({
      to: "proven",
      helpful: 10,
      days: 18,
    });
  });

  it("rules and episodes are shown as they were on a day in the past", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const rule = await rig.call("memory_store_rule", { content: "Push on Fridays." });
    await rig.call("memory_mark_helpful", { rule_id: rule.id, session_id: "a" });
    const kept = await rig.call("memory_store_episode", { content: "Alice drinks tea.", butler: "general" });
    const then = new Date(rig.now.getTime() + 60_000).toISOString();
    rig.later(3);
    for (const session of ["a", "b", "c"])
      await rig.call("memory_mark_harmful", { rule_id: rule.id, session_id: session, reason: "It broke." });
    await rig.call("memory_store_rule", { content: "Use tabs." });
    await rig.call("memory_store_episode", { content: "Bob drinks coffee.", butler: "general" });
    const past = await api.get(`rules?as_of=${then}`);
    expect(past).toMatchObject({ ladder: null, as_of: then, next_cursor: null });
    expect(past.rules).toMatchObject([
      { id: rule.id, content: "Push on Fridays.", warning: false, helpful: 1, harmful: 0 },
    ]);
    expect(past.rules[0].marks).toHaveLength(1);
    expect((await api.get(`rules?as_of=${then}&maturity=anti_pattern`)).rules).toEqual([]);
    expect((await api.get("rules?maturity=anti_pattern")).rules).toMatchObject([{ id: rule.id }]);
    expect((await api.get(`episodes?as_of=${then}`)).episodes).toMatchObject([{ id: kept.id }]);
    expect((await api.get("episodes")).episodes).toHaveLength(2);
  });

  it("episodes tell their tier, where consolidation stands and what they taught", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const first = await rig.call("memory_store_episode", {
      content: "Alice drinks tea.",
      butler: "general",
      session_id: "s1",
    });
    const fact = await rig.call("memory_store_fact", {
      subject: "alice",
      predicate: "drinks",
      content: "tea",
      source_episode_id: first.id,
    });
    const second = await rig.call("memory_store_episode", {
      content: "x".repeat(5_000),
      butler: "general",
      session_id: "s2",
    });
    const { episodes } = await api.get("episodes");
    expect(episodes).toMatchObject([
      { id: second.id, length: 5_000, tier: "eden", consolidation: { status: "pending", attempts: 0 }, taught: [] },
      {
        id: first.id,
        session_id: "s1",
        taught: [{ type: "fact", id: fact.id, relation: "derived_from", state: "active" }],
      },
    ]);
    expect(episodes[0].content.length).toBe(1_200);
    expect((await api.get("episodes?session=s1")).episodes).toHaveLength(1);
    expect((await api.get("episodes?tier=long")).episodes).toEqual([]);
    expect((await api.get("episodes?status=pending&limit=1")).episodes).toHaveLength(1);
  });

  it("one memory comes whole: links with their texts, its life, its chain, and looking counts nothing", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const episode = await rig.call("memory_store_episode", {
      content: "We moved dns.",
      butler: "general",
      session_id: "s1",
    });
    const old = await rig.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Cloudflare" });
    rig.later(1);
    const now = await rig.call("memory_store_fact", {
      subject: "dns",
      predicate: "provider",
      content: "Route 53",
      source_episode_id: episode.id,
    });
    const whole = await api.get(`memories/${now.id}`);
    expect(whole.memory).toMatchObject({ type: "fact", content: "Route 53", state: "active", effective_confidence: 1 });
    expect(whole.links.outbound).toContainEqual(
      expect.objectContaining({ relation: "derived_from", text: "We moved dns.", state: "active" }),
    );
    expect(whole.links.outbound).toContainEqual(
      expect.objectContaining({ relation: "supersedes", id: old.id, state: "superseded" }),
    );
    expect(whole.chain.map((one: { content: string }) => one.content)).toEqual(["Cloudflare", "Route 53"]);
    expect((await api.get(`memories/${old.id}`)).chain).toHaveLength(2);
    expect(whole.life.map((one: { event_type: string }) => one.event_type)).toEqual(["fact.stored"]);
    await rig.settled();
    expect((await api.get(`memories/${now.id}`)).recalled).toEqual({ times: 0, last_at: null, by: [] });
    expect((await api.get("search?q=dns")).results.length).toBeGreaterThan(0);
    await rig.settled();
    expect((await api.get(`memories/${now.id}`)).recalled.times).toBe(0);
    expect((await api.get(`memories/${old.id}?as_of=2026-03-01T13:00:00Z`)).memory).toMatchObject({ state: "active" });
    expect((await api.refused("memories/01990000-0000-7000-8000-000000000000")).status).toBe(404);
  });

  it("a day tells what was learned, by whom, how the month was and what waits", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const episode = await rig.call("memory_store_episode", {
      content: "Alice drinks tea.",
      butler: "general",
      session_id: "s1",
    });
    await rig.call("memory_store_fact", {
      subject: "alice",
      predicate: "drinks",
      content: "tea",
      source_episode_id: episode.id,
    });
    rig.later(2);
    await rig.call("memory_store_fact", { subject: "alice", predicate: "drinks", content: "coffee" });
    await rig.call("memory_store_rule", { content: "Ask before you order." });
    const today = await api.get("today");
    expect(today).toMatchObject({ day: "2026-03-03", learned: { facts: 1, rules: 1, sessions: 0 } });
    expect(today.waiting).toEqual({
      ...{ contradictions: 0, to_review: 0, dead_letters: 0, backlog: 1, backlog_age_hours: 48 },
    });
    expect(today.items.map((one: { event_type: string }) => one.event_type)).toEqual(["rule.stored", "fact.stored"]);
    expect(today.items[1].replaced.text).toContain("tea");
    expect(today.days).toHaveLength(30);
    expect(today.days.slice(-3)).toEqual([
      { day: "2026-03-01", learned: 1, confirmed: 0, superseded: 0, forgotten: 0 },
      { day: "2026-03-02", learned: 0, confirmed: 0, superseded: 0, forgotten: 0 },
      { day: "2026-03-03", learned: 2, confirmed: 0, superseded: 1, forgotten: 0 },
    ]);
    expect((await api.get("today?day=2026-03-01")).learned).toEqual({ facts: 1, rules: 0, sessions: 1 });
    // Twelve hours east of UTC it is midnight: the day has just begun.
    expect(await api.get("today?zone_minutes=720")).toMatchObject({ day: "2026-03-04", learned: { facts: 1 } });
  });

  it("activity is newest first, in pages, with filters", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    for (let n = 0; n < 5; n++)
      await rig.call("memory_store_fact", { subject: "s", predicate: `p${n}`, content: `v${n}` });
    await rig.call("memory_store_rule", { content: "A rule." }, { as: { name: "someone" } });
    const first = await api.get("activity?limit=4");
    const second = await api.get(`activity?limit=4&cursor=${first.next_cursor}`);
    const texts = [...first.events, ...second.events].map((event) => event.memory.text);
    expect(texts).toEqual(["A rule.", "s p4: v4", "s p3: v3", "s p2: v2", "s p1: v1", "s p0: v0"]);
    expect(second.next_cursor).toBeNull();
    expect((await api.get("activity?type=rule")).events).toHaveLength(1);
    expect((await api.get("activity?actor=someone")).events).toHaveLength(1);
    expect((await api.get("activity?event=fact.stored")).events).toHaveLength(5);
  });

  it("stats count every scope for an admin, and only their own for others", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    await rig.call(
      "memory_store_fact",
      { subject: "s", predicate: "p", content: "v" },
      { project: "github.com/acme/app" },
    );
    await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "v" });
    expect((await api.get("stats")).facts.total).toBe(2);
    expect((await api.get("stats", { as: "agent" })).facts.total).toBe(1);
    const held = { facts_waiting: 0, rules: 0, episodes: 0 };
    const nothing = { ...held, contradictions: 0, to_review: 0, dead_letters: 0, backlog: 0 };
    expect(await api.get("counts")).toEqual({ facts: 2, ...nothing });
    expect(await api.get("counts", { as: "agent" })).toEqual({ facts: 1, ...nothing });
    expect(await api.get("counts", { as: "stranger" })).toEqual({ facts: 0, ...nothing });
    expect(await api.get("counts?project=github.com/acme/app")).toEqual({ facts: 1, ...nothing });
    expect((await api.get("facts?project=github.com/acme/app")).facts).toMatchObject([
      { scope: "general/github.com/acme/app" },
    ]);
    expect((await api.get("facts", { as: "agent" })).facts).toHaveLength(1);
  });

  it("the numbers beside every page are those of the pages: facts that have begun, and what is listed to review", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const fact = (predicate: string, content: string, more = {}, as = {}) =>
      rig.call("memory_store_fact", { subject: "office", predicate, content, ...more }, { as });
    await fact("floor", "the third");
    await fact("floor", "the fourth", { valid_from: "2027-01-01" });
    const { total, waiting } = (await api.get("stats")).facts;
    expect([total, waiting]).toEqual([1, 1]);
    expect(await api.get("counts")).toMatchObject({ facts: 1, facts_waiting: 1, to_review: 0 });
    // A tool contradicts what an agent said: the fact waits for a person, and so does what the tool says besides.
    await fact("floor", "the cellar", {}, { voice: "tool" });
    await fact("lift", "broken", {}, { voice: "tool" });
    const listed = await api.get("review");
    expect(listed.items.length).toBeGreaterThan(1);
    expect(await api.get("counts")).toMatchObject({ to_review: listed.items.length });
    expect((await api.get("today")).waiting).toMatchObject({ to_review: listed.items.length });
    expect((await api.get("counts")).facts).toBe((await api.get("stats")).facts.total);
  });
});
