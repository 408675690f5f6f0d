/** Laws of the limits: no bucket gives more than its rate, and no tenant waits behind another one's queue. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DaemonToml } from "../../src/daemon/config/daemon-schema.ts";
import { fairQueue } from "../../src/daemon/limits/fair-queue.ts";
import { callLimits } from "../../src/daemon/limits/limited-call.ts";
import { rateLimits } from "../../src/daemon/limits/rate-limits.ts";
import { tokenBucket } from "../../src/daemon/limits/token-bucket.ts";
import type { Principal } from "../../src/doors/backend.ts";
import { rateFailure } from "../../src/doors/http/access/rate-guard.ts";
import type { Outcome } from "../../src/engine/tools/outcome.ts";

test("a bucket gives at most its burst and its rate, and says truly when there is more", () => {
  const pauses = fc.array(fc.tuple(fc.nat(3_000), fc.integer({ min: 1, max: 5 })), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 5, max: 100 }), pauses, (rate, burst, steps) => {
      const bucket = tokenBucket({ rate, burst });
      let [now, given] = [1_000, 0];
      for (const [pause, cost] of steps) {
        now += pause;
        const wait = bucket.take(cost, now);
        if (wait === undefined) given += cost;
        else {
          now += wait * 1_000 + 1;
          expect(bucket.take(cost, now)).toBeUndefined();
          given += cost;
        }
        expect(given).toBeLessThanOrEqual(burst + ((now - 1_000) / 1_000) * rate + 1e-6);
      }
    }),
  );
});

const limits = (more: object = {}) => DaemonToml.parse({ limits: more }).limits;
const by = (name: string, tenant: string): Principal => ({ name, tenant, butler: "*", admin: false, voice: "agent" });

test("a token and a tenant have limits of their own, and another tenant notices nothing", () => {
  let now = 0;
  const rates = rateLimits(limits({ calls_per_second: 2, tenant_calls_per_second: 3, burst_seconds: 1 }), () => now);
  const [a1, a2, b1] = [by("one", "a"), by("two", "a"), by("one", "b")];
  expect([1, 2, 3].map(() => rates.admit(a1, 0)?.what)).toEqual([undefined, undefined, "This token"]);
  expect([1, 2].map(() => rates.admit(a2, 0)?.what)).toEqual([undefined, "The tenant of this token"]);
  expect(rates.admit(b1, 0)).toBeUndefined();
  const over = rates.admit(a1, 0);
  expect(over).toMatchObject({ seconds: 0.5, every: true });
  expect(rateFailure(over ?? { what: "", seconds: 0 })).toMatchObject({ code: "unavailable", retry_after: 1 });
  now += 1_000;
  expect(rates.admit(a1, 0)).toBeUndefined();
  expect([1, 2].map(() => rates.mayExplain(a1))).toEqual([true, false]);
});

test("who goes on while refused gets less, nothing at ten times the limit, and all of it soon after slowing down", () => {
  let now = 0;
  const rates = rateLimits(limits({ calls_per_second: 20, burst_seconds: 1 }), () => now);
  const who = by("loud", "a");
  /** Calls that were let in within so many seconds of so many a second, once the burst was used up. */
  const letIn = (perSecond: number, seconds: number) => {
    let count = 0;
    for (let n = 0; n < perSecond * seconds; n++) {
      now += 1_000 / perSecond;
      const over = rates.admit(who, 0);
      if (over === undefined) count += 1;
      else rates.refused(who, over);
    }
    return count / seconds;
  };
  letIn(200, 5);
  expect(letIn(200, 50)).toBeLessThan(2);
  letIn(22, 5);
  expect(letIn(22, 50)).toBeGreaterThan(19);
  letIn(40, 5);
  expect(letIn(40, 50)).toBeGreaterThan(17);
  letIn(2_000, 5);
  const over = rates.admit(who, 0);
  expect(over?.seconds).toBeLessThanOrEqual(1.1);
  now += 1_100;
  expect(rates.admit(who, 0)).toBeUndefined();
});

test("no agent of one person meets the limits: 20 agents, each with a burst of 40 calls at once", () => {
  const rates = rateLimits(limits(), () => 0);
  for (let agent = 0; agent < 20; agent++)
    for (let call = 0; call < 40; call++) expect(rates.admit(by("home", "*"), 20_000)).toBeUndefined();
});

const turnOf = (tenant: string) => ({ tenant, long: false, patient: false });
const callOf = (bounded: boolean, tool = "memory_search") => ({ tenant: "a", tool, bounded, following: undefined });

/** Work that ends when it is told to, in the order in which it began. */
function held() {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    began.push(name);
    return new Promise<string>((done) => ends.push(() => done(name)));
  };
  const turn = () => new Promise((done) => setImmediate(done));
  return {
    began,
    work,
    async endNext() {
      ends.shift()?.();
      await turn();
    },
    turn,
  };
}

