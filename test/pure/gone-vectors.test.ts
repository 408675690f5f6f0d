/** Vectors beside the read model: however many memories were changed since somebody asked, the next answer is that of one who never asked before. */
import { expect, it } from "vitest";
import type { Line, Timeline } from "../../src/engine/domain/past/timeline.ts";
import type { ReadModel } from "../../src/engine/domain/read-model/model.ts";
import type { Call } from "../../src/engine/memory/memory.ts";
import { openGoneVectors } from "../../src/engine/memory/past/gone-vectors.ts";

const COUNT = 30_000;
const lines = Array.from({ length: COUNT }, (_, nth) => ({ nth, id: `m${nth}` }) as Line);
const timeline = { lines, lineOf: (id: string) => lines[Number(id.slice(1))] } as unknown as Timeline;

/** A read model with the memories for which `isHeld`, and a store that says how many of the others it was asked for. */
function world() {
  let isHeld = (_: number): boolean => true;
  let asked = 0;
  const model = {
    slotOf: (id: string) => (isHeld(Number(id.slice(1))) ? Number(id.slice(1)) : undefined),
    vectors: { has: () => true },
  } as unknown as ReadModel;
  const query = async (_: string, [ids]: readonly [readonly string[]]) => {
    asked += ids.length;
    return [{ ids: JSON.stringify(ids), halves: new Uint8Array(ids.length * 16) }];
  };
  const memory = { db: { kind: "pglite", query }, readModel: { caughtUp: async () => model } };
  const call = { memory, caller: { tenant: "default" } } as unknown as Call;
  const hold = (held: (nth: number) => boolean) => {
    isHeld = held;
  };
  return { call, asked: () => asked, hold };
}

it.each([10, 25_000])("after %i changes", async (changes) => {
  const { call, asked, hold } = world();
  const vectors = openGoneVectors();
  await vectors.caughtUp(call, timeline, 1);
  expect(asked()).toBe(0);
  hold((nth) => nth >= changes);
  for (let nth = 0; nth < changes; nth += 5) vectors.tell([0, 1, 2, 3, 4].map((more) => `m${nth + more}`));
  const [now, fresh] = [await vectors.caughtUp(call, timeline, 1), await openGoneVectors().caughtUp(call, timeline, 1)];
  expect(now?.slots.subarray(0, COUNT)).toEqual(fresh?.slots.subarray(0, COUNT));
  expect(lines.filter(({ nth }) => now?.gone.has(nth)).length).toBe(changes);
  expect(asked()).toBe(2 * changes);
});
