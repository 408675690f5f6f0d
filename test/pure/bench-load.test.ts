/** The load of a benchmark: when calls are due, and what is said of their answers. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Answered, drive } from "../../src/lab/load/drive.ts";
import { growthOf, kindFigures, slicesOf } from "../../src/lab/load/figures.ts";
import { arrivalsOf } from "../../src/lab/load/schedule.ts";
import { picker } from "../../src/lab/sentences.ts";

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
      return number === 3 ? "unavailable" : undefined;
    },
    () => undefined,
  );
  expect(most_open).toBe(4);
  expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined, "unavailable"]);
  for (const { ms, late } of answers) expect(ms).toBeGreaterThanOrEqual(late);
});

test("figures are of the answered calls, and errors are counted by code", () => {
  const all = [
    answered(0, 10),
    answered(1, 20, { burst: true }),
    answered(2, 9_000, { error: "unavailable" }),
    answered(3, 5, { kind: "episode" }),
  ];
  expect(kindFigures(all, "context")).toEqual({
    ...{ count: 2, p50: 10, p95: 20, p99: 20, max: 20 },
    ...{ sent: 3, answered: 2, answered_share: 66.667, p95_in_bursts: 20, p95_between: 10 },
    errors: { unavailable: 1 },
  });
  expect(kindFigures(all, "episode")).toMatchObject({ sent: 1, answered_share: 100, errors: {} });
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
        expect([p50, p95, p99, max]).toEqual([p50, p95, p99, max].toSorted((a, b) => a - b));
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
