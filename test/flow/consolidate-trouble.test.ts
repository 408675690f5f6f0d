/** What happens to episodes when nothing can be learned from them: nobody is blamed, nothing is lost, and it is said aloud. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Extractor, FailureKind, Material } from "../../src/engine/adapters/extractor/port.ts";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { jobRunner } from "../../src/engine/memory/keep/run-job.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { extractorOrWhyNot } from "../../src/main/wiring/extractor.ts";
import { runJob } from "../support/job-runs.ts";
import { type Reply, scripted } from "../support/scripted-extractor.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const MINUTE = 1 / 1440;
const told = async (rig: Rig, content: string, tenant = "default"): Promise<string> =>
  (await rig.call("memory_store_episode", { content }, { as: { tenant } })).id;
const episodes = (rig: Rig) =>
  rig.db.query<{ content: string; status: string; attempts: number; error: string | null; retry: Date | null }>(
    `select content, consolidation_status as status, consolidation_attempts as attempts, last_consolidation_error as error,
       next_consolidation_retry_at as retry from episodes order by created_at, id`,
  );
const run = async (rig: Rig, answer: (material: Material) => Reply, more: Partial<Extractor> = {}) => {
  const script = scripted(answer, more);
  const report = await runJob(rig, consolidate, { extractor: script.extractor });
  return { ...report, asked: script.seen.map((material) => material.episodes.map(({ text }) => text)) };
};
const nothing = (): Reply => ({ facts: [], rules: [], confirmations: [] });
const failing = async (rig: Rig) => (await rig.call("memory_stats", {})).consolidation.failing;

onEachStore("consolidation in trouble", (open) => {
  it.each(["timeout", "rate_limited", "unavailable"] as const)(
    "a provider with %s costs nobody an attempt, and is asked ever more rarely",
    async (kind: FailureKind) => {
      const rig = await open({ model: false });
      await told(rig, "first");
      const asked: number[] = [];
      for (let minute = 0; minute < 200; minute++) {
        if ((await run(rig, () => kind)).asked.length > 0) asked.push(minute);
        rig.later(MINUTE);
      }
      // After 1, 2, 4, … minutes, and then once an hour.
      expect(asked).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
      expect(await episodes(rig)).toMatchObject([{ status: "pending", attempts: 0, error: `scripted: ${kind}` }]);
      rig.later(1);
      expect((await run(rig, nothing)).counts).toEqual({ episodes_consolidated: 1 });
      expect(await episodes(rig)).toMatchObject([{ status: "consolidated", attempts: 1, error: null, retry: null }]);
      // It answers again: the next trouble starts with a minute.
      await told(rig, "second");
      await run(rig, () => kind);
      expect((await episodes(rig))[1]?.retry).toEqual(new Date(rig.now.getTime() + 60_000));
    },
  );

  it("a provider in trouble is not asked for other shards either", async () => {
    const rig = await open({ model: false });
    await told(rig, "of one", "one");
    await told(rig, "of two", "two");
    expect((await run(rig, () => "unavailable")).asked).toEqual([["of one"]]);
    const second = await run(rig, nothing);
    expect([second.asked, second.failed]).toEqual([[], expect.stringContaining("is not asked again before")]);
    rig.later(MINUTE);
    expect((await run(rig, nothing)).asked).toEqual([["of one"], ["of two"]]);
  });

  it("a batch that takes too long comes back in quarters, and is learned from in the end", async () => {
    const rig = await open({ model: false });
    for (let n = 0; n < 30; n++) await told(rig, `note ${n}`);
    const sizes: number[] = [];
    for (let n = 0; n < 20; n++) {
      const slow = await run(rig, (m) => (m.episodes.length > 10 ? "timeout" : nothing()));
      sizes.push(...slow.asked.map((texts) => texts.length));
      rig.later(1 / 24);
    }
    expect(sizes.slice(0, 2)).toEqual([30, 7]);
    for (const { status, attempts } of await episodes(rig)) expect([status, attempts]).toEqual(["consolidated", 1]);
  });

  it("a later episode does not overtake one that waits to be tried again, and a poison one holds up nobody for ever", async () => {
    const rig = await open({ model: false });
    await told(rig, "poison");
    const answer = (m: Material) => (m.episodes.some(({ text }) => text === "poison") ? "invalid_answer" : nothing());
    expect((await run(rig, answer)).asked).toEqual([["poison"]]);
    rig.later(MINUTE / 2);
    await told(rig, "later");
    expect((await run(rig, nothing)).asked).toEqual([]);
    const asked: string[][] = [];
    for (let minute = 0; minute < 20; minute++) {
      asked.push(...(await run(rig, answer)).asked);
      rig.later(MINUTE);
    }
    expect(asked).toEqual([["poison"], ["poison"], ["poison"], ["poison"], ["later"]]);
    expect(await episodes(rig)).toMatchObject([
      { content: "poison", status: "dead_letter", attempts: 5 },
      { content: "later", status: "consolidated", attempts: 1 },
    ]);
  });

  it("whatever goes wrong, episodes are learned from in the order in which they were told", async () => {
    const rig = await open({ model: false });
    let lives = 0;
    const replies = fc.constantFrom("ok", "ok", "invalid_answer", "unavailable", "timeout", "refused", "misconfigured");
    const steps = fc.array(fc.record({ tell: fc.nat(3), reply: replies, minutes: fc.constantFrom(0, 1, 5, 70) }), {
      minLength: 5,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (life) => {
        const tenant = `life${lives++}`;
        await rig.db.query("delete from consolidation_runs");
        await rig.db.query(
          "update episodes set consolidation_status = 'failed' where consolidation_status = 'pending'",
        );
        const ended: string[] = [];
        for (const { tell, reply, minutes } of life) {
          for (let n = 0; n < tell; n++) {
            await told(rig, `note ${n} at ${rig.now.toISOString()}`, tenant);
            rig.later(MINUTE / 60);
          }
          await run(rig, () => (reply === "ok" ? nothing() : (reply as FailureKind)));
          const rows = await rig.db.query<{ id: string; status: string; attempts: number }>(
            `select id, consolidation_status as status, consolidation_attempts as attempts from episodes
             where tenant_id = $1 order by created_at, id`,
            [tenant],
          );
          // What is done with stands before what waits: nothing was passed over.
          const firstWaiting = rows.findIndex(({ status }) => status === "pending");
          const done = rows.filter(({ status }) => status !== "pending");
          expect(done).toEqual(firstWaiting < 0 ? rows : rows.slice(0, firstWaiting));
          for (const { status, attempts } of rows) expect(attempts).toBeLessThanOrEqual(status === "pending" ? 4 : 5);
          for (const id of ended) expect(done.map((row) => row.id)).toContain(id);
          ended.splice(0, ended.length, ...done.map(({ id }) => id));
          rig.later(minutes * MINUTE);
        }
      }),
      { numRuns: 12 },
    );
  });

  it("without a key a run has failed, and history, stats and the report say why; with one all is well", async () => {
    const rig = await open({ model: false });
    await told(rig, "unlearned");
    const { extractor: wishes } = Settings.parse({ extractor: { provider: "anthropic" } });
    const keyless = extractorOrWhyNot(wishes, rig.memory.log, {});
    const runner = (memory = rig.memory) => jobRunner(memory, [consolidate]);
    const now = (extractor: Extractor) =>
      runner(Object.create(rig.memory, { extractor: { value: extractor } })).runNow("consolidate", {
        dryRun: false,
        now: rig.now,
        interrupted: () => false,
      });
    expect(await failing(rig)).toBeNull();
    for (let n = 0; n < 2; n++) {
      expect(await now(keyless)).toMatchObject({
        state: "failed",
        error: expect.stringContaining("ANTHROPIC_API_KEY"),
      });
      rig.later(MINUTE);
    }
    expect(await runner().history({ job: undefined, limit: 9 })).toMatchObject([
      {
        state: "failed",
        error: expect.stringContaining("ANTHROPIC_API_KEY"),
        report: { counts: { episodes_to_retry: 1 } },
      },
      { state: "failed" },
    ]);
    expect(await failing(rig)).toEqual({
      runs: 2,
      since: new Date(rig.now.getTime() - 120_000).toISOString(),
      provider: "anthropic",
      reason: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(await now(scripted(nothing).extractor)).toMatchObject({ state: "done", error: undefined });
    expect(await failing(rig)).toBeNull();
    expect(await now(keyless)).toMatchObject({ state: "done" });
  });

  it("a run that only had wrong answers, or no money, has failed too; one that learned something has not", async () => {
    const rig = await open({ model: false });
    await told(rig, "first");
    const wrong = await run(rig, () => "invalid_answer");
    expect(wrong.failed).toBe("anthropic: scripted: invalid_answer");
    rig.later(1);
    const dear = await run(rig, nothing, { ceiling: () => 10 });
    expect([dear.failed, dear.asked]).toEqual([expect.stringContaining("budget of $1 is used up"), []]);
    await told(rig, "second", "other");
    const partly = await run(rig, (m) => (m.episodes[0]?.text === "first" ? nothing() : "unavailable"));
    expect([partly.failed, partly.counts]).toEqual([undefined, { episodes_consolidated: 1, episodes_to_retry: 1 }]);
    expect(partly.notes.join()).toContain("scripted: unavailable");
  });

  it("the store asks for the next run when the trouble may be over, not before", async () => {
    const rig = await open({ model: false });
    await told(rig, "first");
    const { extractor } = scripted(() => "rate_limited");
    const memory = Object.create(rig.memory, { extractor: { value: extractor } });
    rig.later(1);
    for (let n = 1; n <= 3; n++) {
      await runJob(rig, consolidate, { extractor });
      const due = await consolidate.dueAt?.(memory, rig.now);
      expect(due).toEqual(new Date(rig.now.getTime() + 60_000 * 2 ** (n - 1)));
      rig.set(due as Date);
    }
  });

  it("what expired before it was learned from is found by no read, and still learned from", async () => {
    const rig = await open({ model: false });
    const id = await told(rig, "I live in Graz and drink tea");
    rig.later(20);
    await runJob(rig, episodeCleanup);
    expect((await rig.call("memory_search", { query: "Graz tea" })).results).toEqual([]);
    expect(await rig.refused("memory_get", { id })).toMatchObject({ code: "not_found" });
    const { asked, counts } = await run(rig, () => ({
      facts: [
        {
          subject: "user",
          predicate: "lives_in",
          content: "The user lives in Graz.",
          permanence: "stable",
          episodes: ["e1"],
        },
      ],
    }));
    expect([asked, counts]).toEqual([
      [["I live in Graz and drink tea"]],
      { episodes_consolidated: 1, facts_created: 1 },
    ]);
    expect((await runJob(rig, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect((await rig.call("memory_search", { query: "Graz" })).results).toMatchObject([{ type: "fact" }]);
  });
});
