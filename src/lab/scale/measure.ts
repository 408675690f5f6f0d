/** Calls and the vector arm's recall on a store that `fillScale` made. */

import type { Call, Memory } from "../../engine/memory/memory.ts";
import { lookOf, retrieveTraced } from "../../engine/memory/recall/retrieve.ts";
import { searchQuery } from "../../engine/memory/recall/search.ts";
import { asOwner, memoryOf } from "../../engine/memory/tenancy.ts";
import { gatherCandidates } from "../../engine/store/index/gather.ts";
import type { VectorArm } from "../../engine/store/index/nearest.ts";
import { indexState } from "../../engine/store/index/vector-index.ts";
import { round, spread } from "../figures.ts";
import { atOnce } from "../latency/at-once.ts";
import { inputsOf, KINDS, measureKind, SEARCH, storageOf } from "../measure.ts";
import { distinct, picker, queryText } from "../sentences.ts";
import { recallOf, type ScaleReport, type VectorRecall } from "./figures.ts";
import { securityCosts } from "./row-security.ts";

const NEAREST = 20;

export type ScaleMeasured = Pick<ScaleReport, "calls" | "at_once" | "storage" | "recall" | "row_security" | "index">;

export async function measureScale(
  memory: Memory,
  queries: number,
  seed: number,
  progress: (name: string) => void,
): Promise<ScaleMeasured> {
  const calls: Record<string, ScaleReport["calls"][string]> = {};
  for (const [index, kind] of KINDS.entries()) {
    progress(kind.name);
    calls[kind.name] = await measureKind(memory, kind, queries, seed + index, true);
  }
  progress("search hybrid, eight at once");
  const at_once = await atOnce(memory, inputsOf(SEARCH, queries, seed + 150));
  progress("recall of the vector arm, beside comparing everything");
  const recall = await armRecall(memory, queries, seed + 300);
  progress("row security, on and off");
  const row_security = await securityCosts(memory, Math.min(100, queries), seed + 400);
  const { serving } = memory.versions;
  const index = serving === undefined ? "none" : (await indexState(asOwner(memory, "lab"), serving.version)).kind;
  return { calls, at_once, storage: await storageOf(memory), recall, row_security, index };
}

/** Asks the vector arm once as a search builds it, and once so that the index is not used. */
async function armRecall(memory: Memory, queries: number, seed: number): Promise<VectorRecall> {
  const p = picker(seed);
  const shares: number[] = [];
  const times = { arm: [] as number[], exact: [] as number[] };
  for (const text of distinct(queries, () => queryText(p))) {
    const call = callOn(memory);
    const { trace } = await retrieveTraced(call, searchQuery(call, { query: text, mode: "hybrid" }));
    if (trace.arm === undefined) continue;
    const found = await nearest(call, trace.arm, times.arm);
    const all = { ...trace.arm, groups: trace.arm.groups.map((group) => ({ ...group, exact: true, limit: NEAREST })) };
    shares.push(recallOf(await nearest(call, all, times.exact), found));
  }
  return {
    at: NEAREST,
    queries: shares.length,
    mean: round(shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length), 3),
    worst: Math.min(1, ...shares),
    arm_p50: spread(times.arm).p50,
    exact_p50: spread(times.exact).p50,
  };
}

async function nearest(call: Call, arm: VectorArm, times: number[]): Promise<string[]> {
  const started = performance.now();
  const { candidates } = await gatherCandidates(call.memory.db, [], arm, {
    ...lookOf(call, undefined),
    tags: undefined,
    tier: undefined,
  });
  times.push(performance.now() - started);
  return candidates
    .toSorted((a, b) => (a.distance ?? 2) - (b.distance ?? 2) || (a.id < b.id ? -1 : 1))
    .slice(0, NEAREST)
    .map(({ id }) => id);
}

const callOn = (memory: Memory): Call => ({
  memory: memoryOf(memory, "default"),
  caller: { tenant: "default", butler: memory.butler, admin: false, actor: "bench", voice: "user", session: undefined },
  now: memory.clock.now(),
  request: undefined,
  idempotencyKey: undefined,
});
