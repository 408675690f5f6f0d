/** How each butler of an owner stands: what is measured of it, and what follows from that. */
import type { Health, Standing } from "../../doors/backend.ts";
import { type Condition, judge } from "../../engine/domain/health/conditions.ts";
import type { Measurements } from "../../engine/domain/health/measurements.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ServedButler } from "../owner/served-butlers.ts";
import type { Scheduler } from "../schedule/scheduler.ts";
import type { RecentCalls } from "./recent-calls.ts";
import { createSampler, type Numbers, type Sampled, type Sampler } from "./sampler.ts";

export interface StandingParts {
  readonly calls: RecentCalls;
  readonly scheduler: () => Scheduler | undefined;
  now(): Date;
  visit(butler: string, work: (engine: Engine) => Promise<void>): Promise<void>;
  hasStore(butler: string): Promise<boolean>;
  /** Asks a database of a server without opening the memory in it; absent for embedded stores. */
  readonly peek?: ((butler: string, work: (store: Sampled) => Promise<void>) => Promise<void>) | undefined;
}

export interface Standings {
  of(served: ServedButler, health: Health["butlers"][number]): Promise<Standing>;
  changed(butler: string): void;
}

export function createStandings(parts: StandingParts): Standings {
  const samplers = new Map<string, Sampler>();
  const judged = new Map<string, readonly Condition[]>();
  const samplerOf = (butler: string): Sampler => {
    const known = samplers.get(butler) ?? createSampler();
    samplers.set(butler, known);
    return known;
  };
  return {
    changed: (butler) => samplerOf(butler).changed(),
    async of(served, { store: state, reason }) {
      const { name, memory } = served.config;
      const { sample, sizes, reason: unsampled, empty } = await numbersOf(parts, served, state, samplerOf(name));
      const open = served.keeper.state().store === "open" ? await settled(served.keeper.held()) : undefined;
      const scheduler = parts.scheduler();
      const measured: Measurements = {
        store: { state, ...(reason === undefined ? {} : { reason }) },
        nothing: served.remote
          ? "A shared memory elsewhere keeps it, and is judged there."
          : empty
            ? NO_STORE
            : undefined,
        sample,
        unsampled,
        pool: open?.pool(),
        replicas: open?.replicas(),
        looked_seconds: scheduler?.lookedSeconds(),
        overdue: scheduler?.overdue(name),
        calls: parts.calls.of(name),
        hooks: parts.calls.hooksOf(name),
        cap_usd: memory.extractor.daily_budget_usd,
      };
      const now = parts.now();
      const conditions = judge(measured, now, judged.get(name));
      judged.set(name, conditions);
      return { name, at: now, measured, sizes, conditions };
    },
  };
}

const NO_STORE = "There is no store yet; the first use makes it.";

/** A store that is off, elsewhere, or known not to answer is not asked. */
async function numbersOf(
  parts: StandingParts,
  { config, keeper, remote }: ServedButler,
  state: Health["butlers"][number]["store"],
  sampler: Sampler,
): Promise<Numbers> {
  const { name, memory } = config;
  const nothing: Numbers = { sample: undefined, sizes: undefined, reason: undefined };
  if (!memory.enabled || remote || state === "failed" || state === "unknown") return nothing;
  return sampler.read({
    held: keeper.held,
    shared: parts.peek !== undefined,
    async visit(work) {
      if (!(await parts.hasStore(name))) return;
      await (parts.peek ? parts.peek(name, work) : parts.visit(name, work));
    },
  });
}

const settled = <T>(held: Promise<T> | undefined): Promise<T | undefined> =>
  held?.catch(() => undefined) ?? Promise.resolve(undefined);
