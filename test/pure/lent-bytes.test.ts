import { expect, it } from "vitest";
import { giveBack, lendBytes } from "../../src/engine/adapters/lent-bytes.ts";

it("memory that was given back is lent again, once, and other memory never", () => {
  const first = lendBytes(300_000);
  expect(first).toHaveLength(300_000);
  const second = lendBytes(300_000);
  expect(second.buffer).not.toBe(first.buffer);

  giveBack(first.subarray(20, 30));
  giveBack(first);
  const third = lendBytes(280_000);
  expect(third).toHaveLength(280_000);
  expect(third.buffer).toBe(first.buffer);
  expect(lendBytes(280_000).buffer).not.toBe(first.buffer);

  const foreign = new Uint8Array(2 ** 19);
  giveBack(foreign);
  expect(lendBytes(2 ** 19).buffer).not.toBe(foreign.buffer);
  const few = lendBytes(100);
  expect(few).toHaveLength(100);
  giveBack(few);
  const next = lendBytes(100);
  expect(next.byteOffset === few.byteOffset && next.buffer === few.buffer).toBe(false);
});

it("no more is kept than a few searches need", () => {
  const many = Array.from({ length: 40 }, () => lendBytes(2 ** 20));
  for (const one of many) giveBack(one);
  const again = new Set(Array.from({ length: 40 }, () => lendBytes(2 ** 20).buffer));
  const kept = many.filter(({ buffer }) => again.has(buffer)).length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThanOrEqual(16);
});
