/** How the memory is doing, in numbers. */

import { CONSOLIDATION } from "../domain/episode.ts";
import { VALIDITY } from "../domain/lifecycle/lifecycle.ts";
import { MATURITY } from "../domain/lifecycle/maturity.ts";
import { TIERS } from "../domain/lifecycle/tiers.ts";
import { MEMORY_TYPES } from "../domain/memory-types.ts";
import { readableScopes } from "../domain/scope.ts";
import { type Counted, countByScope, readStats } from "../store/memories/stats.ts";
import type { Call } from "./memory.ts";

export interface StatsParts {
  readonly scope?: string | undefined;
  /** Of at least the scopes that are asked for, if they have been counted already. */
  readonly counted?: readonly Counted[] | undefined;
}

export async function stats(call: Call, input: StatsParts) {
  const scopes = readableScopes(call.caller, input.scope);
  const asked = { tenant: call.caller.tenant, scopes, now: call.now };
  const counted = input.counted ?? (await countByScope(call.memory.db, asked));
  const found = await readStats(call.memory.db, asked);
  const wanted = scopes === undefined ? undefined : new Set(scopes);
  const own = counted.filter(({ scope }) => wanted?.has(scope) ?? true);
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
  const of = (what: Counted["what"], names: readonly string[] = []): Record<string, number> => {
    const counts: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
    for (const { name, n } of own.filter((one) => one.what === what)) counts[name] = (counts[name] ?? 0) + n;
    return counts;
  };
  const tiers = of("tier", TIERS);
  const states = of("state", VALIDITY);
  const maturities = of("maturity", MATURITY);
  const events = of("event");
  const tenths = of("tenth");
  const applied = sum(of("applied"));
  const ofEvents = (deed: string) => MEMORY_TYPES.reduce((n, type) => n + (events[`${type}.${deed}`] ?? 0), 0);
  const [stored, repeated] = [ofEvents("stored"), ofEvents("repeated")];
  const waiting = found.oldest_pending === null ? 0 : call.now.getTime() - found.oldest_pending.getTime();
  return {
    episodes: {
      total: sum(tiers),
      by_tier: tiers,
      by_status: of("status", CONSOLIDATION),
      backlog: found.backlog,
      backlog_age_hours: Math.max(0, waiting) / 3_600_000,
      backlog_age_p95_hours: Math.max(0, found.pending_p95_hours ?? 0),
    },
    consolidation: {
      runs_done: found.runs.done,
      runs_failed: found.runs.failed,
      cost_usd: found.runs.cost_usd,
      learned_after_p95_hours: found.learned_p95_hours,
      failing: found.failing,
    },
    facts: {
      total: (states.active ?? 0) + (states.fading ?? 0),
      by_state: states,
      waiting: found.facts_waiting,
      confidence_histogram: Array.from({ length: 10 }, (_, tenth) => tenths[tenth] ?? 0),
    },
    rules: {
      total: sum(maturities),
      by_maturity: maturities,
      effectiveness: applied === 0 ? null : sum(of("effect")) / applied,
      applications: sum(of("applications")),
    },
    links: sum(of("links")),
    events: sum(events),
    duplicate_rate: stored + repeated === 0 ? 0 : repeated / (stored + repeated),
    ...(call.memory.embedder
      ? {}
      : { degraded: "no embedding model: search is by keyword only. Run `butler model pull`." }),
  };
}
