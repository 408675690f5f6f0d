/** Counts of a large store are told again, and counted anew after the answer; those of a small one are of the moment. */
import { afterEach, expect, it, vi } from "vitest";
import type { Call } from "../../src/engine/memory/memory.ts";
import { lately } from "../../src/engine/views/numbers/lately.ts";

afterEach(() => void vi.restoreAllMocks());

const HOUR_MS = 3_600_000;

/** A call whose counting takes ten milliseconds; `later` is what is done after the answer. */
function counting(isLarge: boolean) {
  let clock = 1;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  const later: (() => Promise<void>)[] = [];
  const afterwards = { push: (_: string, task: () => Promise<void>) => void later.push(task) };
  const call = { memory: { afterwards }, now: new Date(0) } as unknown as Call;
  let counted = 0;
  const count = async () => {
    clock += 10;
    counted += 1;
    return counted;
  };
  const ask = async (key = "all") => (await lately(call, key, count, () => isLarge)).answer;
  const wait = (ms: number) => {
    clock += ms;
  };
  return { ask, later, wait };
}

it("a small store is counted for each answer", async () => {
  const { ask, later } = counting(false);
  expect([await ask(), await ask(), await ask()]).toEqual([1, 2, 3]);
  expect(later).toEqual([]);
});

it("a large one is told again for twenty times as long as counting took, then counted anew once, after the answer", async () => {
  const { ask, later, wait } = counting(true);
  expect(await ask()).toBe(1);
  wait(200);
  expect(await ask()).toBe(1);
  expect(later).toHaveLength(0);
  wait(1);
  expect([await ask(), await ask()]).toEqual([1, 1]);
  expect(later).toHaveLength(1);
  await later[0]?.();
  expect(await ask()).toBe(2);
});

it("each question has a count of its own", async () => {
  const { ask } = counting(true);
  expect([await ask("a"), await ask("b"), await ask("a")]).toEqual([1, 2, 1]);
});

it("after an hour the first page waits for the count", async () => {
  const { ask, later, wait } = counting(true);
  await ask();
  wait(HOUR_MS + 1);
  expect(await ask()).toBe(2);
  expect(later).toEqual([]);
});
