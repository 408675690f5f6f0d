/** Learning beside calls: it has a tenth of the time at most, none is lost when nobody calls, and nothing waits for ever. */
import { describe, expect, it } from "vitest";
import { giveWay } from "../../src/engine/memory/learn/give-way.ts";

const NOW = new Date("2026-05-04T10:00:00Z");

const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

/** How long a batch of 200 ms is followed by nothing, where calls come as `callsAt` says. */
async function pausedFor(
  callsAt: (ms: number) => number,
  given: { tookMs?: number; during?: number; oldest?: Date | undefined; stopAt?: number } = {},
): Promise<number> {
  const { tookMs = 200, during = 1, stopAt = Number.POSITIVE_INFINITY } = given;
  const oldest = "oldest" in given ? given.oldest : NOW;
  const traffic = { calls: during };
  let waited = 0;
  await giveWay(
    { traffic, clock: { now: () => NOW, fixed: true } },
    { calls: 0, tookMs, oldest },
    () => waited >= stopAt,
    async (ms) => {
      waited += ms;
      traffic.calls = during + callsAt(waited);
    },
  );
  return waited;
}

describe("learning gives way", () => {
  it("pauses for nine times as long as the batch took while calls come in", async () => {
    expect(await pausedFor((ms) => Math.floor(ms / 50))).toBe(1_800);
    expect(await pausedFor((ms) => Math.floor(ms / 50), { tookMs: 60_000 })).toBe(5_000);
  });
  it("pauses for 49 times as long where many calls come, if what is to be learned can wait", async () => {
    const many = (ms: number) => Math.floor(ms / 10);
    expect(await pausedFor(many, { during: 4 })).toBe(9_800);
    expect(await pausedFor(many, { during: 1_200, tookMs: 60_000 })).toBe(60_000);
    expect(await pausedFor(many, { during: 3 })).toBe(1_800);
    expect(await pausedFor(many, { during: 4, oldest: minutesAgo(12) })).toBe(9_800);
    expect(await pausedFor(many, { during: 4, oldest: minutesAgo(22) })).toBe(1_400);
    expect(await pausedFor(many, { during: 4, oldest: minutesAgo(33) })).toBe(200);
    expect(await pausedFor(() => 0, { during: 4 })).toBe(250);
  });
  it("has upkeep pause no longer than else where many calls come", async () => {
    expect(await pausedFor((ms) => Math.floor(ms / 10), { during: 40, oldest: undefined })).toBe(1_800);
  });
  it("goes on at once where nobody called during the batch", async () => {
    expect(await pausedFor(() => 0, { during: 0 })).toBe(0);
  });
  it("goes on after a quarter of a second without a call", async () => {
    expect(await pausedFor(() => 0)).toBe(250);
    expect(await pausedFor((ms) => (ms <= 300 ? Math.floor(ms / 50) : 6))).toBe(550);
  });
  it("pauses the less the longer episodes have waited, in the end no longer than the batch took", async () => {
    const pauses: number[] = [];
    for (const minutes of [0, 12, 17, 22, 27, 32, 500])
      pauses.push(await pausedFor((ms) => Math.floor(ms / 50), { oldest: minutesAgo(minutes) }));
    expect(pauses).toEqual([1_800, 1_800, 1_050, 600, 350, 200, 200]);
  });
  it("ends when the owner is stopping", async () => {
    expect(await pausedFor((ms) => ms, { stopAt: 100 })).toBe(100);
  });
});
