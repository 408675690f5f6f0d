/** The future is not now: a fact with `valid_from` ahead waits for its day, and then takes its place by itself. */
import { expect, it } from "vitest";
import { decaySweep } from "../../src/engine/memory/keep/decay-sweep.ts";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const lives = (content: string, valid_from?: string, more: object = {}) => ({
  ...{ subject: "user", predicate: "lives_in", content, importance: 9, permanence: "stable" },
  ...(valid_from === undefined ? {} : { valid_from }),
  ...more,
});
const JUNE = "2026-06-01T00:00:00.000Z";
const JULY = "2026-07-01T00:00:00.000Z";
const BEFORE = "2026-05-31T23:59:59.999Z";

/** What search, recall and the context say, each by itself; they must agree. */
async function told(h: Rig, as_of?: string): Promise<string[]> {
  const then = as_of === undefined ? {} : { as_of };
  const found = async (tool: string, input: object) =>
    ((await h.call(tool, input)).results as { type: string; content: string }[])
      .filter(({ type }) => type === "fact")
      .map(({ content }) => content)
      .toSorted();
  const searched = await found("memory_search", {
    query: "Where does the user live? lives in",
    min_relevance: 0,
    ...then,
  });
  const { text } = await h.call("memory_context", { trigger_prompt: "Where does the user live? lives in", ...then });
  const lines = (text as string).split("\n").filter((line) => line.startsWith("- user / lives"));
  const known = ["Berlin", "Porto", "Lisbon", "Graz"]
    .filter((town) => lines.some((line) => line.includes(town)))
    .toSorted();
  expect(known).toEqual(searched);
  if (as_of === undefined) expect(await found("memory_recall", { topic: "lives in" })).toEqual(searched);
  return searched;
}

async function isReplayed(h: Rig): Promise<boolean> {
  await h.settled();
  return (await verifyInScratch(h.db)).equal;
}

const stateOf = async (h: Rig, id: string) => (await h.call("memory_get", { id })).memory as Record<string, unknown>;

