/** What was known then, whatever has happened since. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { jobs } from "../../src/engine/memory/keep/jobs.ts";
import { live, steps } from "../support/history.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const MONDAY = "2026-03-02T09:00:00.000Z";
const TUESDAY = "2026-03-03T12:00:00.000Z";
const LATER = "2026-03-20T09:00:00.000Z";

type Row = { id: string; type: string; content: string; state: string };

async function found(g: Guest, query: string, as_of?: string, more = {}): Promise<Row[]> {
  const answer = await g.call("memory_search", { query, ...(as_of === undefined ? {} : { as_of }), ...more });
  expect(answer.as_of).toBe(as_of === undefined ? undefined : new Date(as_of).toISOString());
  return answer.results;
}

const contents = async (...asked: Parameters<typeof found>) => (await found(...asked)).map((r) => r.content);

onOneRig("as_of", (guest) => {
  it("believes on Tuesday what was believed on Tuesday", async () => {
    const g = guest();
    g.set(MONDAY);
    const berlin = await g.call("memory_store_fact", { subject: "Ann", predicate: "lives in", content: "Berlin" });
    g.set(LATER);
    const rome = await g.call("memory_store_fact", { subject: "Ann", predicate: "lives in", content: "Rome" });

    expect(await contents(g, "where does Ann live")).toEqual(["Rome"]);
    expect(await found(g, "where does Ann live", TUESDAY)).toMatchObject([{ id: berlin.id, state: "active" }]);
    expect(await contents(g, "where does Ann live", "2026-03-01T23:59:59.000Z")).toEqual([]);
    expect(await contents(g, "where does Ann live", LATER)).toEqual(["Rome"]);

    const then = await g.call("memory_get", { id: berlin.id, as_of: TUESDAY });
    expect(then).toMatchObject({ as_of: TUESDAY, memory: { state: "active", superseded_at: null, content: "Berlin" } });
    expect(then.links).toEqual({ outbound: [], inbound: [] });
    expect(then.history.map((h: { event_type: string }) => h.event_type)).toEqual(["fact.stored"]);
    const now = await g.call("memory_get", { id: berlin.id });
    expect(now).toMatchObject({ memory: { state: "superseded" }, links: { inbound: [{ relation: "supersedes" }] } });
    expect(now).not.toHaveProperty("as_of");
    expect((await g.refused("memory_get", { id: rome.id, as_of: TUESDAY })).code).toBe("not_found");
  });

  it("keeps valid time and known time apart", async () => {
    const g = guest();
    g.set(MONDAY);
    await g.call("memory_store_fact", {
      subject: "office",
      predicate: "address",
      content: "Mill Lane 4",
      valid_to: "2026-03-10",
    });
    g.set(LATER);
    await g.call("memory_store_fact", {
      subject: "office",
      predicate: "address",
      content: "Dock Road 9",
      valid_from: "2026-01-01",
    });
    expect(await contents(g, "office address", TUESDAY)).toEqual(["Mill Lane 4"]);
    // Its validity had ended, and what took its place was not known yet.
    expect(await contents(g, "office address", "2026-03-12")).toEqual([]);
    expect(await contents(g, "office address")).toEqual(["Dock Road 9"]);
  });

  it("shows a rule as it stood before it was turned into a warning", async () => {
    const g = guest();
    g.set(MONDAY);
    const { id } = await g.call("memory_store_rule", { content: "Deploy on Friday evening" });
    g.set("2026-03-03T10:00:00.000Z");
    await g.call("memory_mark_harmful", { rule_id: id, reason: "outage" });
    g.set(LATER);
    for (const reason of ["outage", "nobody there"]) await g.call("memory_mark_harmful", { rule_id: id, reason });
    expect(await found(g, "deploy friday")).toMatchObject([{ maturity: "anti_pattern", warning: true }]);
    expect(await found(g, "deploy friday", TUESDAY)).toMatchObject([
      { content: "Deploy on Friday evening", maturity: "candidate", warning: false },
    ]);
    // By meaning alone: the vector of today is the warning's, so the old words are embedded anew.
    const [near] = (await g
      .call("memory_search", {
        query: "Deploy on Friday evening",
        mode: "semantic",
        as_of: TUESDAY,
        explain: true,
      })
      .then((a) => a.results)) as { explain: { cosine: number } }[];
    expect(near?.explain.cosine).toBeCloseTo(1, 3);
    const then = await g.call("memory_get", { id, as_of: TUESDAY });
    expect(then.memory).toMatchObject({
      harmful_count: 1,
      original_content: null,
      content: "Deploy on Friday evening",
    });
  });

  it("knows what was forgotten since, and hides what was forgotten then", async () => {
    const g = guest();
    g.set(MONDAY);
    const { id } = await g.call("memory_store_fact", { subject: "cat", predicate: "name", content: "Molly" });
    g.set("2026-03-05T09:00:00.000Z");
    await g.call("memory_forget", { id, reason: "wrong cat" });
    g.set("2026-03-10T09:00:00.000Z");
    await g.call("memory_restore", { id });
    g.set(LATER);
    expect(await contents(g, "cat name", TUESDAY)).toEqual(["Molly"]);
    expect(await contents(g, "cat name", "2026-03-07")).toEqual([]);
    expect(await contents(g, "cat name", "2026-03-11")).toEqual(["Molly"]);
    const hidden = await g.call("memory_get", { id, as_of: "2026-03-07" });
    expect(hidden.memory).toMatchObject({ state: "retracted", forget_reason: "wrong cat" });
  });

  it("shows episodes that are deleted by now, and none that had expired then", async () => {
    const g = guest();
    g.set(MONDAY);
    const told = { content: "The printer in room nine caught fire" };
    const first = await g.call("memory_store_episode", told);
    g.set(LATER);
    // Its twin takes its place: the first row is gone.
    const second = await g.call("memory_store_episode", told);
    expect(second.id).not.toBe(first.id);
    expect(await g.row("episodes", first.id)).toBeUndefined();
    expect((await found(g, "printer fire", TUESDAY)).map((r) => r.id)).toEqual([first.id]);
    expect((await found(g, "burning office machine", TUESDAY, { mode: "semantic" })).map((r) => r.id)).toEqual([
      first.id,
    ]);
    expect(await found(g, "printer fire", "2026-03-15")).toEqual([]);
    expect((await found(g, "printer fire")).map((r) => r.id)).toEqual([second.id]);
    expect((await g.call("memory_get", { id: first.id, as_of: TUESDAY })).memory).toMatchObject({ tier: "eden" });
    expect((await g.refused("memory_get", { id: first.id, as_of: "2026-03-15" })).code).toBe("not_found");
  });

  it("fades by the clock of then", async () => {
    const g = guest();
    g.set(MONDAY);
    const fact = { subject: "train", predicate: "leaves at", content: "seven", permanence: "ephemeral" };
    const { id } = await g.call("memory_store_fact", fact);
    g.later(30);
    expect(await found(g, "train leaves")).toEqual([]);
    const [then] = await found(g, "train leaves", TUESDAY);
    expect(then).toMatchObject({ id, effective_confidence: expect.closeTo(Math.exp(-0.1 * 1.125), 9) });
    expect(await found(g, "train leaves", "2026-03-25")).toEqual([]);
    expect(await found(g, "train leaves", "2026-03-25", { min_confidence: 0.05 })).toHaveLength(1);
  });

  it("gives the context of that day, the same bytes each time", async () => {
    const g = guest();
    g.set(MONDAY);
    const lasting = { permanence: "permanent", importance: 9 };
    await g.call("memory_store_fact", { subject: "user", predicate: "name", content: "Ann", ...lasting });
    await g.call("memory_store_fact", { subject: "user", predicate: "lives in", content: "Berlin" });
    await g.call("memory_store_episode", { content: "Looked for a flat in Berlin", occurred_at: "2026-02-20" });
    const { id } = await g.call("memory_store_rule", { content: "Answer in German when asked about flats" });
    g.set(TUESDAY);
    const asked = { trigger_prompt: "Where in Berlin does the user live, and which flats are there?" };
    const that = await g.call("memory_context", asked);
    await g.settled();
    g.set(LATER);
    await g.call("memory_store_fact", { subject: "user", predicate: "lives in", content: "Rome" });
    await g.call("memory_store_fact", { subject: "user", predicate: "name", content: "Anna", ...lasting });
    await g.call("memory_forget", { id });
    await g.call("memory_context", asked);
    await g.settled();
    for (let n = 0; n < 2; n++) {
      const then = await g.call("memory_context", { ...asked, as_of: TUESDAY });
      expect(then.text).toBe(that.text);
      expect(then.hash).toBe(that.hash);
      expect(then.as_of).toBe(TUESDAY);
      expect(then).not.toHaveProperty("degraded");
    }
    expect(that.text).toContain("Berlin");
    expect((await g.call("memory_context", asked)).text).toContain("Rome");
    const batch = await g.call("memory_context_batch", { requests: [{ ...asked, as_of: TUESDAY }, asked] });
    expect(batch.responses[0]).toMatchObject({ ok: true, text: that.text });
  });

  it("counts no reference, and shows the references of then", async () => {
    const g = guest();
    g.set(MONDAY);
    const { id } = await g.call("memory_store_fact", { subject: "tea", predicate: "kind", content: "green" });
    await g.call("memory_search", { query: "tea kind" });
    g.set(TUESDAY);
    await g.call("memory_search", { query: "tea kind" });
    await g.settled();
    g.set(LATER);
    await g.call("memory_search", { query: "tea kind" });
    await g.settled();
    const before = await g.row("facts", id);
    const events = (await g.events()).length;
    await found(g, "tea kind", TUESDAY);
    await g.call("memory_get", { id, as_of: TUESDAY });
    await g.call("memory_context", { trigger_prompt: "tea kind", as_of: TUESDAY });
    await g.settled();
    expect(await g.row("facts", id)).toEqual(before);
    expect((await g.events()).length).toBe(events);
    expect((await g.call("memory_get", { id, as_of: TUESDAY })).memory).toMatchObject({
      reference_count: 2,
      last_referenced_at: TUESDAY,
      prior_referenced_at: MONDAY,
    });
    expect((await g.call("memory_get", { id, as_of: MONDAY })).memory).toMatchObject({
      reference_count: 1,
      prior_referenced_at: null,
    });
  });

  it("keeps scopes and tenants apart in the past too", async () => {
    const g = guest();
    g.set(MONDAY);
    const secret = { subject: "safe", predicate: "code word", content: "walnut", scope: "other" };
    const { id } = await g.call("memory_store_fact", secret, { as: { admin: true } });
    g.set(LATER);
    expect(await found(g, "safe code word", TUESDAY)).toEqual([]);
    expect((await g.refused("memory_get", { id, as_of: TUESDAY })).code).toBe("not_found");
    const everywhere = { query: "safe code word", as_of: TUESDAY, scope: "*" };
    expect((await g.refused("memory_search", everywhere)).code).toBe("forbidden");
    const admin = await g.call("memory_search", everywhere, { as: { admin: true } });
    expect(admin.results).toMatchObject([{ id }]);
    const stranger = await g.refused("memory_get", { id, as_of: TUESDAY }, { as: { tenant: "stranger", admin: true } });
    expect(stranger.code).toBe("not_found");
  });

  it("filters by type, tag and tier as a search of now does", async () => {
    const g = guest();
    g.set(MONDAY);
    await g.call("memory_store_episode", { content: "Walk by the harbour", tags: ["walk", "sea"] });
    await g.call("memory_store", { content: "Harbour opens at six", tier: "mid" });
    await g.call("memory_store_rule", { content: "Take the harbour road", tags: ["walk"] });
    g.set(LATER);
    expect(await contents(g, "harbour", TUESDAY, { tags: ["walk", "sea"] })).toEqual(["Walk by the harbour"]);
    expect(await contents(g, "harbour", TUESDAY, { tier: "mid" })).toEqual(["Harbour opens at six"]);
    expect(await contents(g, "harbour", TUESDAY, { types: ["rule"] })).toEqual(["Take the harbour road"]);
    expect(await found(g, "harbour", TUESDAY, { limit: 1, mode: "keyword" })).toHaveLength(1);
  });

  it.each([
    ["not a time", "Tuesday", "invalid_input"],
    ["a day that is not", "2026-02-30", "invalid_input"],
    ["the future", "2026-03-21", "invalid_input"],
    ["nothing", "", "invalid_input"],
  ])("refuses %s, and says which field", async (_, as_of, code) => {
    const g = guest();
    g.set(LATER);
    const inputs = {
      memory_search: { query: "x" },
      memory_context: { trigger_prompt: "x" },
      memory_get: { id: "0198c0de-1234-7abc-8def-0123456789ab" },
    };
    for (const [tool, input] of Object.entries(inputs)) {
      const refusal = await g.refused(tool, { ...input, as_of });
      expect(refusal, tool).toMatchObject({ code, field: "as_of" });
    }
  });

  it("says not_found for an id that nobody ever stored", async () => {
    const g = guest();
    const refusal = await g.refused("memory_get", {
      id: "0198c0de-1234-7abc-8def-0123456789ab",
      as_of: "2026-03-01T11:00:00Z",
    });
    expect(refusal).toMatchObject({ code: "not_found", message: expect.stringContaining("2026-03-01T11:00") });
  });
});

interface Read {
  readonly id: string;
  readonly relevance: number;
  readonly explain: { readonly reranked: string; readonly signals: Record<string, { raw: number; weight: number }> };
}

/** What the reranker made of each, best first; how often a memory was read may differ. */
async function readings(g: Guest, query: string, more = {}): Promise<Read[]> {
  const answer = await g.call("memory_search", { query, limit: 50, explain: true, ...more });
  expect(answer).not.toHaveProperty("degraded");
  return (answer.results as Read[]).map(({ id, relevance, explain: { reranked, signals } }) => ({
    id,
    relevance,
    explain: { reranked, signals },
  }));
}

