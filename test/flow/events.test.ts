import { describe, expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const lineage = { request_id: "req-1", subrequest_id: "sub-1", segment_id: "seg-1" };
const fact = { subject: "user", predicate: "city", content: "Berlin" };

async function setUp(g: Guest) {
  const rule = await g.call("memory_store_rule", { content: "Deploy on Friday" });
  const live = await g.call("memory_store_fact", fact);
  const gone = await g.call("memory_store_fact", { ...fact, predicate: "pet" });
  await g.call("memory_forget", { id: gone.id });
  await g.call("memory_store_episode", { content: "Already told", session_id: "sess-9" });
  for (let n = 0; n < 2; n++) await g.call("memory_mark_harmful", { rule_id: rule.id, reason: "outage" });
  return { rule: rule.id as string, live: live.id as string, gone: gone.id as string };
}

type Ids = Awaited<ReturnType<typeof setUp>>;
const MUTATIONS: readonly [string, string, (ids: Ids) => object, readonly string[]][] = [
  ["a new episode", "memory_store_episode", () => ({ content: "New" }), ["episode.stored"]],
  ["a repeated episode", "memory_store_episode", () => ({ content: "Already told" }), ["episode.repeated"]],
  ["a new fact", "memory_store_fact", () => ({ ...fact, predicate: "name" }), ["fact.stored"]],
  ["a repeated fact", "memory_store_fact", () => fact, ["fact.repeated"]],
  ["a superseding fact", "memory_store_fact", () => ({ ...fact, content: "Bonn" }), ["fact.superseded", "fact.stored"]],
  ["a new rule", "memory_store_rule", () => ({ content: "Be kind" }), ["rule.stored"]],
  ["a repeated rule", "memory_store_rule", () => ({ content: "deploy on friday" }), ["rule.repeated"]],
  ["a note", "memory_store", () => ({ content: "Note", tier: "mid" }), ["episode.stored"]],
  ["a confirmation", "memory_confirm", (i) => ({ id: i.live }), ["fact.confirmed"]],
  ["a helpful mark", "memory_mark_helpful", (i) => ({ rule_id: i.rule }), ["rule.marked_helpful"]],
  ["an inversion", "memory_mark_harmful", (i) => ({ rule_id: i.rule }), ["rule.marked_harmful", "rule.inverted"]],
  ["forgetting", "memory_forget", (i) => ({ id: i.live }), ["fact.forgotten"]],
  ["restoring", "memory_restore", (i) => ({ id: i.gone }), ["fact.restored"]],
  [
    "a batch",
    "memory_ingest_batch",
    () => ({ episodes: [{ content: "A" }, { content: "B" }] }),
    ["episode.stored", "episode.stored"],
  ],
];

onOneRig("events", (guest) => {
  it.each(MUTATIONS)("%s is told, with its lineage and its actor", async (_, tool, inputOf, types) => {
    const g = guest();
    const ids = await setUp(g);
    const before = (await g.events()).length;
    const request = { as: { name: "token:alice" }, session: "sess-9" };
    const answer = await g.call(tool, { ...inputOf(ids), request_context: lineage }, request);
    expect(answer.request_id).toBe("req-1");
    const told = (await g.events()).slice(before);
    expect(told.map((e) => e.event_type)).toEqual(types);
    for (const event of told)
      expect(event).toMatchObject({
        ...lineage,
        actor: "token:alice",
        butler: "general",
        session_id: "sess-9",
        occurred_at: g.now,
      });
  });

  it.each([
    ["episodes", "memory_store_episode", { content: "Row", tags: ["t"], metadata: { a: 1 }, session_id: "s" }],
    ["facts", "memory_store_fact", { ...fact, tags: ["t"], metadata: { a: { b: null } }, valid_from: "2026-01-01" }],
    ["rules", "memory_store_rule", { content: "Rule", matcher: { path: "*.ts" }, tags: ["t"] }],
  ] as const)("what is stored in %s stands whole in its event", async (table, tool, input) => {
    const g = guest();
    const { id } = await g.call(tool, { ...input, request_context: lineage });
    const [event] = await g.events();
    const [same] = await g.db.query<{ same: boolean; stored: object; told: object }>(
      `select to_jsonb(m) as stored, to_jsonb(r) as told
       from ${table} m, jsonb_populate_record(null::${table}, $2::jsonb) r where m.id = $1`,
      [id, JSON.stringify(event?.payload.row)],
    );
    const told = { ...same?.told } as Record<string, unknown>;
    // The only generated column: it follows from the status.
    if (table === "episodes") told.consolidated = false;
    expect(told).toEqual(same?.stored);
    expect(same?.stored).toMatchObject({ request_id: "req-1" });
  });

  it("a supersession tells both rows' change and the links", async () => {
    const g = guest();
    const { id: source } = await g.call("memory_store_episode", { content: "He moved" });
    const old = await g.call("memory_store_fact", fact);
    const now = await g.call("memory_store_fact", { ...fact, content: "Bonn", source_episode_id: source });
    const [superseded, stored] = (await g.events()).slice(-2);
    expect(superseded).toMatchObject({
      entity_id: old.id,
      payload: { from: "active", set: { validity: "superseded" }, superseded_by: now.id },
    });
    const links = stored?.payload.links as { relation: string; target_id: string }[];
    expect(links.map((l) => [l.relation, l.target_id])).toEqual([
      ["derived_from", source],
      ["supersedes", old.id],
    ]);
  });

  describe("the table", () => {
    it.each([
      "update memory_events set actor = 'mallory' where tenant_id = $1",
      "delete from memory_events where tenant_id = $1",
    ])("refuses %s", async (statement) => {
      const g = guest();
      await g.call("memory_store_fact", fact);
      await expect(g.db.query(statement, [g.tenant])).rejects.toMatchObject({ code: "23000" });
      expect(await g.events()).toHaveLength(1);
    });

    it("refuses truncate", async () => {
      const g = guest();
      await g.call("memory_store_fact", fact);
      await expect(g.db.query("truncate memory_events cascade")).rejects.toMatchObject({ code: "23000" });
    });
  });

  it("a write that fails leaves no row and no event", async () => {
    const g = guest();
    await g.call("memory_store_fact", fact);
    const sizes = async () => Promise.all(["facts", "memory_links", "memory_events", "idempotency_keys"].map(g.count));
    const before = await sizes();
    const missing = "0198c0de-1234-7abc-8def-0123456789ab";
    await g.refused(
      "memory_store_fact",
      { ...fact, content: "Bonn", source_episode_id: missing },
      { idempotencyKey: "k" },
    );
    expect(await sizes()).toEqual(before);
    // The last statement of the transaction fails: the fact and its predecessor must both be as before.
    await g.db.exec(
      `create function refuse_${g.tenant}() returns trigger language plpgsql as $$
         begin if new.tenant_id = '${g.tenant}' then raise exception 'full' using errcode = '53100'; end if; return new; end $$;
       create trigger refuse_${g.tenant} before insert on memory_events for each row execute function refuse_${g.tenant}()`,
    );
    expect((await g.refused("memory_store_fact", { ...fact, content: "Bonn" })).code).toBe("unavailable");
    expect((await g.refused("memory_store_episode", { content: "x" })).code).toBe("unavailable");
    await g.db.exec(`drop trigger refuse_${g.tenant} on memory_events; drop function refuse_${g.tenant}()`);
    expect(await sizes()).toEqual(before);
    expect((await g.call("memory_store_fact", fact)).status).toBe("confirmed");
  });

  it("history of one memory is told in order by memory_get", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", fact);
    await g.call("memory_confirm", { id, request_context: { request_id: "r2" } });
    await g.call("memory_forget", { id });
    const { history } = await g.call("memory_get", { id });
    expect(history.map((h: { event_type: string }) => h.event_type)).toEqual([
      "fact.stored",
      "fact.confirmed",
      "fact.forgotten",
    ]);
    expect(history[1]).toMatchObject({ request_id: "r2", actor: "test" });
  });
});
