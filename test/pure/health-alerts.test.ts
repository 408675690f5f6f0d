/** The alerts and the dashboard name what is really exported, and the alerts have the numbers of the conditions. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Standing } from "../../src/doors/backend.ts";
import { COUNTERS, HISTOGRAMS } from "../../src/engine/adapters/meter.ts";
import { CONDITIONS, type ConditionId } from "../../src/engine/domain/health/conditions.ts";
import { RECENT_MS, THRESHOLDS } from "../../src/engine/domain/health/thresholds.ts";
import { GAUGES } from "../../src/main/metrics/gauges.ts";
import { openMetrics } from "../../src/main/metrics/registry.ts";
import { alertsOf, metricsIn } from "../support/ops-files.ts";

const text = (name: string) => readFileSync(new URL(`../../ops/${name}`, import.meta.url), "utf8");
const alerts = alertsOf(text("alerts.yml"));

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(text("grafana.json")) as { readonly title: string; readonly panels: readonly Panel[] };
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

const T = THRESHOLDS;
const RANGE = `[${RECENT_MS / 60_000}m]`;

/** What each alert must compare with, and the condition that says the same. */
const EXPECTED: Readonly<Record<string, readonly [ConditionId | undefined, ...string[]]>> = {
  ButlerDown: [undefined, "== 0"],
  ButlerStoreDown: ["store", "== 0"],
  ButlerWorkerStopped: ["worker", `> ${T.workerSeconds}`],
  ButlerBacklogOld: ["backlog", `> ${T.backlogSeconds}`],
  ButlerLearningFails: ["learning", "== 1"],
  ButlerErrors: ["errors", `> ${T.errorShare}`, `>= ${T.enoughCalls}`, RANGE],
  ButlerContextSlow: ["latency", `> ${T.contextSeconds}`, `>= ${T.enoughCalls}`, "quantile(0.95,", RANGE],
  ButlerSearchSlow: ["latency", `> ${T.searchSeconds}`, `>= ${T.enoughCalls}`, "quantile(0.95,", RANGE],
  ButlerJobFailed: ["jobs", "== 1"],
  ButlerSweepSlow: ["jobs", `> ${T.sweepSeconds}`],
  ButlerJobSkipped: ["schedule", `> ${T.overdueSeconds}`],
  ButlerDeadLetters: ["dead_letters", "> 0"],
  ButlerPoolSaturated: ["database", "butler_pool_waiting > 0", `> ${T.connectionShare}`],
  ButlerServerConnections: ["database", `> ${T.connectionShare}`],
  ButlerReplicaLag: ["replica", `> ${T.replicaSeconds}`],
  ButlerPartitionsMissing: ["partitions", `< ${T.partitionDays}`],
  ButlerSpendAtCap: ["spend", `>= ${T.spendShare} *`],
  ButlerHooksWithoutMemory: ["hooks", `> ${T.hookShare}`, `>= ${T.enoughCalls}`, RANGE],
};

describe("ops/alerts.yml", () => {
  test("has an alert for every condition, with its number", () => {
    expect(alerts.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
    for (const { name, expr } of alerts) {
      const [, ...parts] = EXPECTED[name] ?? [];
      for (const part of parts) expect(`${expr} `, name).toContain(`${part}${/\d$/.test(part) ? " " : ""}`);
    }
    const judged = new Set(Object.values(EXPECTED).map(([id]) => id));
    expect(CONDITIONS.filter((id) => !judged.has(id))).toEqual([]);
  });

  test("says of each what happened and what to do", () => {
    for (const { body } of alerts)
      for (const key of ["summary", "description", "what_to_do", "severity"])
        expect(body).toMatch(new RegExp(`${key}: \\S`));
  });
});

test("every metric of the alerts and the dashboard is exported, with the labels that are asked for", async () => {
  const { door } = openMetrics("1.2.3");
  const { text: exported } = await door(
    { standings: async () => [], now: () => new Date(), inFlight: () => 0 },
    true,
  ).read();
  const names = new Set([...exported.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  const labels = new Map<string, readonly string[]>(
    Object.entries({ ...GAUGES, ...HISTOGRAMS, ...COUNTERS }).map(([name, measure]) => [name, measure.labels]),
  );
  const used = [...alerts.map(({ expr }) => expr), ...queries].flatMap(metricsIn);
  expect(used.length).toBeGreaterThan(50);
  for (const { name, asked } of used) {
    const whole = name.replace(/_(?:bucket|sum|count)$/, "");
    if (name === "up") continue;
    expect(names, `${name} is not exported`).toContain(names.has(name) ? name : whole);
    const known = ["instance", "job", "le", ...(labels.get(whole) ?? labels.get(name) ?? [])];
    expect(
      asked.filter((label) => !known.includes(label)),
      name,
    ).toEqual([]);
  }
});

test("a dashboard has panels with queries under their rows", () => {
  expect(dashboard.title).toBe("Butler Memory");
  const drawn = dashboard.panels.filter(({ type }) => type !== "row");
  expect(drawn.every(({ targets = [], title }) => targets.length > 0 && title !== "")).toBe(true);
});

test("of a store that does not answer only that is exported: no count, and none from before", async () => {
  const standing = (more: Partial<Standing["measured"]>, sizes?: Standing["sizes"]): Standing => ({
    name: "general",
    at: new Date(),
    conditions: [],
    sizes,
    measured: {
      store: { state: "open" },
      sample: undefined,
      calls: [],
      hooks: { told: 0, late: 0, without: 0 },
      cap_usd: 1,
      ...more,
    },
  });
  const at = new Date();
  const sample = {
    ...{ at, backlog: 7, oldest_pending: at, dead_letters: 3, jobs_waiting: 1, jobs: [], spent_usd: 0.5 },
    ...{ failing: null, server: null },
  };
  const sizes = { at, database_bytes: 1, index_bytes: 1, dead_rows: 0, rows: { facts: 2 }, facts: {}, events: {} };
  let now = standing({ sample }, sizes);
  const { read } = openMetrics("1").door({ standings: async () => [now], now: () => at, inFlight: () => 0 }, true);
  const lines = async () =>
    (await read()).text.split("\n").filter((line) => line.startsWith("butler_") && /="general"/.test(line));
  expect(await lines()).toContain('butler_dead_letters{butler="general"} 3');
  expect(await lines()).toContain('butler_facts{butler="general",state="fading"} 0');
  now = standing({ store: { state: "unknown", reason: "gone" } });
  expect(await lines()).toEqual(['butler_store_up{butler="general"} 0', 'butler_spend_cap_usd{butler="general"} 1']);
});
