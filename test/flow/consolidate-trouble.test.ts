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
import { type House, onEachStore } from "../support/stores.ts";

const MINUTE = 1 / 1440;
const told = async (house: House, content: string, tenant = "default"): Promise<string> =>
  (await house.call("memory_store_episode", { content }, { as: { tenant } })).id;
const episodes = (house: House) =>
  house.db.query<{ content: string; status: string; attempts: number; error: string | null; retry: Date | null }>(
    `select content, consolidation_status as status, consolidation_attempts as attempts, last_consolidation_error as error,
       next_consolidation_retry_at as retry from episodes order by created_at, id`,
  );
const run = async (house: House, answer: (material: Material) => Reply, more: Partial<Extractor> = {}) => {
  const script = scripted(answer, more);
  const report = await runJob(house, consolidate, { extractor: script.extractor });
  return { ...report, asked: script.seen.map((material) => material.episodes.map(({ text }) => text)) };
};
const nothing = (): Reply => ({ facts: [], rules: [], confirmations: [] });
const failing = async (house: House) => (await house.call("memory_stats", {})).consolidation.failing;

onEachStore("consolidation in trouble", (open) => {
  it.each(["timeout", "rate_limited", "unavailable"] as const)(
    "a provider with %s costs nobody an attempt, and is asked ever more rarely",
    async (kind: FailureKind) => {
      const house = await open({ model: false });
      await told(house, "first");
      const asked: number[] = [];
      for (let minute = 0; minute < 200; minute++) {
        if ((await run(house, () => kind)).asked.length > 0) asked.push(minute);
        house.later(MINUTE);
      }
      // After 1, 2, 4, … minutes, and then once an hour.
      expect(asked).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
      expect(await episodes(house)).toMatchObject([{ status: "pending", attempts: 0, error: `scripted: ${kind}` }]);
      house.later(1);
      expect((await run(house, nothing)).counts).toEqual({ episodes_consolidated: 1 });
      expect(await episodes(house)).toMatchObject([{ status: "consolidated", attempts: 1, error: null, retry: null }]);
      // It answers again: the next trouble starts with a minute.
      await told(house, "second");
      await run(house, () => kind);
      expect((await episodes(house))[1]?.retry).toEqual(new Date(house.now.getTime() + 60_000));
    },
  );

  it("a provider in trouble is not asked for other shards either", async () => {
    const house = await open({ model: false });
    await told(house, "of one", "one");
    await told(house, "of two", "two");
    expect((await run(house, () => "unavailable")).asked).toEqual([["of one"]]);
    const second = await run(house, nothing);
    expect([second.asked, second.failed]).toEqual([[], expect.stringContaining("is not asked again before")]);
    house.later(MINUTE);
    expect((await run(house, nothing)).asked).toEqual([["of one"], ["of two"]]);
  });

  it("a batch that takes too long comes back in quarters, and is learned from in the end", async () => {
    const house = await open({ model: false });
    for (let n = 0; n < 30; n++) await told(house, `note ${n}`);
    const sizes: number[] = [];
    for (let n = 0; n < 20; n++) {
      const slow = await run(house, (m) => (m.episodes.length > 10 ? "timeout" : nothing()));
      sizes.push(...slow.asked.map((texts) => texts.length));
      house.later(1 / 24);
    }
    expect(sizes.slice(0, 2)).toEqual([30, 7]);
    for (const { status, attempts } of await episodes(house)) expect([status, attempts]).toEqual(["consolidated", 1]);
  });

  it("a later episode does not overtake one that waits to be tried again, and a poison one holds up nobody for ever", async () => {
    const house = await open({ model: false });
    await told(house, "poison");
    const answer = (m: Material) => (m.episodes.some(({ text }) => text === "poison") ? "invalid_answer" : nothing());
    expect((await run(house, answer)).asked).toEqual([["poison"]]);
    house.later(MINUTE / 2);
    await told(house, "later");
    expect((await run(house, nothing)).asked).toEqual([]);
    const asked: string[][] = [];
    for (let minute = 0; minute < 20; minute++) {
      asked.push(...(await run(house, answer)).asked);
      house.later(MINUTE);
    }
    expect(asked).toEqual([["poison"], ["poison"], ["poison"], ["poison"], ["later"]]);
    expect(await episodes(house)).toMatchObject([
      { content: "poison", status: "dead_letter", attempts: 5 },
      { content: "later", status: "consolidated", attempts: 1 },
    ]);
  });

  it("whatever goes wrong, episodes are learned from in the order in which they were told", async () => {
    const house = await open({ model: false });
    let lives = 0;
    const replies = fc.constantFrom("ok", "ok", "invalid_answer", "unavailable", "timeout", "refused", "misconfigured");
    const steps = fc.array(fc.record({ tell: fc.nat(3), reply: replies, minutes: fc.constantFrom(0, 1, 5, 70) }), {
      minLength: 5,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (life) => {
        const tenant = `life${lives++}`;
        await house.db.query("delete from consolidation_runs");
        await house.db.query(
          "update episodes set consolidation_status = 'failed' where consolidation_status = 'pending'",
        );
        const ended: string[] = [];
        for (const { tell, reply, minutes } of life) {
          for (let n = 0; n < tell; n++) {
            await told(house, `note ${n} at ${house.now.toISOString()}`, tenant);
            house.later(MINUTE / 60);
          }
          await run(house, () => (reply === "ok" ? nothing() : (reply as FailureKind)));
          const rows = await house.db.query<{ id: string; status: string; attempts: number }>(
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
          house.later(minutes * MINUTE);
        }
      }),
      { numRuns: 12 },
    );
  });

  it("without a key a run has failed, and history, stats and the report say why; with one all is well", async () => {
    const house = await open({ model: false });
    await told(house, "unlearned");
    const { extractor: wishes } = Settings.parse({ extractor: { provider: "anthropic" } });
    const keyless = extractorOrWhyNot(wishes, house.memory.log, {});
    const runner = (memory = house.memory) => jobRunner(memory, [consolidate]);
    const now = (extractor: Extractor) =>
      runner(Object.create(house.memory, { extractor: { value: extractor } })).runNow("consolidate", {
        dryRun: false,
        now: house.now,
        interrupted: () => false,
      });
    expect(await failing(house)).toBeNull();
    for (let n = 0; n < 2; n++) {
      expect(await now(keyless)).toMatchObject({
        state: "failed",
        error: expect.stringContaining("ANTHROPIC_API_KEY"),
      });
      house.later(MINUTE);
    }
    expect(await runner().history({ job: undefined, limit: 9 })).toMatchObject([
      {
        state: "failed",
        error: expect.stringContaining("ANTHROPIC_API_KEY"),
        report: { counts: { episodes_to_retry: 1 } },
      },
      { state: "failed" },
    ]);
    expect(await failing(house)).toEqual({
      runs: 2,
      since: new Date(house.now.getTime() - 120_000).toISOString(),
      provider: "anthropic",
      reason: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(await now(scripted(nothing).extractor)).toMatchObject({ state: "done", error: undefined });
    expect(await failing(house)).toBeNull();
    expect(await now(keyless)).toMatchObject({ state: "done" });
  });

  it("a run that only had wrong answers, or no money, has failed too; one that learned something has not", async () => {
    const house = await open({ model: false });
    await told(house, "first");
    const wrong = await run(house, () => "invalid_answer");
    expect(wrong.failed).toBe("anthropic: scripted: invalid_answer");
    house.later(1);
    const dear = await run(house, nothing, { ceiling: () => 10 });
    expect([dear.failed, dear.asked]).toEqual([expect.stringContaining("budget of $1 is used up"), []]);
    await told(house, "second", "other");
    const partly = await run(house, (m) => (m.episodes[0]?.text === "first" ? nothing() : "unavailable"));
    expect([partly.failed, partly.counts]).toEqual([undefined, { episodes_consolidated: 1, episodes_to_retry: 1 }]);
    expect(partly.notes.join()).toContain("scripted: unavailable");
  });

  it("the store asks for the next run when the trouble may be over, not before", async () => {
    const house = await open({ model: false });
    await told(house, "first");
    const { extractor } = scripted(() => "rate_limited");
    const memory = Object.create(house.memory, { extractor: { value: extractor } });
    house.later(1);
    for (let n = 1; n <= 3; n++) {
      await runJob(house, consolidate, { extractor });
      const due = await consolidate.dueAt?.(memory, house.now);
      expect(due).toEqual(new Date(house.now.getTime() + 60_000 * 2 ** (n - 1)));
      house.set(due as Date);
    }
  });

  it("what expired before it was learned from is found by no read, and still learned from", async () => {
    const house = await open({ model: false });
    const id = await told(house, "I live in Graz and drink tea");
    house.later(20);
    await runJob(house, episodeCleanup);
    expect((await house.call("memory_search", { query: "Graz tea" })).results).toEqual([]);
    expect(await house.refused("memory_get", { id })).toMatchObject({ code: "not_found" });
    const { asked, counts } = await run(house, () => ({
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
    expect((await runJob(house, episodeCleanup)).counts).toEqual({ expired: 1 });
    expect((await house.call("memory_search", { query: "Graz" })).results).toMatchObject([{ type: "fact" }]);
  });
});
