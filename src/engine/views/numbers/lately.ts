/**
 * Counts that read every row, for pages. Of a small store they are made for each answer. Of a large one an answer is given again for as
 * long as counting may take a twentieth of the time, and older ones are counted anew after the answer, not in its way.
 */
import type { Call, Memory } from "../../memory/memory.ts";

const SHARE = 20;
/** Nobody is told an older number: after a pause as long as this the first page waits for the count, others are told what was counted last. */
const OLDEST_MS = 60 * 60_000;

interface Kept {
  readonly answer: unknown;
  readonly isLarge: boolean;
  readonly at: Date;
  readonly counted: number;
  readonly tookMs: number;
}

/** By what all calls of one memory share: each call has a view of the memory of its own. */
const kept = new WeakMap<Memory["afterwards"], Map<string, Kept>>();
const MOST = 100;

export async function lately<A>(
  call: Call,
  key: string,
  count: () => Promise<A>,
  isLarge: (answer: A) => boolean,
): Promise<{ readonly answer: A; readonly at: Date }> {
  const own = kept.get(call.memory.afterwards) ?? new Map<string, Kept>();
  kept.set(call.memory.afterwards, own);
  const known = own.get(key);
  const age = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.counted;
  if (!known?.isLarge || age > OLDEST_MS) return anew(call, own, key, count, isLarge);
  if (age > SHARE * known.tookMs) {
    // Counts as fresh until then, so that it is counted once.
    own.set(key, { ...known, counted: performance.now() });
    call.memory.afterwards.push("count", async () => void (await anew(call, own, key, count, isLarge)));
  }
  return { answer: known.answer as A, at: known.at };
}

async function anew<A>(
  call: Call,
  own: Map<string, Kept>,
  key: string,
  count: () => Promise<A>,
  isLarge: (answer: A) => boolean,
) {
  const started = performance.now();
  const answer = await count();
  const counted = performance.now();
  if (own.size >= MOST) own.clear();
  own.set(key, { answer, isLarge: isLarge(answer), at: call.now, counted, tookMs: counted - started });
  return { answer, at: call.now };
}
