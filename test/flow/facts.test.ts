import { describe, expect, it } from "vitest";
import { DECAY_PER_DAY, PERMANENCE } from "../../src/engine/domain/lifecycle/decay.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const home = { subject: "user", predicate: "lives_in", content: "Berlin" };
const found = async (g: Guest, query: string, extra = {}) =>
  (await g.call("memory_search", { query, types: ["fact"], ...extra })).results.map((r: { id: string }) => r.id);

onOneRig("facts", (guest) => {
  it("creates, and the same meaning in other clothes confirms", async () => {
    const g = guest();
    const first = await g.call("memory_store_fact", home);
    expect(first).toMatchObject({ status: "created", superseded_id: null, state: "active", predicate: "lives in" });
    g.later(3);
    for (const [subject, predicate, content] of [
      ["User", "Lives In", "berlin"],
      [" user ", "lives-in", "  Berlin. "],
      ["USER", "LIVES_IN", '"Berlin!"'],
    ])
      expect(await g.call("memory_store_fact", { subject, predicate, content })).toMatchObject({
        id: first.id,
        status: "confirmed",
        state: "active",
      });
    expect(await g.count("facts")).toBe(1);
    const row = await g.row("facts", first.id);
    expect(row).toMatchObject({ subject: "user", subject_text: "user", predicate_text: "lives_in", content: "Berlin" });
    expect(row?.last_confirmed_at).toEqual(g.now);
    expect((await g.events()).map((e) => e.event_type)).toEqual(["fact.stored", ...Array(3).fill("fact.repeated")]);
  });

  it("supersedes with a link, a date and two events", async () => {
    const g = guest();
    const old = await g.call("memory_store_fact", home);
    g.later(1);
    const now = await g.call("memory_store_fact", { ...home, content: "Hamburg" });
    expect(now).toMatchObject({ status: "superseded", superseded_id: old.id, state: "active" });
    expect(await g.row("facts", old.id)).toMatchObject({ validity: "superseded", superseded_at: g.now });
    expect(await g.row("facts", now.id)).toMatchObject({ validity: "active", supersedes_id: old.id });
    const { links } = await g.call("memory_get", { id: now.id });
    expect(links.outbound).toMatchObject([{ relation: "supersedes", type: "fact", id: old.id }]);
    expect((await g.call("memory_get", { id: old.id })).links.inbound).toMatchObject([{ id: now.id }]);
    expect((await g.events()).map((e) => [e.event_type, e.entity_id]).slice(0, 3)).toEqual([
      ["fact.stored", old.id],
      ["fact.superseded", old.id],
      ["fact.stored", now.id],
    ]);
    expect(await found(g, "where does the user live")).toEqual([now.id]);
    await g.settled();
  });

  it("keeps several values apart when the predicate carries its object", async () => {
    const g = guest();
    const tea = await g.call("memory_store_fact", {
      subject: "user",
      predicate: "likes:green tea",
      content: "Likes it",
    });
    const jazz = await g.call("memory_store_fact", { subject: "user", predicate: "likes: jazz", content: "Likes it" });
    const again = await g.call("memory_store_fact", {
      subject: "user",
      predicate: "Likes : Green_Tea",
      content: "likes it.",
    });
    expect([tea.status, jazz.status, again.status]).toEqual(["created", "created", "confirmed"]);
    expect(again.id).toBe(tea.id);
  });

  it("takes what is told explicitly into a confirmation", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { ...home, confidence: 0.6 });
    const until = "2026-05-01T00:00:00.000Z";
    await g.call("memory_store_fact", {
      ...home,
      permanence: "stable",
      importance: 9,
      confidence: 0.9,
      valid_to: until,
    });
    expect(await g.row("facts", id)).toMatchObject({
      permanence: "stable",
      decay_rate: 0.002,
      importance: 9,
      confidence: 0.9,
      valid_to: new Date(until),
    });
    await g.call("memory_store_fact", { ...home, confidence: 0.1 });
    expect(await g.row("facts", id)).toMatchObject({ confidence: 0.9, permanence: "stable" });
    await g.call("memory_store_fact", { ...home, valid_from: "2026-02-01" });
    expect(await g.row("facts", id)).toMatchObject({ valid_from: new Date("2026-02-01") });
    // What is true now stays so, also when it is said of a day ahead.
    expect(await g.call("memory_store_fact", { ...home, valid_from: "2026-04-01" })).toMatchObject({ id });
    expect(await g.row("facts", id)).toMatchObject({ valid_from: new Date("2026-02-01"), waits_until: null });
    g.set("2026-05-01T00:00:01Z");
    expect(await found(g, "where does the user live")).toEqual([]);
  });

  it("says a thing anew when what was known of it had ended", async () => {
    const g = guest();
    const trip = { subject: "user", predicate: "is_in", content: "Paris for the week" };
    const first = await g.call("memory_store_fact", { ...trip, valid_to: "2026-03-08" });
    expect(await found(g, "user in Paris")).toEqual([first.id]);
    g.later(30);
    expect(await found(g, "user in Paris")).toEqual([]);
    const second = await g.call("memory_store_fact", trip);
    expect(second).toMatchObject({ status: "superseded", superseded_id: first.id });
    expect(await found(g, "user in Paris")).toEqual([second.id]);
  });

  it("keeps history without taking anybody's place", async () => {
    const g = guest();
    const now = await g.call("memory_store_fact", home);
    const past = await g.call("memory_store_fact", {
      ...home,
      content: "Rome",
      valid_from: "2019-01-01",
      valid_to: "2021-01-01",
    });
    expect(past).toMatchObject({ status: "created", state: "expired", superseded_id: null });
    expect(await found(g, "where does the user live")).toEqual([now.id]);
    expect((await g.call("memory_get", { id: past.id })).memory).toMatchObject({
      state: "expired",
      valid_to: "2021-01-01T00:00:00.000Z",
    });
  });

  it.each(PERMANENCE)("%s has its rate of decay", async (permanence) => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { ...home, permanence });
    expect((await g.row("facts", id))?.decay_rate).toBe(DECAY_PER_DAY[permanence]);
  });

  it("confirm takes a fading fact back, and nothing else back", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { ...home, permanence: "volatile" });
    g.later(60);
    await g.db.query("update facts set validity = 'fading' where id = $1", [id]);
    expect(await found(g, "where does the user live")).toEqual([]);
    expect(await g.call("memory_confirm", { type: "fact", id })).toMatchObject({
      state: "active",
      effective_confidence: 1,
      last_confirmed_at: g.now.toISOString(),
    });
    for (const mode of ["keyword", "semantic", "hybrid"])
      expect(await found(g, "user lives in Berlin", { mode })).toEqual([id]);
    await g.call("memory_forget", { id });
    expect((await g.refused("memory_confirm", { id })).code).toBe("integrity");
    expect(await g.row("facts", id)).toMatchObject({ validity: "retracted" });
  });

  it("telling a fading fact again makes it active", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", home);
    await g.db.query("update facts set validity = 'fading' where id = $1", [id]);
    expect(await g.call("memory_store_fact", home)).toMatchObject({ id, status: "confirmed", state: "active" });
    expect(await g.row("facts", id)).toMatchObject({ validity: "active" });
  });

  it("restores what was forgotten or expired, unless a live fact holds the key", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", home);
    expect(await g.call("memory_forget", { id })).toEqual({ type: "fact", id, state: "retracted", recoverable: true });
    expect(await found(g, "where does the user live")).toEqual([]);
    const other = await g.call("memory_store_fact", { ...home, content: "Hamburg" });
    expect(other.status).toBe("created");
    const refusal = await g.refused("memory_restore", { id });
    expect(refusal.code).toBe("conflict");
    expect(refusal.message).toContain(other.id);
    await g.call("memory_forget", { id: other.id });
    expect(await g.call("memory_restore", { id })).toEqual({ type: "fact", id, state: "active" });
    for (const mode of ["keyword", "semantic", "hybrid"])
      expect(await found(g, "user lives in Berlin", { mode })).toEqual([id]);
    await g.db.query("update facts set validity = 'expired' where id = $1", [id]);
    expect((await g.call("memory_restore", { id })).state).toBe("active");
  });

  it("a superseded fact is not restored", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", home);
    await g.call("memory_store_fact", { ...home, content: "Hamburg" });
    expect((await g.refused("memory_restore", { id })).code).toBe("conflict");
  });

  it("links the episode it came from, and the ones that say it again", async () => {
    const g = guest();
    const said = await g.call("memory_store_episode", { content: "User says he moved to Berlin" });
    const again = await g.call("memory_store_episode", { content: "User mentions his flat in Berlin" });
    const { id } = await g.call("memory_store_fact", { ...home, source_episode_id: said.id });
    await g.call("memory_store_fact", { ...home, source_episode_id: again.id });
    const { links, memory } = await g.call("memory_get", { id });
    expect(memory.source_episode_id).toBe(said.id);
    expect(links.outbound).toMatchObject([{ relation: "derived_from", type: "episode", id: said.id }]);
    expect(links.inbound).toMatchObject([{ relation: "supports", type: "episode", id: again.id }]);
    expect((await g.call("memory_get", { id: said.id })).links.inbound).toMatchObject([
      { relation: "derived_from", id },
    ]);
  });

  it("refuses a source that does not exist, has expired or is another butler's", async () => {
    const g = guest();
    const unknown = "0198c0de-1234-7abc-8def-0123456789ab";
    expect((await g.refused("memory_store_fact", { ...home, source_episode_id: unknown })).code).toBe("not_found");
    const { id } = await g.call("memory_store_episode", { content: "soon gone" });
    g.later(8);
    expect((await g.refused("memory_store_fact", { ...home, source_episode_id: id })).code).toBe("not_found");
    expect(await g.count("facts")).toBe(0);
  });

  it("refuses an end before the beginning and a key without a letter", async () => {
    const g = guest();
    const bad = { ...home, valid_from: "2026-02-01", valid_to: "2026-01-01" };
    expect(await g.refused("memory_store_fact", bad)).toMatchObject({ code: "invalid_input", field: "valid_to" });
    expect(await g.refused("memory_store_fact", { ...home, subject: " _ " })).toMatchObject({ field: "subject" });
  });

  describe("ten at once", () => {
    it("leave one live fact, with a chain behind it", async () => {
      const g = guest();
      const told = await Promise.all(
        Array.from({ length: 10 }, (_, n) => g.call("memory_store_fact", { ...home, content: `City number ${n}` })),
      );
      expect(told.filter((t) => t.status === "created")).toHaveLength(1);
      const states = await g.db.query<{ validity: string; n: number }>(
        "select validity, count(*)::int4 as n from facts where tenant_id = $1 group by 1 order by 1",
        [g.tenant],
      );
      expect(states).toEqual([
        { validity: "active", n: 1 },
        { validity: "superseded", n: 9 },
      ]);
      expect(new Set(told.map((t) => t.superseded_id)).size).toBe(10);
    });

    it("with the same words leave one row", async () => {
      const g = guest();
      const told = await Promise.all(Array.from({ length: 10 }, () => g.call("memory_store_fact", home)));
      expect(new Set(told.map((t) => t.id)).size).toBe(1);
      expect(told.map((t) => t.status).toSorted()).toEqual([...Array(9).fill("confirmed"), "created"]);
    });
  });
});
