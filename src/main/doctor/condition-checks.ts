/** The conditions of a butler's health, as findings: judged by the owner when one runs, else from the numbers of the store itself. */
import type { Home } from "../../daemon/home.ts";
import { requestOwner } from "../../daemon/line/request.ts";
import type { ApiHealth } from "../../doors/http/api/types.ts";
import type { Db } from "../../engine/adapters/db/port.ts";
import { type Condition, type ConditionId, judge } from "../../engine/domain/health/conditions.ts";
import { readSample } from "../../engine/store/health/sample.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Told by the check of the store itself. */
const TOLD: ReadonlySet<ConditionId> = new Set(["store", "learning"]);

export function conditionFindings(butler: string, conditions: readonly Condition[]): Finding[] {
  const judged = conditions.filter(({ id }) => !TOLD.has(id));
  const known = judged.filter(({ state }) => state !== "unknown");
  const bad = known.filter(({ state }) => state === "not_ok");
  if (bad.length === 0) {
    const found = `${known.length} of ${judged.length} conditions looked at, all well`;
    return known.length === 0 ? [] : [ok(`health ${butler}`, found)];
  }
  return bad.map(({ id, says, what_to_do }) => {
    const found = `${id}: ${says}`;
    const tell = id === "worker" ? fail : warn;
    return tell(`health ${butler}`, found, what_to_do ?? "");
  });
}

/** An owner of an earlier version knows no conditions. */
export async function conditionsOfOwner(home: Home, butler: string, timeoutMs: number): Promise<readonly Condition[]> {
  const path = `/api/butlers/${encodeURIComponent(butler)}/memory/health`;
  const { json } = await requestOwner({ socket: home.socket, method: "GET", path, timeoutMs });
  return (json as Partial<ApiHealth>).conditions ?? [];
}

/** Without an owner nothing is known of calls, hooks and schedules. */
export async function conditionsOfStore(db: Db, capUsd: number, now: Date): Promise<readonly Condition[]> {
  const sample = await readSample(db, now);
  const quiet = { calls: [], hooks: { told: 0, late: 0, without: 0 } };
  const judged = judge({ store: { state: "open" }, sample, cap_usd: capUsd, ...quiet }, now);
  return judged.filter(({ id }) => FROM_THE_STORE.has(id));
}

const FROM_THE_STORE: ReadonlySet<ConditionId> = new Set([
  "jobs",
  "backlog",
  "dead_letters",
  "database",
  "replica",
  "partitions",
  "spend",
]);
