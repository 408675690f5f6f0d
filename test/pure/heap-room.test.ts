import { describe, expect, test } from "vitest";
import { BESIDE_STORE, FOR_SEARCHES, growthFor } from "../../src/main/owner/light-process.ts";

describe("how much the heap may grow before all of it is collected", () => {
  test("a small one by a fixed room, a large one by a share", () => {
    expect(growthFor(48, FOR_SEARCHES)).toBe(200);
    expect(growthFor(96, FOR_SEARCHES)).toBe(100);
    expect(growthFor(500, FOR_SEARCHES)).toBe(40);
  });

  test("that of an embedded store by the same room however much it holds, until that would be too little of it", () => {
    expect(growthFor(20, BESIDE_STORE)).toBe(40);
    expect(growthFor(50, BESIDE_STORE)).toBe(32);
    expect(growthFor(100, BESIDE_STORE)).toBe(16);
    expect(growthFor(400, BESIDE_STORE)).toBe(12);
  });

  test("the smallest no more than fourfold", () => {
    expect(growthFor(5, FOR_SEARCHES)).toBe(300);
    expect(growthFor(0, FOR_SEARCHES)).toBe(300);
  });
});
