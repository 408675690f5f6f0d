import { describe, expect, test } from "vitest";
import { cronFault, latestSlot, nextSlot, slotsBetween } from "../../src/daemon/schedule/cron.ts";

const at = (text: string) => new Date(text);
const iso = (date: Date | undefined) => date?.toISOString();

describe("the latest slot", () => {
  const now = at("2026-03-05T10:00:00Z");
  test.each([
    ["0 3 * * *", "2020-01-01T00:00:00Z", "2026-03-05T03:00:00.000Z"],
    ["0 * * * *", "2020-01-01T00:00:00Z", "2026-03-05T10:00:00.000Z"],
    ["*/5 * * * * *", "2020-01-01T00:00:00Z", "2026-03-05T10:00:00.000Z"],
    ["0 4 * * 0", "2020-01-01T00:00:00Z", "2026-03-01T04:00:00.000Z"],
    ["0 0 1 1 *", "2020-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"],
    ["0 0 29 2 *", "2020-01-01T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["* * 1 1 *", "2020-01-01T00:00:00Z", "2026-01-01T23:59:00.000Z"],
    ["0 3 * * *", "2026-03-05T03:00:00Z", undefined],
    ["0 3 * * *", "2026-03-05T02:59:59Z", "2026-03-05T03:00:00.000Z"],
    ["0 3 * * *", "2026-03-06T00:00:00Z", undefined],
  ])("of %s since %s", (line, since, slot) => {
    expect(iso(latestSlot(line, at(since), now, "UTC"))).toBe(slot);
  });
});

test("slots between two times leave both ends out", () => {
  expect(slotsBetween("0 3 * * *", at("2026-03-01T03:00:00Z"), at("2026-03-05T03:00:00Z"), "UTC")).toBe(3);
  expect(slotsBetween("* * * * * *", at("2020-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"), "UTC")).toBe(1_000);
});

test("the zone decides what 03:00 is", () => {
  expect(iso(nextSlot("0 3 * * *", at("2026-07-01T00:00:00Z"), "Europe/Berlin"))).toBe("2026-07-01T01:00:00.000Z");
  expect(iso(nextSlot("0 3 * * *", at("2026-01-01T00:00:00Z"), "Europe/Berlin"))).toBe("2026-01-01T02:00:00.000Z");
});

test.each([
  ["0 3 * * *", undefined],
  ["*/10 * * * * *", undefined],
  ["61 * * * *", expect.stringContaining("61")],
  ["0 0 30 2 *", "it never comes"],
])("%s has the fault %s", (line, fault) => {
  expect(cronFault(line)).toEqual(fault);
});
