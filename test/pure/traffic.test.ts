/** What a process knows of the calls that come to it. */
import { describe, expect, it } from "vitest";
import { openTraffic } from "../../src/engine/memory/traffic.ts";

describe("traffic", () => {
  it("counts calls, and those that wait for their answer", () => {
    const traffic = openTraffic();
    const [first, second] = [traffic.begin(true), traffic.begin(false)];
    expect(traffic).toMatchObject({ calls: 2, underWay: 2 });
    first();
    second();
    expect(traffic).toMatchObject({ calls: 2, underWay: 0 });
  });

  it("is read busily from twenty reads within a second on, and no longer when they have stopped", () => {
    let now = 0;
    const traffic = openTraffic(() => now);
    const call = (count: number, isRead: boolean) => {
      for (let nth = 0; nth < count; nth++) {
        traffic.begin(isRead)();
        now += 10;
      }
    };
    expect(traffic.isReadBusily()).toBe(false);
    call(100, false);
    call(19, true);
    expect(traffic.isReadBusily()).toBe(false);
    call(1, true);
    expect(traffic.isReadBusily()).toBe(true);
    now += 1_000;
    expect(traffic.isReadBusily()).toBe(false);
  });
});
