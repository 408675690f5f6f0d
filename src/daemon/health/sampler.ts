/**
 * Asks stores for their numbers, at most every ten seconds each. An embedded store that is closed is not opened for that: nobody else writes
 * to it, so the last numbers still hold, and it is opened once when there are none or when a job has written since.
 */
import { reasonOf } from "../../engine/domain/errors.ts";
import type { StoreSample, StoreSizes } from "../../engine/domain/health/measurements.ts";
import { within } from "../pause.ts";

/** Older numbers are asked for anew. A condition is to be seen within half a minute, by a scrape every fifteen seconds too. */
export const SAMPLE_MS = 10_000;
/** Sizes and counts by state take scans. */
export const SIZES_MS = 60_000;
/** Whoever asks waits no longer than this; a late answer is there for the next. */
export const LIMIT_MS = 2_500;

/** What is asked for numbers: an engine, or a bare connection. */
export interface Sampled {
  sample(): Promise<StoreSample>;
  sizes(): Promise<StoreSizes>;
}

export interface SampledStore {
  /** The store if it is open. */
  held(): Promise<Sampled> | undefined;
  /** Opens a closed store for `work`, which is not called when there is no store to open. */
  visit(work: (store: Sampled) => Promise<void>): Promise<void>;
  /** Another process may write to it while it is closed here. */
  readonly shared: boolean;
}

export interface Numbers {
  readonly sample: StoreSample | undefined;
  readonly sizes: StoreSizes | undefined;
  /** Why there are none, when the store should have told them. */
  readonly reason: string | undefined;
  /** There is no store yet. */
  readonly empty?: boolean;
}

export interface Sampler {
  read(store: SampledStore): Promise<Numbers>;
  /** The store was written to. */
  changed(): void;
}

interface SamplerState {
  numbers: Numbers;
  /** When the numbers were asked for, on the clock of `performance.now()`; so is `sizedAt`. */
  askedAt: number | undefined;
  sizedAt: number | undefined;
  asking: Promise<void> | undefined;
  dirty: boolean;
}

const NONE: Numbers = { sample: undefined, sizes: undefined, reason: undefined };

export function createSampler(): Sampler {
  const state: SamplerState = { numbers: NONE, askedAt: undefined, sizedAt: undefined, asking: undefined, dirty: true };
  return {
    changed() {
      state.dirty = true;
    },
    async read(store) {
      if (!isFresh(state, store))
        state.asking ??= ask(state, store).finally(() => {
          state.asking = undefined;
        });
      const { asking } = state;
      if (asking && !(await within(LIMIT_MS, asking))) {
        // What was known before may not be true any more. A closed embedded store takes its time to open, which is no fault of it.
        const opening = store.held() === undefined && !store.shared;
        state.numbers = { ...NONE, reason: opening ? undefined : `no answer within ${LIMIT_MS / 1_000} s` };
      }
      return state.numbers;
    },
  };
}

const isYounger = (at: number | undefined, ms: number): boolean => at !== undefined && performance.now() - at < ms;

function isFresh({ askedAt, numbers, dirty }: SamplerState, store: SampledStore): boolean {
  if (isYounger(askedAt, SAMPLE_MS)) return true;
  return !dirty && !store.shared && store.held() === undefined && numbers.sample !== undefined;
}

/** Never fails: the reason is among the numbers. */
async function ask(state: SamplerState, store: SampledStore): Promise<void> {
  state.askedAt = performance.now();
  state.dirty = false;
  try {
    const held = store.held();
    if (held) await tell(state, await held);
    else {
      let told = false;
      await store.visit(async (opened) => {
        told = true;
        await tell(state, opened);
      });
      if (!told) state.numbers = { ...NONE, empty: true };
    }
  } catch (error) {
    state.numbers = { ...NONE, reason: reasonOf(error) };
    state.sizedAt = undefined;
    state.dirty = true;
  }
}

async function tell(state: SamplerState, store: Sampled): Promise<void> {
  const sample = await store.sample();
  const known = isYounger(state.sizedAt, SIZES_MS) ? state.numbers.sizes : undefined;
  const sizes = known ?? (await store.sizes());
  if (known === undefined) state.sizedAt = performance.now();
  state.numbers = { sample, sizes, reason: undefined };
}
