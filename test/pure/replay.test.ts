import { describe, expect, it } from "vitest";
import {
  applyEvent,
  countReading,
  emptyLedger,
  type Ledger,
  type ReplayEvent,
  touchedBy,
} from "../../src/engine/domain/replay.ts";

const AT = new Date("2026-03-01T12:00:00Z");
let seq = 0;

function event(event_type: string, id: string, payload: object, more: Partial<ReplayEvent> = {}): ReplayEvent {
  seq += 1;
  return {
    seq: `${seq}`,
    tenant_id: "t",
    event_type,
    entity_type: event_type.split(".")[0] ?? "",
    entity_id: id,
    occurred_at: AT,
    actor: "a",
    session_id: null,
    payload: payload as Record<string, unknown>,
    ...more,
  };
}

const read = (references: object[], at: string, session_id: string | null = null) =>
  event("memory.referenced", "r", { references }, { entity_type: "read", occurred_at: new Date(at), session_id });

function fold(...events: ReplayEvent[]): Ledger {
  const ledger = emptyLedger();
  for (const one of events) applyEvent(ledger, one);
  return ledger;
}

const born = { id: "e1", content: "x", reference_count: 0, last_referenced_at: null, prior_referenced_at: null };

describe("a fold of the stream", () => {
  it("stores whole rows, sets columns, and leaves the payload as it was", () => {
    const stored = event("fact.stored", "f1", { row: { id: "f1", content: "a", validity: "active" } });
    const ledger = fold(stored, event("fact.confirmed", "f1", { set: { validity: "fading" }, from: "active" }));
    expect(ledger.memories.fact.get("f1")).toEqual({ id: "f1", content: "a", validity: "fading", trust: "agent" });
    expect(stored.payload).toEqual({ row: { id: "f1", content: "a", validity: "active" } });
  });

  it("collects links and applications of any event", () => {
    const ledger = fold(
      event("rule.stored", "r1", { row: { id: "r1" }, links: [{ source_id: "r1" }] }),
      event("rule.marked_harmful", "r1", { application: { id: "a1" }, set: { harmful_count: 1 } }),
      event("rule.inverted", "r1", { from: "candidate", links: [{ source_id: "r1", relation: "contradicts" }] }),
    );
    expect(ledger.links).toHaveLength(2);
    expect(ledger.applications).toEqual([{ id: "a1", counted: true }]);
    expect(ledger.memories.rule.get("r1")).toEqual({ id: "r1", harmful_count: 1, trust: "agent" });
  });

  it("takes a deleted episode away with its meetings, and counts nothing for it afterwards", () => {
    const ledger = fold(
      event("episode.stored", "e1", { row: born }),
      read([{ type: "episode", id: "e1" }], "2026-03-01T13:00:00Z"),
      event("episode.deleted", "e1", { why: "expired" }),
      read([{ type: "episode", id: "e1" }], "2026-03-01T14:00:00Z"),
    );
    expect(ledger.memories.episode.size).toBe(0);
    expect([...ledger.deleted.episode]).toEqual(["e1"]);
    expect(ledger.meetings.size).toBe(0);
    expect(ledger.orphans).toEqual([]);
  });

  it("counts a memory once per answer, by session and day", () => {
    const twice = [
      { type: "episode", id: "e1" },
      { type: "episode", id: "e1" },
    ];
    const ledger = fold(
      event("episode.stored", "e1", { row: born }),
      read(twice, "2026-03-01T23:59:59Z", "s1"),
      read(twice, "2026-03-01T23:59:59.500Z", "s1"),
      read(twice, "2026-03-02T00:00:00Z"),
    );
    expect(ledger.memories.episode.get("e1")).toMatchObject({
      reference_count: 3,
      last_referenced_at: "2026-03-02T00:00:00.000Z",
      prior_referenced_at: "2026-03-01T23:59:59.500Z",
    });
    expect([...ledger.meetings.values()]).toEqual([
      { tenant_id: "t", episode_id: "e1", session_id: "s1", day: "2026-03-01", n: 2 },
      { tenant_id: "t", episode_id: "e1", session_id: "a 2026-03-02", day: "2026-03-02", n: 1 },
    ]);
  });

  it("is not led astray by a reading that comes late", () => {
    const row = { ...born };
    countReading(row, new Date("2026-03-05T10:00:00Z"));
    countReading(row, new Date("2026-03-03T10:00:00Z"));
    expect(row).toMatchObject({
      reference_count: 2,
      last_referenced_at: "2026-03-05T10:00:00.000Z",
      prior_referenced_at: null,
    });
  });

  it("names what speaks of a memory nobody stored", () => {
    const { orphans } = fold(
      event("fact.confirmed", "f9", { set: { validity: "active" } }),
      event("episode.deleted", "e9", {}),
    );
    expect(orphans).toEqual([
      expect.stringMatching(/fact\.confirmed: no fact f9 was stored before/),
      expect.stringMatching(/episode\.deleted: no episode e9/),
    ]);
  });

  it("asks for the rows that it will touch, and not for those it makes", () => {
    const touched = touchedBy([
      event("fact.stored", "f1", { row: { id: "f1" } }),
      event("fact.forgotten", "f2", { set: {} }),
      read(
        [
          { type: "rule", id: "r1" },
          { type: "episode", id: "e1" },
          { type: "tool", id: "x" },
        ],
        "2026-03-01T13:00:00Z",
      ),
      event("embedding_version.created", "v1", {}),
    ]);
    expect(Object.values(touched).map((ids) => [...ids])).toEqual([["e1"], ["f2"], ["r1"]]);
  });
});
