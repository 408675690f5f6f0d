/** The load of a benchmark: when calls are due, and what is said of their answers. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Sql } from "../../src/engine/adapters/db/port.ts";
import { type Answered, drive, endOf } from "../../src/lab/load/drive.ts";
import {
  growthOf,
  kindFigures,
  type LoadReport,
  loadLines,
  slicesOf,
  verdictsOf,
  writesOf,
} from "../../src/lab/load/figures.ts";
import { arrivalsOf } from "../../src/lab/load/schedule.ts";
import { picker } from "../../src/lab/sentences.ts";
import { heldEpisodes } from "../../src/lab/sql/held.ts";

const answered = (at: number, ms: number, more: Partial<Answered> = {}): Answered => ({
  at,
  ms,
  kind: "context",
  burst: false,
  late: 0,
  error: undefined,
  ...more,
});

describe("arrivals", () => {
  test("are as many as asked for, in order, within the time, whatever the bursts", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer(),
        (seconds, reads, writes, burst, seed) => {
          const arrivals = arrivalsOf({ seconds, reads, writes, burst }, picker(seed));
          expect(arrivals.filter(({ kind }) => kind === "context")).toHaveLength(reads * seconds);
          expect(arrivals).toHaveLength((reads + writes) * seconds);
          const inOrder = arrivals.every(({ at }, index) => at >= (arrivals[index - 1]?.at ?? 0));
          expect([inOrder, arrivals.every(({ at }) => at < seconds * 1_000)]).toEqual([true, true]);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("come that many times as often in a burst, two seconds of every twenty", () => {
    const arrivals = arrivalsOf({ seconds: 600, reads: 50, writes: 40, burst: 3 }, picker(1));
    const inBursts = arrivals.filter(({ at }) => at % 20_000 < 2_000);
    expect(inBursts.length / arrivals.length).toBeCloseTo(0.3, 2);
    expect(inBursts.every(({ burst }) => burst)).toBe(true);
  });
});

test("a call is made when it is due while others wait, and its time counts from then", async () => {
  const due = [0, 1, 2, 3].map((at) => ({ at, kind: "episode" as const, burst: false }));
  let release = (_: undefined): void => undefined;
  const all = new Promise<undefined>((done) => {
    release = done;
  });
  let made = 0;
  const { answers, most_open } = await drive(
    due,
    async (_, number) => {
      made += 1;
      if (made === due.length) release(undefined);
      await all;
      return { error: number === 3 ? "unavailable" : undefined };
    },
    () => undefined,
  );
  expect(most_open).toBe(4);
  expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined, "unavailable"]);
  for (const { ms, late } of answers) expect(ms).toBeGreaterThanOrEqual(late);
});

test("a call without an answer is later than every answer, and errors are counted by code", () => {
  const all = [
    answered(0, 10),
    answered(1, 20, { burst: true, degraded: true }),
    answered(2, 1, { error: "unavailable" }),
    answered(3, 5, { kind: "episode" }),
  ];
  expect(kindFigures(all, "context")).toEqual({
    ...{ count: 3, p50: 20, p95: null, p99: null, max: null, degraded: 1 },
    ...{ sent: 3, answered: 2, answered_share: 66.667, p95_in_bursts: 20, p95_between: null },
    errors: { unavailable: 1 },
  });
  expect(kindFigures(all, "episode")).toMatchObject({ sent: 1, answered_share: 100, p95: 5, degraded: 0, errors: {} });
  expect(kindFigures([], "episode")).toMatchObject({ sent: 0, p95: null });
});

test("a call that fails instead of being answered makes no percentile better", () => {
  const times = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(times, fc.nat(), (all, which) => {
      const calls = all.map((ms, at) => answered(at, ms));
      const failed = calls.map((one, at) =>
        at === which % all.length ? { ...one, ms: 0, error: "unavailable" } : one,
      );
      const [before, after] = [calls, failed].map((some) => kindFigures(some, "context"));
      for (const at of ["p50", "p95", "p99", "max", "p95_between"] as const)
        expect(after?.[at] ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(before?.[at] ?? 0);
    }),
  );
});

test("an answer says what it acknowledges, and whether it is less than it could be", () => {
  const answer = (more: object) => ({ ok: true, answer: { id: "e", ...more } }) as const;
  expect(endOf("context", answer({}))).toEqual({ error: undefined, degraded: false });
  expect(endOf("context", answer({ degraded: "by keyword only" }))).toEqual({ error: undefined, degraded: true });
  expect(endOf("episode", answer({}))).toEqual({ error: undefined, acknowledged: "e" });
  const refused = { ok: false, error: { code: "unavailable", message: "…" } } as const;
  expect(endOf("episode", refused)).toEqual({ error: "unavailable" });
});

test("an acknowledged write that is gone is lost, whatever else was stored", async () => {
  const stored = new Set(Array.from({ length: 6_000 }, (_, index) => String(index)));
  const asked: number[] = [];
  const sql: Sql = {
    async query<Row>(_: string, params: readonly unknown[] = []) {
      const [ids] = params as [string[]];
      asked.push(ids.length);
      return [{ n: ids.filter((id) => stored.has(id)).length }] as Row[];
    },
  };
  // One id was acknowledged twice, and one is not there.
  const held = await heldEpisodes(sql, [...stored, "0", "gone"]);
  expect([held, asked]).toEqual([6_000, [5_000, 1_001]]);
  // Three writes that were given up have been stored: there are more new episodes than acknowledged ones.
  expect(writesOf(6_002, held, 6_003)).toEqual({ lost: 2, stored_unacknowledged: 3 });
  expect(writesOf(6_000, held, 6_000)).toEqual({ lost: 0, stored_unacknowledged: 0 });
});

function reportOf(answers: readonly Answered[], lost = 0): Omit<LoadReport, "targets"> {
  const driven = { answers, most_open: 1, drained_ms: 0 };
  const slices = slicesOf(180, driven, []);
  const waiting = { episodes: 0, backlog: 0, backlog_age_hours: 0 };
  return {
    ...{ seconds: 180, reads: 1, writes: 1, burst: 1, n: 100, store: "pglite", most_open: 1, drained_ms: 0 },
    ...{ machine: { cpu: "x", cores: 2, node: "22", load: 0 }, alone: { count: 1, p50: 1, p95: 1, max: 1 } },
    kinds: { context: kindFigures(answers, "context"), episode: kindFigures(answers, "episode") },
    ...{ slices, late_p95: 0, resident_growth: null, cpu: { seconds: null, ms_per_call: null, cores: null } },
    ...{ before: waiting, after: waiting, lost, stored_unacknowledged: 0 },
  };
}

describe("targets of a load", () => {
  const calls = Array.from({ length: 2_000 }, (_, index) => [
    answered(index * 90, 10),
    answered(index * 90, 20, { kind: "episode" }),
  ]).flat();
  const metOf = (answers: readonly Answered[], lost?: number) =>
    new Map(verdictsOf(reportOf(answers, lost)).map(({ name, met }) => [name, met]));
  /** The names of the targets that are met without, and missed with what is done to the calls. */
  const missed = (change: (one: Answered, index: number) => Answered) => {
    const met = metOf(calls);
    return [...metOf(calls.map(change))].filter(([name, now]) => now === false && met.get(name)).map(([name]) => name);
  };

  test("are met by calls that are all answered in time", () => {
    const report = reportOf(calls);
    expect(verdictsOf(report).filter(({ met }) => met === false)).toEqual([]);
    expect(loadLines({ ...report, targets: verdictsOf(report) }).join("\n")).toContain("no errors");
  });

  test("miss unanswered reads and degraded answers, and lost writes", () => {
    const isRead = ({ kind }: Answered) => kind === "context";
    expect(missed((one, index) => (isRead(one) && index % 800 === 0 ? { ...one, error: "unavailable" } : one))).toEqual(
      ["context reads answered, as for writes"],
    );
    expect(missed((one, index) => (index === 0 ? { ...one, degraded: true } : one))).toEqual([
      "degraded answers to context reads",
    ]);
    expect(metOf(calls, 1).get("acknowledged but not stored")).toBe(false);
  });

  test("miss a percentile that falls on a call without an answer", () => {
    const failing = (one: Answered): Answered =>
      one.kind === "context" && one.at >= 120_000 && one.at % 900 === 0 ? { ...one, ms: 1, error: "unavailable" } : one;
    // A tenth of the last minute's reads, and a thirtieth of all.
    expect(missed(failing)).toEqual(["context reads answered, as for writes", "p95 of reads, last minute to first"]);
    const none = calls.map((one): Answered => ({ ...one, ms: 1, error: "unavailable" }));
    expect([...metOf(none)].filter(([name]) => name.startsWith("memory_context p95"))).toEqual([
      ["memory_context p95, specified", false],
      ["memory_context p95, a tenth of it", false],
    ]);
    const report = reportOf(none);
    const said = loadLines({ ...report, targets: verdictsOf(report) });
    expect(said).toContainEqual(expect.stringMatching(/^context reads +none +none +none/));
    expect(said).toContainEqual(expect.stringMatching(/^✗ memory_context p95, specified +none ms/));
    expect(said).toContainEqual(expect.stringMatching(/^calls without an answer +1334 +1334 +1332/));
  });
});

