import { describe, expect, it } from "vitest";
import { GIVE_WAY_MS, LONGEST_MS, openWay } from "../../src/hosts/hooks/spool/way.ts";

/** Time that passes only while somebody rests; `meanwhile` happens after each rest. */
function resting(meanwhile: (at: number) => void = () => undefined) {
  let at = 0;
  return {
    now: () => at,
    async rest(ms: number): Promise<void> {
      at += ms;
      meanwhile(at);
    },
  };
}

describe("work that nobody waits for", () => {
  it("begins at once where nobody has asked", async () => {
    const time = resting();
    await openWay(new AbortController().signal, time.now, time.rest).clear();
    expect(time.now()).toBe(0);
  });

  it("waits until the last answer was a moment ago", async () => {
    const time = resting((at) => {
      if (at === GIVE_WAY_MS / 3) way.heard();
    });
    const way = openWay(new AbortController().signal, time.now, time.rest);
    way.heard();
    await way.clear();
    expect(time.now()).toBe(GIVE_WAY_MS / 3 + GIVE_WAY_MS);
  });

  it("does not wait for ever where one answer follows the other", async () => {
    const time = resting(() => way.heard());
    const way = openWay(new AbortController().signal, time.now, time.rest);
    way.heard();
    await way.clear();
    expect(time.now()).toBe(LONGEST_MS);
  });

  it("goes on when its owner leaves", async () => {
    const leaving = new AbortController();
    const time = resting(() => leaving.abort());
    const way = openWay(leaving.signal, time.now, time.rest);
    way.heard();
    await way.clear();
    expect(time.now()).toBe(GIVE_WAY_MS / 3);
  });
});
