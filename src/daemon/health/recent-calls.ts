/** The calls and hooks of the last minutes, kept in memory: how long answers took, and how many failed. */
import type { HookCounts, ToolLatency } from "../../engine/domain/health/measurements.ts";
import { RECENT_MS } from "../../engine/domain/health/thresholds.ts";

export interface CallSeen {
  readonly butler: string;
  readonly tool: string;
  readonly ms: number;
  /** For a reason of ours: what a caller did wrong is no failure of the memory. */
  readonly failed: boolean;
}

export type HookOutcome = keyof HookCounts;

export interface RecentCalls {
  note(call: CallSeen): void;
  noteHook(butler: string, outcome: HookOutcome): void;
  /** Of the last quarter of an hour, by tool. */
  of(butler: string): ToolLatency[];
  hooksOf(butler: string): HookCounts;
}

/** Of each tool and butler: enough for a 95th percentile, and bounded where calls come by the thousand. */
const MOST = 500;

interface Timed {
  readonly at: number;
}
interface TimedCall extends Timed, Pick<CallSeen, "ms" | "failed"> {}
interface TimedHook extends Timed {
  readonly outcome: HookOutcome;
}

/** `clock`: milliseconds that only grow, such as `performance.now()`. */
export function recentCalls(clock: () => number): RecentCalls {
  const calls = new Map<string, Map<string, TimedCall[]>>();
  const hooks = new Map<string, TimedHook[]>();
  const recent = <T extends Timed>(list: readonly T[]): readonly T[] => {
    const from = clock() - RECENT_MS;
    return list.filter(({ at }) => at >= from);
  };
  return {
    note({ butler, tool, ms, failed }) {
      const own = of(calls, butler, () => new Map<string, TimedCall[]>());
      add(
        of(own, tool, () => []),
        { at: clock(), ms, failed },
      );
    },
    noteHook: (butler, outcome) =>
      add(
        of(hooks, butler, () => []),
        { at: clock(), outcome },
      ),
    of: (butler) =>
      [...(calls.get(butler) ?? [])].flatMap(([tool, list]) => {
        const seen = recent(list);
        return seen.length === 0 ? [] : [latencyOf(tool, seen)];
      }),
    hooksOf(butler) {
      const seen = recent(hooks.get(butler) ?? []);
      const count = (outcome: HookOutcome) => seen.filter((hook) => hook.outcome === outcome).length;
      return { told: count("told"), late: count("late"), without: count("without") };
    },
  };
}

function of<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

function add<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > MOST) list.shift();
}

function latencyOf(tool: string, seen: readonly TimedCall[]): ToolLatency {
  const times = seen.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const share = (p: number) => times[Math.min(times.length - 1, Math.ceil(p * times.length) - 1)] ?? 0;
  const round = (ms: number) => Math.round(ms * 10) / 10;
  return {
    tool,
    calls: seen.length,
    failed: seen.filter(({ failed }) => failed).length,
    p50_ms: round(share(0.5)),
    p95_ms: round(share(0.95)),
  };
}
