/** The numbers of a whole store, and what answers are measured by. */
import { expect, it } from "vitest";
import type { Meter } from "../../src/engine/adapters/meter.ts";
import { jobs } from "../../src/engine/memory/keep/jobs.ts";
import { jobRunner } from "../../src/engine/memory/keep/run-job.ts";
import { readSample, readSizes } from "../../src/engine/store/health/sample.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const by = { name: "root", tenant: "default", butler: "*", admin: true, voice: "user" } as const;
const remember = (rig: Rig, content: string, tenant = "default") =>
  rig.call("memory_store_episode", { content, butler: "general" }, { as: { tenant } });

onEachStore("the numbers of a store", (open, store) => {
  it("count what waits, what was given up, what ran and what it cost, over all tenants", async () => {
    const rig = await open({ model: false });
    expect(await readSample(rig.db, rig.now)).toMatchObject({
      ...{ backlog: 0, oldest_pending: null, dead_letters: 0, jobs_waiting: 0, jobs: [], spent_usd: 0, failing: null },
    });
    const first = rig.now;
    const { id } = await remember(rig, "The first thing.");
    rig.later(1);
    await remember(rig, "Something of another tenant.", "others");
    await rig.db.query("update episodes set consolidation_status = 'dead_letter' where id = $1", [id]);
    const waiting = await readSample(rig.db, rig.now);
    expect(waiting).toMatchObject({ backlog: 1, dead_letters: 1, oldest_pending: rig.now });
    expect(first < rig.now).toBe(true);
    expect(waiting.server).toEqual(
      store === "PGlite"
        ? null
        : {
            connections: expect.any(Number),
            max_connections: 200,
            replicas: 0,
            replica_lag_seconds: null,
            partitions_ahead_days: null,
          },
    );

    await jobRunner(rig.memory, jobs).runNow("consolidate", { dryRun: false, interrupted: () => false });
    const after = await readSample(rig.db, rig.now);
    expect(after).toMatchObject({ backlog: 0, jobs: [{ job: "consolidate", state: "done", started_at: rig.now }] });
    await rig.db.query("update consolidation_runs set cost_usd = 0.25");
    expect((await readSample(rig.db, rig.now)).spent_usd).toBeCloseTo(0.25);
    rig.later(1);
    expect((await readSample(rig.db, rig.now)).spent_usd).toBe(0);
    await remember(rig, "One more.");
    await rig.db.query(
      `insert into consolidation_runs (id, tenant_id, butler, state, provider, model, episode_ids, lease_until, started_at, finished_at)
       values (gen_random_uuid(), 'default', 'general', 'failed', 'anthropic', 'm', '{}', $1, $1, $1)`,
      [rig.now],
    );
    expect((await readSample(rig.db, rig.now)).failing).toEqual({
      since: rig.now.toISOString(),
      provider: "anthropic",
    });
  });

  it("have sizes, facts by state and events by type", async () => {
    const rig = await open({ model: false });
    for (const content of ["Hamburg", "Lisbon"])
      await rig.call("memory_store_fact", { subject: "user", predicate: "lives_in", content });
    const { rows, facts, events, database_bytes, index_bytes } = await readSizes(rig.db, rig.now);
    expect(rows).toMatchObject({ facts: 2, episodes: 0 });
    expect(facts).toEqual({ active: 1, superseded: 1 });
    expect(events).toMatchObject({ "fact.stored": 2, "fact.superseded": 1 });
    expect(database_bytes).toBeGreaterThan(index_bytes);
    expect(index_bytes).toBeGreaterThan(0);
  });

  it("an answer is measured by whether it fits, how sure it is and how many subjects it has", async () => {
    const rig = await open({ model: false });
    for (const [predicate, content] of [
      ["provider", "Route 53"],
      ["zone", "example.org"],
    ])
      await rig.call("memory_store_fact", { subject: "dns", predicate, content });
    const seen: [string, object, number?][] = [];
    const meter: Meter = {
      observe: (name, labels, value) => void seen.push([name, labels, value]),
      count: (name, labels) => void seen.push([name, labels]),
    };
    const ask = (tool: string, input: object) => callTool({ ...rig.memory, meter }, by, { tool, input });
    const of = (name: string) => seen.filter(([one]) => one === name).map(([, ...rest]) => rest);
    const labels = { butler: "general", kind: "search" };

    await ask("memory_search", { query: "dns provider and zone" });
    expect(of("butler_retrievals_total")).toEqual([[{ ...labels, outcome: "fits" }]]);
    expect(of("butler_returned_confidence")).toEqual([
      [labels, expect.closeTo(1)],
      [labels, expect.closeTo(1)],
    ]);
    expect(of("butler_returned_diversity")).toEqual([[labels, 0.5]]);
    seen.length = 0;
    await ask("memory_context", { trigger_prompt: "Which dns provider?", butler: "general" });
    expect(of("butler_retrievals_total")).toEqual([[{ ...labels, kind: "context", outcome: "fits" }]]);
    seen.length = 0;
    await ask("memory_search", { query: "quartz violins" });
    expect(of("butler_retrievals_total")).toEqual([[{ ...labels, outcome: "nothing" }]]);
    seen.length = 0;
    // What a person looks at on a page is no measure.
    await ask("view_search", { query: "dns" });
    expect(seen).toEqual([]);
  });
});
