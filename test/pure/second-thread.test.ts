import { expect, it } from "vitest";
import { helped } from "../../src/engine/adapters/embedder/second-thread.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { OnnxThread } from "../../src/engine/adapters/threads/onnx-thread.ts";

/** Answers when it is told to, the oldest question first. */
function threadOf(name: string) {
  const waiting: { resolve(answer: string): void; reject(error: Error): void }[] = [];
  let closed = false;
  const thread: OnnxThread<string, string> = {
    ready: true,
    get closed() {
      return closed;
    },
    get pending() {
      return waiting.length;
    },
    ask: (question) =>
      new Promise((resolve, reject) =>
        waiting.push({ resolve: () => resolve(`${name} ${question}`), reject: (error) => reject(error) }),
      ),
    async close() {
      closed = true;
    },
  };
  return { thread, waiting };
}

const AT_ONCE = 60;

async function crowd() {
  const [first, second] = [threadOf("first"), threadOf("second")];
  let opened = 0;
  const open = async () => {
    opened += 1;
    return second.thread;
  };
  const both = helped(first.thread, open, silentLog);
  const asked = Array.from({ length: AT_ONCE }, (_, n) => both.ask(`${n}`, "query"));
  await new Promise(setImmediate);
  return { first, second, both, asked, opened: () => opened };
}

/** Nobody has asked yet. The time passes only as `clock` says. */
function alone() {
  const clock = { now: 0 };
  const { thread, waiting } = threadOf("first");
  const second = threadOf("second");
  let opened = 0;
  const open = async () => {
    opened += 1;
    return second.thread;
  };
  return { both: helped(thread, open, silentLog, () => clock.now), waiting, second, clock, opened: () => opened };
}

it("asks one thread while nobody has to wait", async () => {
  const { both, waiting, opened } = alone();
  for (let n = 0; n < 100; n++) {
    const answer = both.ask(`${n}`, "query");
    waiting.shift()?.resolve("");
    expect(await answer).toBe(`first ${n}`);
  }
  expect(opened()).toBe(0);
});

it("asks one thread through many short queues", async () => {
  const { both, waiting, opened } = alone();
  for (let n = 0; n < 20; n++) {
    const asked = Array.from({ length: 10 }, (_, i) => both.ask(`${n} ${i}`, "query"));
    for (const one of waiting.splice(0)) one.resolve("");
    await Promise.all(asked);
  }
  expect(opened()).toBe(0);
});

it("loads a second one when questions keep waiting, and asks whichever has fewer", async () => {
  const { first, second, both, asked, opened } = await crowd();
  expect(opened()).toBe(1);
  const late = both.ask("late", "query");
  expect(second.waiting).toHaveLength(1);
  second.waiting.shift()?.resolve("");
  expect(await late).toBe("second late");
  for (const one of first.waiting.splice(0)) one.resolve("");
  expect(await Promise.all(asked)).toHaveLength(AT_ONCE);
  await both.close();
  expect([first.thread.closed, second.thread.closed]).toEqual([true, true]);
});

it("loads a second one when queries keep finding a text of a write in the first", async () => {
  const { both, waiting, second, opened } = alone();
  for (let n = 0; n < 7; n++) await heldUp(both, waiting, n);
  expect(opened()).toBe(0);
  await heldUp(both, waiting, 7);
  expect(opened()).toBe(1);
  const written = both.ask("stored", "write");
  expect([waiting.length, second.waiting.length]).toEqual([0, 1]);
  const asked = both.ask("asked", "query");
  expect(waiting).toHaveLength(1);
  waiting.shift()?.resolve("");
  expect(await asked).toBe("first asked");
  const batch = Array.from({ length: 9 }, (_, n) => both.ask(`${n}`, "write"));
  expect([waiting.length, second.waiting.length]).toEqual([5, 5]);
  for (const one of [...waiting, ...second.waiting]) one.resolve("");
  expect(await written).toBe("second stored");
  await Promise.all(batch);
  await both.close();
});

it("asks one thread where a write holds up a query now and then", async () => {
  const { both, waiting, clock, opened } = alone();
  for (let n = 0; n < 100; n++) {
    clock.now += 1_000;
    await heldUp(both, waiting, n);
  }
  expect(opened()).toBe(0);
});

it("asks one thread where writes hold up writes, and queries come when none is under way", async () => {
  const { both, waiting, opened } = alone();
  for (let n = 0; n < 100; n++) {
    const written = [both.ask(`${n} a`, "write"), both.ask(`${n} b`, "write")];
    for (const one of waiting.splice(0)) one.resolve("");
    await Promise.all(written);
    const asked = both.ask(`${n}`, "query");
    waiting.shift()?.resolve("");
    await asked;
  }
  expect(opened()).toBe(0);
});

/** A query that comes while a text of a write is in the thread. */
async function heldUp(both: ReturnType<typeof alone>["both"], waiting: ReturnType<typeof alone>["waiting"], n: number) {
  const pair = [both.ask(`stored ${n}`, "write"), both.ask(`asked ${n}`, "query")];
  for (const one of waiting.splice(0)) one.resolve("");
  await Promise.all(pair);
  await new Promise(setImmediate);
}

it("asks the first one again where the second fails", async () => {
  const { first, second, both } = await crowd();
  const late = both.ask("late", "query");
  second.waiting.shift()?.reject(new Error("gone"));
  await new Promise(setImmediate);
  for (const one of first.waiting.splice(0)) one.resolve("");
  expect(await late).toBe("first late");
  await both.close();
});
