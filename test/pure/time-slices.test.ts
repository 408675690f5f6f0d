import { expect, it } from "vitest";
import { timeSlices } from "../../src/engine/adapters/time-slices.ts";

/** Pieces of work that each take so long by a clock of their own: the turn of the event loop in which each was done, in their order. */
async function turnsOf(pieces: number, ms: number) {
  let [now, turn, isOver] = [0, 0, false];
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const slices = timeSlices(() => now);
  const done: { readonly piece: number; readonly turn: number }[] = [];
  await Promise.all(
    Array.from({ length: pieces }, async (_, piece) => {
      await slices.wait();
      now += ms;
      // What follows without waiting belongs to the piece.
      await Promise.resolve();
      done.push({ piece, turn });
    }),
  );
  isOver = true;
  await new Promise(setImmediate);
  expect(slices.areAwaited()).toBe(false);
  expect(done.map(({ piece }) => piece)).toEqual(Array.from({ length: pieces }, (_, piece) => piece));
  return done.map((one) => one.turn);
}

it("does short work without giving up the turn", async () => {
  expect(new Set(await turnsOf(50, 0)).size).toBe(1);
});

it("gives long work a turn of the event loop each", async () => {
  expect(new Set(await turnsOf(20, 10)).size).toBe(20);
});

it("fills each turn of the event loop up to some milliseconds", async () => {
  const turns = await turnsOf(40, 1);
  const most = Math.max(...turns.map((turn) => turns.filter((other) => other === turn).length));
  expect(most).toBe(4);
});

it("lets everybody go on who comes while others wait", async () => {
  let now = 0;
  const slices = timeSlices(() => now);
  const met: string[] = [];
  const work = async (name: string, depth: number): Promise<void> => {
    await slices.wait();
    now += 3;
    met.push(name);
    if (depth > 0) await Promise.all([work(`${name}a`, depth - 1), work(`${name}b`, depth - 1)]);
  };
  await work("x", 5);
  expect(met).toHaveLength(2 ** 6 - 1);
});