const turn = (session_id: string, speaker: string, content: string) => ({ session_id, speaker, content });

const TALK = [
  turn("picnic", "Ada", "Grace, did you find a place for the picnic?"),
  turn("picnic", "Alan", "Grace said the meadow behind the mill."),
  turn("picnic", "Ada", "Then I bring lemonade and the chess board."),
  turn("picnic", "Alan", "What time shall we meet?"),
  turn("picnic", "Ada", "At noon, Alan, by the gate."),
  turn("repair", "Emmy", "Who mended the clock in the hall?"),
  turn("repair", "Ada", "I did, with a spring from the old music box."),
  turn("repair", "Emmy", "It runs four minutes fast."),
  turn("repair", "Ada", "Then I shall ask Alan for a longer pendulum."),
];
const QUESTIONS = ["What does Ada bring to the picnic?", "Where did Grace find a place?", "Is the clock of Alan fast?"];

onOneRig("as_of among people who speak", (guest) => {
  async function talked(): Promise<Guest> {
    const g = guest();
    g.set(MONDAY);
    await g.call("memory_ingest_batch", { episodes: TALK });
    await g.call("memory_store_fact", { subject: "Ada", predicate: "likes", content: "chess at the picnic" });
    await g.call("memory_store_rule", { content: "Ask Alan before mending a clock" });
    g.set(TUESDAY);
    return g;
  }

  it("reads a session closely, then as now", async () => {
    const g = await talked();
    for (const query of QUESTIONS) {
      const then = await readings(g, query, { as_of: TUESDAY });
      expect(then).toEqual(await readings(g, query));
      expect(then.map(({ explain }) => explain.reranked)).toEqual(then.map(() => "late-interaction"));
    }
    const [first] = await readings(g, "What does Ada bring to the picnic?", { as_of: TUESDAY });
    expect(first?.explain.signals).toMatchObject({ speaker: { raw: 1 }, person: { raw: 1 }, tokens: { weight: 1 } });
  });

  it("knows only the speakers of then, and their turns after they are gone", async () => {
    const g = await talked();
    const before = new Map<string, Read[]>();
    for (const query of QUESTIONS) before.set(query, await readings(g, query));
    await g.settled();
    g.set(LATER);
    // Expired by now, all of them: three make room for their twins, cleanup deletes the rest, and vectors go with rows.
    await g.call("memory_ingest_batch", {
      episodes: [
        ...TALK.slice(0, 3),
        turn("picnic", "Grace", "The meadow is under water"),
        turn("fair", "Grace", "Come!"),
      ],
    });
    for (const job of jobs) await job.run({ memory: g.memory, now: g.now, dryRun: false, interrupted: () => false });
    for (const [query, that] of before) {
      const then = await readings(g, query, { as_of: TUESDAY });
      expect(then.map(({ id }) => id)).toEqual(that.map(({ id }) => id));
      for (const [index, { relevance, explain }] of then.entries()) {
        const same = that[index];
        // Stored vectors are halves, those made anew are not: cosines differ in the fourth digit.
        expect(relevance).toBeCloseTo(same?.relevance ?? -1, 3);
        expect(explain.signals.tokens?.raw).toBeCloseTo(same?.explain.signals.tokens?.raw ?? -1, 9);
        expect(explain.signals.meaning?.raw).toBeCloseTo(same?.explain.signals.meaning?.raw ?? -1, 3);
        expect(explain.signals.person).toEqual(same?.explain.signals.person);
      }
    }
    expect(await g.row("episodes", before.get(QUESTIONS[0] ?? "")?.[0]?.id ?? "")).toBeUndefined();
  });
});