test("no percentile is above the longest time, however finely that is told", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 2_000, noNaN: true }), { minLength: 1, maxLength: 40 }),
      (times) => {
        const { p50, p95, p99, max } = kindFigures(
          times.map((ms, at) => answered(at, ms)),
          "context",
        );
        expect([p50, p95, p99, max]).toEqual([p50, p95, p99, max].toSorted((a, b) => Number(a) - Number(b)));
      },
    ),
  );
});

test("every minute has its own figures, and memory is compared from the first to the last", () => {
  const answers = [answered(1_000, 7), answered(61_000, 8), answered(200_000, 9)];
  const samples = [5, 65, 125, 185].map((second, index) => ({ at: second * 1_000, mb: 500 + index }));
  const slices = slicesOf(240, { answers, most_open: 1, drained_ms: 0 }, samples);
  expect(slices.map(({ from_second, context_p95 }) => [from_second, context_p95])).toEqual([
    [0, 7],
    [60, 8],
    [120, null],
    [180, 9],
  ]);
  expect(slices.map(({ resident_mb }) => resident_mb)).toEqual([500, 501, 502, 503]);
  expect(growthOf(slices, 4_000)).toEqual({ mb: 3, kb_per_write: 1, beside_memories: 0.988 });
  expect(slicesOf(6, { answers: [], most_open: 0, drained_ms: 0 }, [])).toHaveLength(3);
});
