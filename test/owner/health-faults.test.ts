/**
 * What goes wrong is told by the health route and by /metrics. Nothing here measures time; that it is told within half a minute follows from
 * the constants: numbers are asked for anew after ten seconds, and a store that does not answer is waited for less than five.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { startServer } from "../../scripts/postgres/server.ts";
import { LIMIT_MS, SAMPLE_MS } from "../../src/daemon/health/sampler.ts";
import type { ApiHealth } from "../../src/doors/http/api/types.ts";
import type { ConditionId } from "../../src/engine/domain/health/conditions.ts";
import { THRESHOLDS } from "../../src/engine/domain/health/thresholds.ts";
import { butler, cleanUp, emptyHome, seededHome, type Up, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { administer } from "../support/postgres.ts";
import { REAL_TIME } from "../support/slow-time.ts";

afterAll(cleanUp);

const WAIT = { ...PATIENCE, interval: 500 };

function watching(home: string, { address }: Up) {
  const headers = { authorization: `Bearer ${readFileSync(join(home, "token"), "utf8").trim()}` };
  const health = async () => {
    const response = await fetch(`${address}/api/butlers/general/memory/health`, { headers });
    return (await response.json()) as ApiHealth;
  };
  return {
    health,
    condition: async (id: ConditionId) => (await health()).conditions.find((one) => one.id === id),
    fleet: async () => (await fetch(`${address}/api/memory/health`, { headers })).json(),
    /** The lines of a metric with its values. */
    async metric(name: string): Promise<Record<string, number>> {
      const text = await (await fetch(`${address}/metrics`, { headers })).text();
      const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      return Object.fromEntries(
        lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
      );
    },
  };
}

test("a scrape every 15 seconds sees any of it within half a minute", () => {
  expect(SAMPLE_MS + LIMIT_MS + 15_000).toBeLessThanOrEqual(30_000);
  expect(THRESHOLDS.workerSeconds).toBeLessThanOrEqual(30);
});

test("a scheduler that has stopped", async () => {
  const home = await seededHome();
  // The timer of the next look never ends.
  const stalled = `const real = setTimeout; globalThis.setTimeout = (work, ms, ...more) => real(ms === 10000 ? () => undefined : work, ms, ...more);`;
  const preload = `data:text/javascript,${encodeURIComponent(stalled)}`;
  const daemon = await up(home, [], { NODE_OPTIONS: `--import=${preload}` });
  const { condition, health, metric } = watching(home, daemon);
  await vi.waitFor(async () => expect((await condition("worker"))?.state).toBe("not_ok"), WAIT);
  const told = await health();
  expect(told).toMatchObject({ ok: false, store: "open" });
  expect(told.conditions.find(({ id }) => id === "worker")?.says).toMatch(
    /^Nobody has looked at the schedules for \d+ s/,
  );
  const [seconds = 0] = Object.values(await metric("butler_scheduler_last_look_seconds"));
  expect(seconds).toBeGreaterThan(THRESHOLDS.workerSeconds);
  expect(await metric("butler_condition")).toHaveProperty(
    'butler_condition{butler="general",id="worker",state="not_ok"}',
    1,
  );
  const { code, stdout } = await butler(home, ["doctor"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/✗ health general +worker: Nobody has looked at the schedules/);
});

describe.skipIf(inject("postgresUrl") === undefined)("on a PostgreSQL server", () => {
  test("dead letters, and a server that is gone", async () => {
    const server = await startServer();
    try {
      const home = emptyHome();
      const daemon = await up(home, [], { ...REAL_TIME, BUTLER_DATABASE_URL: server.url });
      const { condition, health, fleet, metric } = watching(home, daemon);
      const stored = await butler(home, ["remember", "I moved to Lisbon."], { BUTLER_DATABASE_URL: server.url });
      expect(stored.code).toBe(0);
      await vi.waitFor(async () => expect(await metric("butler_backlog_episodes")).toMatchObject(one(1)), WAIT);
      expect(await condition("dead_letters")).toMatchObject({ state: "ok", what_to_do: null });
      expect((await health()).pool).toMatchObject({ max: 10, waiting: 0 });

      const own = server.url.replace(/postgres$/, "butler_general");
      await administer(own, (client) => client.query("update episodes set consolidation_status = 'dead_letter'"));
      await vi.waitFor(async () => expect((await condition("dead_letters"))?.state).toBe("not_ok"), WAIT);
      expect(await metric("butler_dead_letters")).toEqual({ 'butler_dead_letters{butler="general"}': 1 });
      expect(await metric("butler_store_up")).toEqual({ 'butler_store_up{butler="general"}': 1 });

      await server.stop();
      await vi.waitFor(async () => expect((await health()).store).toBe("unknown"), WAIT);
      const told = await health();
      expect(told).toMatchObject({ ok: false, waiting: null, jobs: null, sizes: null, spend: null, sampled_at: null });
      expect(told.reason).not.toBe("");
      const states = Object.fromEntries(told.conditions.map(({ id, state }) => [id, state]));
      expect(states).toMatchObject({ store: "not_ok", backlog: "unknown", dead_letters: "unknown", worker: "ok" });
      expect(await metric("butler_store_up")).toEqual({ 'butler_store_up{butler="general"}': 0 });
      for (const name of ["butler_dead_letters", "butler_backlog_episodes", "butler_facts", "butler_database_bytes"])
        expect(await metric(name)).toEqual({});
      expect(await fleet()).toMatchObject({ ok: false, butlers: [{ name: "general" }] });
    } finally {
      await server.stop();
    }
  });
});

const one = (n: number) => ({ 'butler_backlog_episodes{butler="general"}': n });
