import { expect, it } from "vitest";
import { lagSeconds, readPosition } from "../../src/engine/domain/wal-position.ts";

it("positions are compared as numbers", () => {
  expect(readPosition("0/0")).toBe(0n);
  expect(readPosition("16/B374D848")).toBe(0x16_b374d848n);
  expect(readPosition("9/FFFFFFFF") < readPosition("A/0")).toBe(true);
});

it("a replica is late by the age of the first thing that it lacks", () => {
  const passed = [10n, 20n, 20n, 30n].map((position, at) => ({ atMs: at * 1_000, position }));
  expect(lagSeconds(passed, 30n, 9_000)).toBe(0);
  expect(lagSeconds(passed, 20n, 9_000)).toBe(6);
  expect(lagSeconds(passed, 5n, 9_000)).toBe(9);
  expect(lagSeconds([], 5n, 9_000)).toBe(0);
});