describe("the queue", () => {
  test("one tenant alone has many calls at once; with another one each has a few, in turns", async () => {
    let now = 0;
    const queue = fairQueue({ alone: 4, shared: 2, waiting: 100 }, () => now);
    const { began, work, endNext, turn } = held();
    const all = Array.from({ length: 12 }, (_, n) => queue.run(turnOf("a"), work(`a${n}`)));
    await turn();
    expect(began).toEqual(["a0", "a1", "a2", "a3"]);
    const other = [0, 1, 2].map((n) => queue.run(turnOf("b"), work(`b${n}`)));
    await turn();
    // The next two places are b's, though a has waited longer; a begins another one when it has less than its share.
    for (let n = 0; n < 2; n++) await endNext();
    expect(began.slice(4)).toEqual(["b0", "b1"]);
    await endNext();
    expect(began.slice(6)).toEqual(["a4"]);
    for (let n = 0; n < 20; n++) await endNext();
    expect((await Promise.all([...all, ...other])).length).toBe(15);
    // Once b has been silent for a while, a is alone again.
    now += 60_000;
    const again = Array.from({ length: 4 }, (_, n) => queue.run(turnOf("a"), work(`c${n}`)));
    await turn();
    expect(began.slice(-4)).toEqual(["c0", "c1", "c2", "c3"]);
    for (let n = 0; n < 4; n++) await endNext();
    await Promise.all(again);
  });

  test("whatever comes: nobody who has less than its share waits while there is room, and everything ends", async () => {
    const arrivals = fc.array(fc.constantFrom("a", "a", "a", "a", "b", "c", "end"), { minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(arrivals, async (steps) => {
        const queue = fairQueue({ alone: 4, shared: 2, waiting: 100 }, () => 0);
        const { began, work, endNext, turn } = held();
        const running = { a: 0, b: 0, c: 0 };
        const asked = { a: 0, b: 0, c: 0 };
        const answers: Promise<unknown>[] = [];
        const counted = (name: keyof typeof running) => async () => {
          running[name] += 1;
          await work(name)();
          running[name] -= 1;
        };
        const check = () => {
          const total = running.a + running.b + running.c;
          expect(total).toBeLessThanOrEqual(4);
          for (const name of ["a", "b", "c"] as const) {
            const waits = asked[name] - began.filter((one) => one === name).length;
            if (waits > 0 && running[name] < 2) expect(total).toBe(4);
          }
        };
        for (const step of steps) {
          if (step === "end") await endNext();
          else {
            asked[step] += 1;
            answers.push(queue.run(turnOf(step), counted(step)));
          }
          await turn();
          check();
        }
        for (let n = 0; n < steps.length; n++) await endNext();
        await Promise.all(answers);
        expect(running).toEqual({ a: 0, b: 0, c: 0 });
      }),
      { numRuns: 100 },
    );
  });

  test("a batch has a place of its own, and what this machine asks is not held to a share", async () => {
    const queue = fairQueue({ alone: 8, shared: 1, waiting: 100 }, () => 0);
    const { began, work, endNext, turn } = held();
    const all = [
      queue.run(turnOf("b"), work("b")),
      queue.run({ ...turnOf("a"), long: true }, work("batch 1")),
      queue.run({ ...turnOf("a"), long: true }, work("batch 2")),
      queue.run(turnOf("a"), work("short 1")),
      queue.run(turnOf("a"), work("short 2")),
      queue.run({ ...turnOf("a"), patient: true }, work("own 1")),
      queue.run({ ...turnOf("a"), patient: true }, work("own 2")),
    ];
    await turn();
    expect(began).toEqual(["b", "batch 1", "short 1", "own 1", "own 2"]);
    for (let n = 0; n < all.length; n++) await endNext();
    await Promise.all(all);
  });

  test("beyond so many that wait a caller with a token is refused, and this machine itself never", async () => {
    const calls = callLimits(limits({ calls_at_once: 1, calls_waiting: 2 }), () => 0);
    const ends: (() => void)[] = [];
    const work = () => new Promise<Outcome>((done) => ends.push(() => done({ ok: true, answer: {} })));
    const taken = [1, 2, 3].map(() => calls.run(callOf(true), work));
    const refused = await calls.run(callOf(true), work);
    expect(refused).toMatchObject({ ok: false, error: { code: "unavailable", field: "busy", retry_after: 2 } });
    const patient = calls.run(callOf(false), work);
    for (let n = 0; n < 5; n++) {
      ends.shift()?.();
      await new Promise((done) => setImmediate(done));
    }
    expect((await Promise.all([...taken, patient])).every(({ ok }) => ok)).toBe(true);
  });

  test("a call that takes too long is answered and told to stop, and keeps its place until it has", async () => {
    const calls = callLimits({ ...limits({ calls_at_once: 1 }), timeout_seconds: 0.02 }, () => 0);
    let stopped = false;
    let end: () => void = () => undefined;
    const slow = calls.run(callOf(true), (following) => {
      following?.signal?.addEventListener("abort", () => {
        stopped = true;
      });
      return new Promise<Outcome>((done) => {
        end = () => done({ ok: true, answer: {} });
      });
    });
    expect(await slow).toMatchObject({ ok: false, error: { code: "unavailable", field: "timeout", retry_after: 10 } });
    expect(stopped).toBe(true);
    let began = false;
    const next = calls.run(callOf(false), async () => {
      began = true;
      return { ok: true, answer: {} };
    });
    await new Promise((done) => setImmediate(done));
    expect(began).toBe(false);
    end();
    expect(await next).toEqual({ ok: true, answer: {} });
  });
});
