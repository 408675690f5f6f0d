/** How the memory is doing, in numbers. */

import { CONSOLIDATION } from "../domain/episode.ts";
import { VALIDITY } from "../domain/lifecycle/lifecycle.ts";
import { MATURITY } from "../domain/lifecycle/maturity.ts";
import { TIERS } from "../domain/lifecycle/tiers.ts";
import { readableScopes } from "../domain/scope.ts";
import { readStats } from "../store/memories/stats.ts";
import type { Call } from "./memory.ts";

export async function stats(call: Call, input: { readonly scope?: string | undefined }) {
  const scopes = readableScopes(call.caller, input.scope);
  const found = await readStats(call.memory.db, { tenant: call.caller.tenant, scopes, now: call.now });
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
  const every = (names: readonly string[], counts: Record<string, number>) =>
    Object.fromEntries(names.map((name) => [name, counts[name] ?? 0]));
  const waiting = found.oldest_pending === null ? 0 : call.now.getTime() - found.oldest_pending.getTime();
  const told = found.stored + found.repeated;
  return {
    episodes: {
      total: sum(found.by_tier),
      by_tier: every(TIERS, found.by_tier),
      by_status: every(CONSOLIDATION, found.by_status),
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
      total: (found.fact_states.active ?? 0) + (found.fact_states.fading ?? 0),
      by_state: every(VALIDITY, found.fact_states),
      waiting: found.facts_waiting,
      confidence_histogram: [...found.histogram],
    },
    rules: {
      total: sum(found.rule_maturity),
      by_maturity: every(MATURITY, found.rule_maturity),
      effectiveness: found.effectiveness,
      applications: found.applications,
    },
    links: found.links,
    events: found.events,
    duplicate_rate: told === 0 ? 0 : found.repeated / told,
    ...(call.memory.embedder
      ? {}
      : { degraded: "no embedding model: search is by keyword only. Run `butler model pull`." }),
  };
}
