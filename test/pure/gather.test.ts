/** When a server is asked twice for candidates: in a search that has the server nearly to itself. */
import { expect, it } from "vitest";
import type { Db, PoolUse } from "../../src/engine/adapters/db/port.ts";
import { gatherCandidates } from "../../src/engine/store/index/gather.ts";
import type { Near } from "../../src/engine/store/index/nearest.ts";

const IDLE: PoolUse = { max: 10, in_use: 1, waiting: 0 };
const HITS = [{ sk: 1, slot: 1, score: 1 }];
const FILTERS = { ladder: undefined, now: new Date(0), threshold: 0.2, tags: undefined, tier: undefined };
const AROUND = {
  ...{ tenant: "t", names: [], before: 1, after: 1, best: 8, offsets: [-1, 1] },
  others: { before: 1, after: 1 },
};
const near: readonly Near[] = [];
const later = () => new Promise<readonly Near[]>((resolve) => void setImmediate(() => resolve(near)));

async function statements(pool: PoolUse | undefined, more: Partial<Db> = {}, hits = HITS, found = later()) {
  const sent: string[] = [];
  const query = async <R>(text: string) => {
    sent.push(text);
    return [{ snapshot: "1:1:", best: null, facts: null, rows: null, same: true }] as R[];
  };
  const arm = { version: 1, as: "halfvec(2)", query: new Float32Array(2), groups: [], theirs: undefined, faded: false };
  await gatherCandidates(
    { query, ...(pool && { pool: () => pool }), ...more },
    hits,
    { ...arm, found },
    FILTERS,
    AROUND,
  );
  return sent.length;
}

it("asks twice while the vectors are looked for, and when they are there already: then for both halves side by side", async () => {
  expect(await statements(IDLE)).toBe(2);
  expect(await statements(IDLE, {}, HITS, Promise.resolve(near))).toBe(2);
});

it("asks once when no words were found", async () => {
  expect(await statements(IDLE, {}, [])).toBe(1);
});

it("asks once where connections are few or in use, or where replicas answer", async () => {
  expect(await statements(undefined)).toBe(1);
  expect(await statements({ max: 1, in_use: 1, waiting: 0 })).toBe(1);
  expect(await statements({ max: 10, in_use: 6, waiting: 0 })).toBe(1);
  expect(await statements({ max: 10, in_use: 2, waiting: 1 })).toBe(1);
  expect(await statements(IDLE, { replicas: () => [] })).toBe(1);
});