const QUERY = "Berlin or Rome, deploy on friday with Ann";
const MODES = [
  { mode: "keyword" },
  { mode: "keyword", rank: "composite", types: ["fact", "rule"] },
  { mode: "hybrid" },
  { mode: "hybrid", rank: "composite", tags: ["a"] },
  { mode: "semantic", min_confidence: 0.05 },
];

for (const [name, options] of [
  ["without a model", { model: false }],
  ["with the model", {}],
  ["not reranked", { settings: { retrieval: { rerank: "none" } } }],
] as const)
  onOneRig(
    `as_of the present moment, ${name},`,
    (guest) => {
      it("answers like now, after any life", async () => {
        await fc.assert(
          fc.asyncProperty(steps(40), async (drawn) => {
            const g = guest();
            await live(g, drawn);
            const as_of = g.now.toISOString();
            for (const more of MODES) {
              const asked = { query: QUERY, limit: 200, explain: true, ...more };
              const then = await g.call("memory_search", { ...asked, as_of });
              const now = await g.call("memory_search", asked);
              expect(then.results).toEqual(now.results);
              expect(then.degraded).toBe(now.degraded);
              await g.settled();
            }
            const then = await g.call("memory_context", { trigger_prompt: QUERY, as_of });
            const now = await g.call("memory_context", { trigger_prompt: QUERY });
            expect(then.text).toBe(now.text);
          }),
          { numRuns: 4, seed: 20260302, endOnFailure: true },
        );
      });
    },
    options,
  );
