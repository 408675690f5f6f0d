import { describe, expect, test } from "vitest";
import { growthFor } from "../../src/main/owner/light-process.ts";

describe("how much the heap may grow before all of it is collected", () => {
  test("a small one by a fixed room, a large one by a share", () => {
    expect(growthFor(48)).toBe(200);
    expect(growthFor(96)).toBe(100);
    expect(growthFor(500)).toBe(40);
  });

  test("the smallest no more than fourfold", () => {
    expect(growthFor(5)).toBe(300);
    expect(growthFor(0)).toBe(300);
  });
});
