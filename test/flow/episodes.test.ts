import { describe, expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const store = (g: Guest, input: object) => g.call("memory_store_episode", input);
const DAY = 86_400_000;
const after = (g: Guest, days: number) => new Date(g.now.getTime() + days * DAY).toISOString();

onOneRig("episodes", (guest) => {
  it("answers with the tier and the end of its life, and keeps what was told", async () => {
    const g = guest();
    const answer = await store(g, {
      content: "We chose PostgreSQL",
      session_id: "s1",
      importance: 8,
      tags: ["db", "db", "choice"],
      speaker: "Ada",
      occurred_at: "2026-02-01T10:00:00Z",
      metadata: { tool: "psql", nested: { n: [1, 2] } },
    });
    expect(answer).toMatchObject({ tier: "eden", duplicate: false, redactions: [], expires_at: after(g, 7) });
    const { memory } = await g.call("memory_get", { id: answer.id });
    expect(memory).toMatchObject({
      type: "episode",
      state: "active",
      scope: "general",
      session_id: "s1",
      importance: 8,
      tags: ["db", "choice"],
      speaker: "Ada",
      occurred_at: "2026-02-01T10:00:00.000Z",
      created_at: g.now.toISOString(),
      metadata: { tool: "psql", nested: { n: [1, 2] } },
      consolidation_status: "pending",
      source: "session:s1",
    });
  });

  it("is a duplicate only if content, session, speaker and told time are the same", async () => {
    const g = guest();
    const base = { content: "The build is green", session_id: "s1" };
    const first = await store(g, base);
    expect(await store(g, { ...base, content: "  the build is green. " })).toMatchObject({
      id: first.id,
      duplicate: true,
    });
    const others = [
      { ...base, session_id: "s2" },
      { content: base.content },
      { ...base, speaker: "Ada" },
      { ...base, occurred_at: "2026-02-01" },
      { ...base, content: "The build is not green" },
    ];
    for (const other of others) expect(await store(g, other)).toMatchObject({ duplicate: false });
    expect(await g.count("episodes")).toBe(1 + others.length);
    expect((await g.events()).filter((e) => e.event_type === "episode.repeated")).toHaveLength(1);
    expect((await g.call("memory_stats", {})).duplicate_rate).toBeCloseTo(1 / 7, 10);
  });

  it("ten at once with the same words are one", async () => {
    const g = guest();
    const told = await Promise.all(Array.from({ length: 10 }, () => store(g, { content: "All at once" })));
    expect(new Set(told.map((t) => t.id)).size).toBe(1);
    expect(told.filter((t) => !t.duplicate)).toHaveLength(1);
  });

  it("numbers the episodes of a session in order", async () => {
    const g = guest();
    for (const word of ["one", "two", "three"]) await store(g, { content: `Step ${word}`, session_id: "s1" });
    await store(g, { content: "elsewhere", session_id: "s2" });
    const rows = await g.db.query(
      "select session_id, ordinal, content from episodes where tenant_id = $1 order by session_id, ordinal",
      [g.tenant],
    );
    expect(rows.map((r) => [r.session_id, r.ordinal])).toEqual([
      ["s1", 0],
      ["s1", 1],
      ["s1", 2],
      ["s2", 0],
    ]);
    expect(rows[1]?.content).toBe("Step two");
  });

  it("takes the session of its connection when none is told", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_episode", { content: "from a session" }, { session: "conn-1" });
    expect(await g.row("episodes", id)).toMatchObject({ session_id: "conn-1", source: "session:conn-1" });
  });

  describe("after its end", () => {
    it("is found by no read, cleaned or not", async () => {
      const g = guest();
      const { id } = await store(g, { content: "The password reset mail is slow" });
      g.later(7);
      for (const mode of ["keyword", "semantic", "hybrid"])
        expect((await g.call("memory_search", { query: "password reset mail", mode })).results).toEqual([]);
      expect((await g.call("memory_recall", { topic: "password reset mail" })).results).toEqual([]);
      expect((await g.refused("memory_get", { id })).code).toBe("not_found");
      expect((await g.refused("memory_forget", { id })).code).toBe("not_found");
      expect((await g.call("memory_context", { trigger_prompt: "password reset mail" })).text).toBe("");
      // It still waits to be learned from.
      expect((await g.call("memory_stats", {})).episodes).toMatchObject({
        total: 0,
        backlog: 1,
        backlog_age_hours: 168,
      });
      expect(await g.row("episodes", id)).toBeDefined();
    });

    it("is found until the last moment", async () => {
      const g = guest();
      const { id } = await store(g, { content: "The password reset mail is slow" });
      g.later(7 - 1 / DAY);
      expect((await g.call("memory_search", { query: "password mail" })).results).toMatchObject([{ id }]);
    });

    it("makes room for the same words told again", async () => {
      const g = guest();
      const first = await store(g, { content: "Standup was short" });
      g.later(8);
      const again = await store(g, { content: "Standup was short" });
      expect(again).toMatchObject({ duplicate: false, expires_at: after(g, 7) });
      expect(again.id).not.toBe(first.id);
      expect((await g.call("memory_search", { query: "standup" })).results).toMatchObject([{ id: again.id }]);
      expect((await g.events()).map((e) => e.event_type)).toContain("episode.deleted");
      expect(await g.row("episodes", first.id)).toBeUndefined();
    });
  });

  it.each([
    ["eden", 7],
    ["mid", 30],
    ["long", 365],
  ])("memory_store puts a note into %s for %i days", async (tier, days) => {
    const g = guest();
    const answer = await g.call("memory_store", { content: `a note for ${tier}`, tier, tags: ["note"] });
    expect(answer).toMatchObject({ tier, expires_at: after(g, days), duplicate: false });
    const search = (asked: string) => g.call("memory_search", { query: "note", tier: asked });
    expect((await search(tier)).results).toMatchObject([{ id: answer.id, tier, tags: ["note"] }]);
    expect((await search(tier === "mid" ? "long" : "mid")).results).toEqual([]);
  });

  it("is forgotten as a tombstone and restored with its place in search", async () => {
    const g = guest();
    const { id } = await store(g, { content: "Lunch with Grace at noon" });
    expect(await g.call("memory_forget", { id, reason: "private" })).toMatchObject({
      type: "episode",
      state: "retracted",
    });
    const search = (mode: string) => g.call("memory_search", { query: "lunch with Grace", mode });
    for (const mode of ["keyword", "semantic"]) expect((await search(mode)).results).toEqual([]);
    expect((await g.call("memory_get", { id })).memory).toMatchObject({ state: "retracted", forget_reason: "private" });
    expect(await g.call("memory_restore", { id })).toMatchObject({ type: "episode", state: "active" });
    for (const mode of ["keyword", "semantic"]) expect((await search(mode)).results).toMatchObject([{ id }]);
    expect(await g.row("episodes", id)).toMatchObject({ forgotten_at: null, forget_reason: null });
  });

  it("does not come back beside the same words told anew", async () => {
    const g = guest();
    const { id } = await store(g, { content: "Lunch with Grace" });
    await g.call("memory_forget", { id });
    expect(await store(g, { content: "Lunch with Grace" })).toMatchObject({ duplicate: false });
    expect((await g.refused("memory_restore", { id })).code).toBe("conflict");
  });

  it.each([
    ["content", { content: " \u200b " }, "content"],
    ["importance", { content: "x", importance: 11 }, "importance"],
    ["a NUL", { content: "a\0b" }, "content"],
    ["half a pair", { content: "a\ud800" }, "content"],
    ["time", { content: "x", occurred_at: "yesterday" }, "occurred_at"],
    ["tags", { content: "x", tags: Array(33).fill("t") }, "tags"],
    ["an unknown argument", { content: "x", colour: "red" }, "colour"],
    ["deep metadata", { content: "x", metadata: JSON.parse(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`) }, "metadata"],
  ])("refuses bad %s by name and keeps nothing", async (_, input, field) => {
    const g = guest();
    expect(await g.refused("memory_store_episode", input)).toMatchObject({ code: "invalid_input", field });
    expect(await g.count("episodes")).toBe(0);
    expect(await g.events()).toEqual([]);
  });
});
