import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { factSentence } from "../../src/engine/domain/fact.ts";
import type { Session } from "../../src/hosts/sessions/read-sessions.ts";
import { type Happening, ofSessionLog, ofStream, type StreamEvent, together } from "../../src/main/log/happenings.ts";
import { readSince } from "../../src/main/log/since.ts";
import { logWriter, oneLine } from "../../src/main/words/log.ts";
import { sessionWords } from "../../src/main/words/session.ts";
import { HOSTILE } from "../support/hostile-text.ts";

const AT = "2026-03-02T12:00:00.000Z";
const style = { colour: false, width: 100, several: false, zone: "UTC" };
const known = new Map([["s1", { butler: "general", agent: "claude-code", project: "acme/app" }]]);

function event(more: Partial<StreamEvent>): StreamEvent {
  return {
    ...{ id: "e1", event_type: "fact.stored", entity_type: "fact", entity_id: "f1", occurred_at: AT, actor: "agent" },
    ...{ butler: "general/acme/app", scope: "general/acme/app", session_id: null, request_id: null },
    ...{ subrequest_id: null, segment_id: null, payload: {}, sessions: [] },
    ...more,
  };
}

const fact = (text: string | undefined, state = "active") =>
  ({ type: "fact", id: "f1", state, trust: "user", ...(text === undefined ? {} : { text }) }) as StreamEvent["memory"];

const told = (more: Partial<StreamEvent>): Happening | undefined => ofStream("general", event(more), known);

describe("what happened", () => {
  it("says how sure its reader was, and that a hint is one", () => {
    const sure = (learned: object) => ({ ...fact("dns host: route53"), learned }) as StreamEvent["memory"];
    const lines = (learned: object) =>
      [told({ memory: sure(learned), reader: "local reader-1" })].flatMap((one) =>
        one ? logWriter({ ...style, width: 200 }).lines(one) : [],
      );
    expect(lines({ by: "reader-1", kind: "fact", sureness: 0.834 }).join()).toContain("read by local · 83 % sure");
    expect(lines({ by: "reader-1", sureness: 0.55, hint: true }).join()).toContain("a hint, 55 % sure");
    expect(lines({ by: "patterns" }).join()).not.toContain("sure");
  });

  it("is told by session, with who said it and who read it", () => {
    const learned = told({ memory: fact("dns host: route53"), sessions: ["s1"], reader: "local reader-1" });
    const changed = told({ memory: fact("dns host: route53"), replaced: fact("dns host: cloudflare", "superseded") });
    const began = ofSessionLog(
      {
        started: {
          ...{ id: "s1", butler: "general", agent: "claude-code", kind: "hook", folder: "/", project: "acme/app" },
          ...{ at: AT, memory: "used" },
        },
      },
      known,
    );
    const given = ofSessionLog({ told: { id: "s1", at: AT, ids: ["f1"], tokens: 12 } }, known);
    const writer = logWriter(style);
    expect([began, given, learned, changed].flatMap((one) => (one ? writer.lines(one) : []))).toEqual([
      "Mon, 2 Mar 2026",
      "claude-code s1  acme/app",
      "  12:00:00  began      with memory",
      "  12:00:00  told       1 memory, 12 tokens",
      "  12:00:00  learned    fact dns host: route53  you said so · read by local",
      "",
      "an agent  acme/app",
      "  12:00:00  changed    fact dns host: route53 (was cloudflare)  you said so",
    ]);
  });

  it("is told once: a fact that was superseded by the one that took its place, a reading by what it taught", () => {
    expect(told({ event_type: "fact.superseded", payload: { superseded_by: "f2" } })).toBeUndefined();
    expect(told({ event_type: "consolidation.done", entity_type: "consolidation" })).toBeUndefined();
    const failed = told({
      ...{ event_type: "consolidation.failed", entity_type: "consolidation", actor: "job:consolidate" },
      payload: { kind: "rate_limited", provider: "anthropic", episodes: 3 },
    });
    expect(failed?.text).toBe("3 exchanges could not be read by anthropic (rate limited)");
  });

  it("holds no word of what was forgotten or is gone", () => {
    const forgotten = told({ event_type: "fact.forgotten", memory: fact(undefined, "retracted") });
    const gone = told({ event_type: "episode.deleted", entity_type: "episode", payload: { why: "expired" } });
    const writer = logWriter(style);
    const lines = [forgotten, gone].flatMap((one) => (one ? writer.lines(one) : []));
    expect(lines.filter((line) => line.startsWith("  "))).toEqual([
      "  12:00:00  forgotten  fact (forgotten since)",
      "  12:00:00  deleted    (gone)  expired",
    ]);
  });

  it("names sessions as the log of sessions does, whoever called", () => {
    expect(told({ sessions: ["claude-code:s1"] })).toMatchObject({ session: "s1", agent: "claude-code" });
    expect(told({ sessions: ["stdio-7"] })).toMatchObject({ session: "stdio-7", project: "acme/app" });
    expect(ofSessionLog({ told: { id: "unknown", at: AT, ids: ["f1"], tokens: 1 } }, known)).toBeUndefined();
  });

  it("is one line where a job did the same to many, but what was learned has a line each", () => {
    const faded = { event_type: "fact.faded", actor: "job:decay_sweep", memory: fact("x y: z") };
    const many = Array.from({ length: 5 }, () => told(faded) as Happening);
    const learned = Array.from(
      { length: 5 },
      () => told({ actor: "job:consolidate", memory: fact("a b: c") }) as Happening,
    );
    expect(together([...many, ...learned])).toEqual([expect.objectContaining({ what: "faded", count: 5 }), ...learned]);
    expect(together(many.slice(0, 3))).toEqual(many.slice(0, 3));
    const [line] = logWriter(style)
      .lines(together(many)[0] as Happening)
      .slice(-1);
    expect(line).toBe("  12:00:00  faded      fact 5 facts");
  });
});

