/** A job whose work lies in shards is done by several daemons of a server at once: each shard by one of them. */
import { expect, it } from "vitest";
import type { Extractor, Material } from "../../src/engine/adapters/extractor/port.ts";
import { jobs } from "../../src/engine/memory/keep/jobs.ts";
import { jobRunner } from "../../src/engine/memory/keep/run-job.ts";
import { gate } from "../support/owner-fakes.ts";
import { fact, scripted } from "../support/scripted-extractor.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const learnsAll = (material: Material) => ({
  facts: material.episodes.map(({ label, text }) => fact(`has ${text.length}`, text, [label])),
  rules: [],
});

/** A daemon of its own: what it runs it does not know of the other. */
function daemon(rig: Rig, extractor: Extractor) {
  const memory: Rig["memory"] = Object.create(rig.memory, { extractor: { value: extractor } });
  return jobRunner(memory, jobs);
}

const minutesOn = (rig: Rig, minutes: number) => new Date(rig.now.getTime() + minutes * 60_000);

const states = (rig: Rig) =>
  rig.db.query<{ tenant_id: string; consolidation_status: string }>(
    "select tenant_id, consolidation_status from episodes order by created_at, id",
  );

onEachStore("a job in shards", (open, store) => {
  // An embedded store has one owner, and nobody to share with.
  it.skipIf(store === "PGlite")(
    "a second daemon takes the shards that the first has not come to, and nothing is learned twice",
    async () => {
      const rig = await open({ model: false });
      for (const [n, tenant] of ["north", "south", "west"].entries()) {
        rig.set(new Date(rig.now.getTime() + n));
        await rig.call("memory_store_episode", { content: `The ${tenant} has a garden` }, { as: { tenant } });
      }
      const [begun, held] = [gate(), gate()];
      const slow = scripted(learnsAll);
      const waiting: Extractor = {
        ...slow.extractor,
        async extract(material, signal) {
          begun.open();
          await held.passed;
          return slow.extractor.extract(material, signal);
        },
      };
      const quick = scripted(learnsAll);
      const [first, second] = [daemon(rig, waiting), daemon(rig, quick.extractor)];
      const slot = new Date("2026-03-01T12:00:00.000Z");
      await first.enqueue({ job: "consolidate", slot, trigger: "schedule", missed: 0 });
      const running = first.drain(() => false);
      await begun.passed;

      const helped = await second.drain(() => false);
      const done = "consolidated";
      expect((await states(rig)).map(({ consolidation_status: status }) => status)).toEqual(["pending", done, done]);
      expect(helped.map(({ job, report }) => [job, report?.counts.episodes_consolidated])).toEqual([
        ["consolidate", 2],
      ]);
      held.open();
      expect((await running).map(({ job, state }) => [job, state])).toEqual([["consolidate", "done"]]);
      expect((await states(rig)).every(({ consolidation_status: status }) => status === done)).toBe(true);
      expect([slow.seen.length, quick.seen.length]).toEqual([1, 2]);
      const runs = await rig.db.query<{ state: string; n: number }>(
        "select state, count(*)::int4 as n from consolidation_runs group by 1",
      );
      expect(runs).toEqual([{ state: "done", n: 3 }]);
      expect(await first.history({ job: "consolidate", limit: 5 })).toMatchObject([{ state: "done", attempt: 1 }]);
      // Nobody runs it any more: there is nothing to share.
      expect(await second.drain(() => false)).toEqual([]);
    },
  );

  it.skipIf(store === "PGlite")(
    "a shard's lease counts from when it is taken: a job that has run for long loses none of its shards to another daemon",
    async () => {
      const rig = await open({ model: false });
      for (const [n, tenant] of ["north", "south"].entries()) {
        rig.set(new Date(rig.now.getTime() + n));
        await rig.call("memory_store_episode", { content: `The ${tenant} has a garden` }, { as: { tenant } });
      }
      const [begun, held] = [gate(), gate()];
      const slow = scripted(learnsAll);
      const waiting: Extractor = {
        ...slow.extractor,
        async extract(material, signal) {
          if (slow.seen.length === 0) rig.set(minutesOn(rig, 6));
          else {
            begun.open();
            await held.passed;
          }
          return slow.extractor.extract(material, signal);
        },
      };
      const quick = scripted(learnsAll);
      const [first, second] = [daemon(rig, waiting), daemon(rig, quick.extractor)];
      const slot = new Date("2026-03-01T12:00:00.000Z");
      await first.enqueue({ job: "consolidate", slot, trigger: "schedule", missed: 0 });
      const running = first.drain(() => false);
      await begun.passed;

      expect(await second.drain(() => false)).toEqual([]);
      expect(quick.seen).toEqual([]);
      held.open();
      expect((await running).map(({ report }) => report?.counts.episodes_consolidated)).toEqual([2]);
      const runs =
        "select state, consolidation_attempts as attempts from consolidation_runs, episodes e where e.id = any(episode_ids)";
      expect(await rig.db.query(runs)).toEqual([
        { state: "done", attempts: 1 },
        { state: "done", attempts: 1 },
      ]);
    },
  );

  it("what fails late in a job is tried again later than it failed", async () => {
    const rig = await open({ model: false });
    await rig.call("memory_store_episode", { content: "The north has a garden" });
    const slow = scripted(() => {
      rig.set(minutesOn(rig, 6));
      return "invalid_answer";
    });
    await daemon(rig, slow.extractor).runNow("consolidate", { dryRun: false, interrupted: () => false });
    const [tried] = await rig.db.query<{ at: Date }>("select next_consolidation_retry_at as at from episodes");
    expect(tried?.at.getTime()).toBeGreaterThan(rig.now.getTime());
    const [run] = await rig.db.query<{ at: Date }>("select finished_at as at from consolidation_runs");
    expect(run?.at).toEqual(rig.now);
    expect(slow.seen).toHaveLength(1);
  });
});