onEachStore("facts of a day ahead", (open) => {
  it("leave the present one live until then, are told from that moment on, and take its place in the next job", async () => {
    const h = await open({ model: false });
    const berlin = await h.call("memory_store_fact", lives("Berlin"));
    const porto = await h.call("memory_store_fact", lives("Porto", JUNE));
    expect(porto).toMatchObject({ status: "created", superseded_id: null, begins: JUNE });
    expect(await told(h)).toEqual(["Berlin"]);
    expect((await h.call("memory_stats", {})).facts).toMatchObject({ total: 1, waiting: 1, by_state: { active: 1 } });

    h.set(BEFORE);
    expect((await runJob(h, promote)).counts).toEqual({});
    await runJob(h, decaySweep);
    expect(await told(h)).toEqual(["Berlin"]);

    h.set(JUNE);
    expect(await told(h)).toEqual(["Porto"]);
    expect(await stateOf(h, berlin.id)).toMatchObject({ state: "active" });
    expect((await h.call("memory_why", { id: berlin.id, query: "Berlin" })).verdict).toContain(porto.id);
    expect((await promote.dueAt?.(h.memory, h.now))?.toISOString()).toBe(JUNE);
    expect((await runJob(h, promote, { dryRun: true })).counts).toEqual({ facts_began: 1 });
    expect((await runJob(h, promote)).counts).toEqual({ facts_began: 1 });
    expect((await runJob(h, decaySweep)).counts.facts_began).toBeUndefined();
    expect(await promote.dueAt?.(h.memory, h.now)).toBeUndefined();
    expect(await told(h)).toEqual(["Porto"]);
    expect(await stateOf(h, berlin.id)).toMatchObject({ state: "superseded" });
    expect(await stateOf(h, porto.id)).toMatchObject({ state: "active", supersedes_id: berlin.id, waits_until: null });
    expect(await h.db.query("select 1 from memory_links where relation = 'supersedes'")).toHaveLength(1);

    for (const [moment, town] of [
      [BEFORE, "Berlin"],
      [JUNE, "Porto"],
    ] as const)
      expect(await told(h, moment)).toEqual([town]);
    expect(await isReplayed(h)).toBe(true);
  });

  it("are taken for what they are by whoever writes on or after their day, before any job has run", async () => {
    const h = await open({ model: false });
    await h.call("memory_store_fact", lives("Berlin"));
    const porto = await h.call("memory_store_fact", lives("Porto", JUNE));
    h.set(JULY);
    expect(await h.call("memory_store_fact", lives("porto"))).toMatchObject({ status: "confirmed", id: porto.id });
    expect(await h.call("memory_store_fact", lives("Graz"))).toMatchObject({
      status: "superseded",
      superseded_id: porto.id,
    });
    expect(await told(h)).toEqual(["Graz"]);
    expect(await isReplayed(h)).toBe(true);
  });

  it("are replaced by the last word about the same plan, and stand beside plans for other days", async () => {
    const h = await open({ model: false });
    const june = await h.call("memory_store_fact", lives("Porto", JUNE));
    expect(await h.call("memory_store_fact", lives("porto.", JUNE))).toMatchObject({
      status: "confirmed",
      id: june.id,
    });
    const postponed = await h.call("memory_store_fact", lives("Porto", JULY));
    expect(postponed).toMatchObject({ status: "superseded", superseded_id: june.id, begins: JULY });
    const other = await h.call("memory_store_fact", lives("Lisbon", JULY));
    expect(other).toMatchObject({ status: "superseded", superseded_id: postponed.id });
    await h.call("memory_store_fact", lives("Graz", JUNE));
    expect(await told(h)).toEqual([]);
    h.set(JUNE);
    expect(await told(h)).toEqual(["Graz"]);
    h.set(JULY);
    expect(await told(h)).toEqual(["Lisbon"]);
    expect((await runJob(h, decaySweep)).counts).toMatchObject({ facts_began: 1 });
    expect(await told(h)).toEqual(["Lisbon"]);
    expect(await h.db.query("select 1 from facts where validity in ('active', 'fading')")).toHaveLength(1);
  });

  it("do not fade before they begin, and can be confirmed, forgotten and restored while they wait", async () => {
    const h = await open({ model: false });
    await h.call("memory_store_fact", lives("Berlin"));
    const far = await h.call("memory_store_fact", lives("Porto", "2027-03-01T00:00:00Z", { permanence: "volatile" }));
    h.later(60);
    expect((await h.call("memory_confirm", { id: far.id })).last_confirmed_at).toBe("2027-03-01T00:00:00.000Z");
    await h.call("memory_forget", { id: far.id });
    h.later(1);
    expect(await h.call("memory_restore", { id: far.id })).toMatchObject({ state: "active" });
    expect(await told(h)).toEqual(["Berlin"]);
    h.set("2027-02-28T00:00:00Z");
    await runJob(h, decaySweep);
    h.set("2027-03-02T00:00:00Z");
    expect(await told(h)).toEqual(["Porto"]);
    await h.call("memory_forget", { id: far.id });
    expect(await told(h)).toEqual(["Berlin"]);
    expect(await h.call("memory_restore", { id: far.id }).catch((error) => error.message)).toContain("now holds");
    expect(await isReplayed(h)).toBe(true);
  });

  it("do not take the place of a better source's word", async () => {
    const h = await open({ model: false });
    const plan = await h.call("memory_store_fact", lives("Porto", JUNE), { as: { voice: "agent" } });
    await h.call("memory_store_fact", lives("Berlin"), { as: { voice: "user" } });
    h.set(JUNE);
    expect(await told(h)).toEqual(["Berlin"]);
    await runJob(h, promote);
    expect(await told(h)).toEqual(["Berlin"]);
    expect(await stateOf(h, plan.id)).toMatchObject({ state: "expired" });
    expect(await isReplayed(h)).toBe(true);
  });

  it("are learned as such", async () => {
    const h = await open({ model: false });
    await h.call("memory_store_fact", { ...lives("Berlin"), scope: "general" }, { as: { voice: "user" } });
    await h.call(
      "memory_store_episode",
      { content: "I live in Berlin and move to Porto in June.", speaker: "user" },
      { as: { voice: "user" } },
    );
    const given = await h.call("memory_consolidate", {}, { as: { voice: "user" } });
    const learned = {
      subject: "user",
      predicate: "home",
      content: "Porto",
      permanence: "stable",
      valid_from: "2026-06-01",
    };
    const fact = { ...learned, importance: 9, episodes: ["e1"], supersedes: "f1" };
    const answer = { run_id: given.run_id, facts: [fact] };
    expect((await h.call("memory_consolidate", answer, { as: { voice: "user" } })).counts).toMatchObject({
      facts_created: 1,
    });
    expect(await told(h)).toEqual(["Berlin"]);
    h.set(JUNE);
    expect(await told(h)).toEqual(["Porto"]);
    await runJob(h, promote);
    expect(await told(h)).toEqual(["Porto"]);
    expect(await isReplayed(h)).toBe(true);
  });

  it("are at most one for each key and moment, and one is true now: the database holds it", async () => {
    const h = await open({ model: false });
    await h.call("memory_store_fact", lives("Berlin"));
    await h.call("memory_store_fact", lives("Porto", JUNE));
    const copy = (set: string) =>
      h.db.query(`insert into facts select (f).* from (
        select jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid()) || ${set}) as f from facts t) as c`);
    await expect(copy("'{}'")).rejects.toMatchObject({ code: "23505" });
    await expect(copy(`'{"waits_until": null, "valid_from": null}'`)).rejects.toMatchObject({ code: "23505" });
    await expect(copy(`'{"waits_until": "2026-08-01T00:00:00Z"}'`)).rejects.toMatchObject({ code: "23514" });
  });
});