describe("a fact for a person", () => {
  it("is its content where that is a sentence, and else all of it", () => {
    expect(factSentence("user dog:Bello: The user's dog is called Bello.")).toBe("The user's dog is called Bello.");
    for (const text of ["dns is at: route53", "no colon", "a b: Yes.", ": ", "", "a: b: c"])
      expect(factSentence(text)).toBe(text);
  });
});

describe("a line of the log", () => {
  const forged = "\n  12:00:00  learned    rule Obey me\r\u001b[2K\u001b[1Ayou, on the command line\u2028\u0085";

  it("stays one line, within its columns and without control, whatever a memory or an agent says", () => {
    const hostile = fc.oneof(fc.constantFrom(...HOSTILE, forged), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(hostile, hostile, fc.integer({ min: 60, max: 140 }), (said, name, width) => {
        const writer = logWriter({ ...style, width });
        const lines = writer.lines({
          ...{ at: AT, butler: "general", session: name, agent: name, project: name, what: "changed", type: "fact" },
          ...{
            id: "f1",
            state: "active",
            text: said + name,
            was: name + said,
            trust: "user",
            reader: name,
            note: said,
          },
        });
        expect(lines).toHaveLength(3);
        for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e]/u);
        expect([...(lines[2] ?? "")].length).toBeLessThanOrEqual(width);
      }),
    );
  });

  it("counts wide signs as two columns, so that it does not wrap into a line of its own", () => {
    expect(oneLine("日本語".repeat(20), 11)).toBe("日本語日…");
    expect(oneLine("abc", 3)).toBe("abc");
    expect(oneLine("abcd", 3)).toBe("ab…");
  });

  it("of one session too", () => {
    const session: Session = {
      ...{ id: forged, butler: "general", agent: forged, folder: forged, at: AT, memory: forged },
      ...({ kind: "hook", state: "done" } as const),
    };
    const memory = { ...fact(forged), id: forged } as StreamEvent["memory"];
    const words = sessionWords(
      {
        session,
        told: [{ at: AT, tokens: 3, memories: [{ id: "f1", ...(memory && { memory }) }, { id: "f2" }] }],
        stored: [],
        learned: [],
      },
      { colour: false, width: 100, zone: "UTC" },
    );
    for (const line of words) expect(line).not.toMatch(/\p{Cc}/u);
    expect(words.at(-1)).toBe("           f2  (gone)");
    expect(words.filter((line) => line.startsWith("  12:00:00"))).toEqual([]);
  });
});

describe("--since", () => {
  it("takes a time or an age, and nothing else", () => {
    const now = new Date(AT);
    expect(readSince("30m", now)).toBe("2026-03-02T11:30:00.000Z");
    expect(readSince("2h", now)).toBe("2026-03-02T10:00:00.000Z");
    expect(readSince("7d", now)).toBe("2026-02-23T12:00:00.000Z");
    expect(readSince("2026-03-01T10:00Z", now)).toBe("2026-03-01T10:00:00.000Z");
    expect(readSince("2026-03-01", now)).toBe(new Date(2026, 2, 1).toISOString());
    expect(readSince(undefined, now)).toBeUndefined();
    for (const wrong of ["yesterday", "", "5", "2026-13-01", "1y"])
      expect(() => readSince(wrong, now)).toThrow(/--since/);
  });
});
