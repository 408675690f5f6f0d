/** The queue and the schedule, with small jobs instead of the real ones: what runs, how often, and what is written down. */
import { expect, it } from "vitest";
import { notesInMemory } from "../../src/daemon/schedule/notes.ts";
import { createScheduler, type Scheduler } from "../../src/daemon/schedule/scheduler.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { Job, JobContext, JobName, JobReport } from "../../src/engine/memory/keep/job.ts";
import { jobRunner } from "../../src/engine/memory/keep/run-job.ts";
import { butler, gate } from "../support/owner-fakes.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const report = (changed = 0, complete = true): JobReport => ({
  changed,
  counts: { done: changed },
  notes: [],
  complete,
});

function fake(name: JobName, cron: string | undefined, run: (context: JobContext) => Promise<JobReport> | JobReport) {
  const runs: JobContext[] = [];
  const job: Job = {
    name,
    about: "A small job",
    cron,
    run: async (context) => {
      runs.push(context);
      return run(context);
    },
  };
  return { job, runs };
}

function scheduling(h: Rig, runner: TestRunner, toml = ""): Scheduler {
  return createScheduler({
    roster: [butler("general", toml)],
    clock: h.memory.clock,
    log: silentLog,
    jobs: runner.jobs,
    notes: notesInMemory(),
    zone: "UTC",
    hasStore: async () => true,
    visit: (_, work) => work({ runs: runner }),
    changed: () => undefined,
  });
}

const timing = { retryDelaySeconds: 600, leaseSeconds: 60 };
const runnerOf = (h: Pick<Rig, "memory">, ...jobs: readonly Job[]) => ({
  jobs,
  ...jobRunner(h.memory, jobs, timing),
});
type TestRunner = ReturnType<typeof runnerOf>;

const history = (_: Rig, runner: TestRunner) => runner.history({ job: undefined, limit: 100 });
const shown = async (h: Rig, runner: TestRunner) =>
  (await history(h, runner)).map(({ job, state, trigger, attempt, slot }) => [
    job,
    state,
    trigger,
    attempt,
    slot?.toISOString() ?? null,
  ]);

/** The back-off is the database's time, which no test can move; the waiting run is moved instead. */
const waitOver = (h: Rig) =>
  h.db.query("update job_runs set due_at = now() - interval '1 second' where state = 'waiting'");
/** As after a kill: nobody has said for a long time that the run is alive. */
const leaseOver = (h: Rig) =>
  h.db.query("update job_runs set lease_until = now() - interval '1 hour' where state = 'running'");

const SLOT = "2026-03-02T03:00:00.000Z";

onEachStore("jobs", (open) => {
  const opened = async () => {
    const h = await open({ model: false });
    // At 2026-03-01T12:00Z: from now on there is something to miss.
    await h.call("memory_store_fact", { subject: "user", predicate: "name", content: "Ada" });
    return h;
  };

  it("runs each slot once, on time, and the next one when it comes", async () => {
    const h = await opened();
    const sweep = fake("decay_sweep", "0 3 * * *", () => report(2));
    const runner = runnerOf(h, sweep.job);
    const schedule = scheduling(h, runner);
    await schedule.tick();
    expect(sweep.runs).toHaveLength(0);
    h.set("2026-03-02T03:00:30Z");
    for (let n = 0; n < 3; n++) await schedule.tick();
    expect(sweep.runs).toHaveLength(1);
    expect(sweep.runs[0]).toMatchObject({ dryRun: false, now: new Date("2026-03-02T03:00:30Z") });
    h.set("2026-03-03T03:00:00Z");
    await Promise.all([schedule.tick(), schedule.tick()]);
    expect(await shown(h, runner)).toEqual([
      ["decay_sweep", "done", "schedule", 1, "2026-03-03T03:00:00.000Z"],
      ["decay_sweep", "done", "schedule", 1, SLOT],
    ]);
    expect((await history(h, runner))[0]).toMatchObject({
      report: { changed: 2, counts: { done: 2 }, complete: true },
      error: null,
    });
  });

  it("has nothing due in an empty memory, and burdens it with no queue", async () => {
    const h = await open({ model: false });
    const sweep = fake("decay_sweep", "0 3 * * *", () => report());
    const schedule = scheduling(h, runnerOf(h, sweep.job));
    await schedule.tick();
    h.later(30);
    await schedule.tick();
    expect(sweep.runs).toHaveLength(0);
    expect(await h.db.query("select to_regclass('pgboss.job') as t")).toEqual([{ t: null }]);
  });

  it("asks once for what the store wants while a run of the job is under way by hand", async () => {
    const h = await opened();
    const going = gate();
    const learning = fake("consolidate", "0 0 1 1 *", () => going.passed.then(() => report(1)));
    const runner = runnerOf(h, { ...learning.job, dueAt: async () => h.now });
    const byHand = runner.runNow("consolidate", { dryRun: false, interrupted: () => false });
    while (learning.runs.length === 0) await new Promise(setImmediate);
    for (let n = 0; n < 5; n++) {
      h.later(1);
      await scheduling(h, runner).tick();
    }
    expect(await h.db.query("select trigger, state, attempt from job_runs where state = 'waiting'")).toEqual([
      { trigger: "backlog", state: "waiting", attempt: 1 },
    ]);
    going.open();
    await byHand;
    await scheduling(h, runner).tick();
    expect(learning.runs).toHaveLength(2);
    expect(await h.db.query("select from job_runs where state = 'waiting'")).toEqual([]);
  });

  it("runs missed slots once, as missed, and says how many they were", async () => {
    const h = await opened();
    const sweep = fake("decay_sweep", "0 3 * * *", () => report());
    const runner = runnerOf(h, sweep.job);
    h.set("2026-03-05T10:00:00Z");
    await scheduling(h, runner).tick();
    await scheduling(h, runner).tick();
    expect(await shown(h, runner)).toEqual([["decay_sweep", "done", "missed", 1, "2026-03-05T03:00:00.000Z"]]);
    expect((await history(h, runner))[0]?.report).toMatchObject({
      notes: ["4 scheduled runs were missed; this one stands for them."],
    });
    h.set("2026-03-06T03:00:10Z");
    await scheduling(h, runner).tick();
    expect((await shown(h, runner))[0]).toEqual(["decay_sweep", "done", "schedule", 1, "2026-03-06T03:00:00.000Z"]);
  });

  it("follows butler.toml: another time, another job switched off, one by hand only", async () => {
    const h = await opened();
    const sweep = fake("decay_sweep", "0 3 * * *", () => report());
    const promote = fake("promote", "0 * * * *", () => report());
    const reembed = fake("reembed", undefined, () => report());
    const runner = runnerOf(h, sweep.job, promote.job, reembed.job);
    const toml =
      '[butler.schedule]\ndecay_sweep = { cron = "30 14 * * *" }\npromote = { cron = "0 * * * *", enabled = false }';
    const schedule = scheduling(h, runner, toml);
    h.set("2026-03-01T14:31:00Z");
    await schedule.tick();
    expect(await shown(h, runner)).toEqual([["decay_sweep", "done", "schedule", 1, "2026-03-01T14:30:00.000Z"]]);
  });

  it("tries a failure again after a while, and after the last time puts it aside", async () => {
    const h = await opened();
    const sweep = fake("decay_sweep", "0 3 * * *", () => Promise.reject(new Error("no luck")));
    const runner = runnerOf(h, sweep.job);
    const schedule = scheduling(h, runner);
    h.set("2026-03-02T03:00:00Z");
    await schedule.tick();
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(sweep.runs).toHaveLength(attempt);
      expect((await runner.look()).waitMs).toBeGreaterThan(500_000 * 2 ** (attempt - 1));
      expect(await runner.drain(() => false)).toEqual([]);
      await waitOver(h);
      expect(await runner.drain(() => false)).toHaveLength(1);
    }
    await schedule.tick();
    const runs = await history(h, runner);
    expect(runs.map(({ state, attempt }) => [state, attempt])).toEqual([
      ["dead_letter", 4],
      ["failed", 3],
      ["failed", 2],
      ["failed", 1],
    ]);
    expect(runs.every(({ error }) => error === "no luck")).toBe(true);
    expect((await runner.look()).waitMs).toBeUndefined();
    expect(await h.db.query("select count(*)::int as n from job_runs where state = 'dead_letter'")).toEqual([{ n: 1 }]);
  });

  it("never runs one job twice at once, and tells the person who asks", async () => {
    const h = await opened();
    const slow = gate();
    const begun = gate();
    const sweep = fake("decay_sweep", "0 3 * * *", async () => {
      begun.open();
      await slow.passed;
      return report();
    });
    const first = runnerOf(h, sweep.job);
    h.set("2026-03-02T03:00:00Z");
    const running = scheduling(h, first).tick();
    await begun.passed;
    // Another daemon on the same server, as far as the database can tell.
    const stranger = { ...h.memory, db: wrapDb(h.db, () => ({ kind: "postgres" })) };
    const other = runnerOf({ memory: stranger }, sweep.job);
    const options = { dryRun: false, interrupted: () => false };
    await expect(other.runNow("decay_sweep", options)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("running right now"),
    });
    expect(await other.drain(() => false)).toEqual([]);
    slow.open();
    await running;
    expect(sweep.runs).toHaveLength(1);
    expect(await other.runNow("decay_sweep", options)).toMatchObject({ state: "done", trigger: "manual" });
  });

  it("enqueues a slot once, whoever comes first", async () => {
    const h = await opened();
    const sweep = fake("decay_sweep", "0 3 * * *", () => report());
    const slot = { job: "decay_sweep", slot: new Date(SLOT), trigger: "schedule" as const, missed: 0 };
    const one = runnerOf(h, sweep.job);
    const two = runnerOf(h, sweep.job);
    expect(await one.enqueue(slot)).toBe(true);
    expect(await two.enqueue(slot)).toBe(false);
    expect((await Promise.all([one.drain(() => false), two.drain(() => false)])).flat()).toHaveLength(1);
    expect(await two.enqueue(slot)).toBe(false);
    expect(await two.drain(() => false)).toEqual([]);
    expect(sweep.runs).toHaveLength(1);
  });

  it("changes nothing in a dry run, and writes no run down", async () => {
    const h = await opened();
    const sweep = fake("decay_sweep", "0 3 * * *", ({ dryRun }) => report(dryRun ? 7 : 0));
    const runner = runnerOf(h, sweep.job);
    const ran = await runner.runNow("decay_sweep", { dryRun: true, interrupted: () => false });
    expect(ran).toMatchObject({ state: "done", report: { changed: 7 } });
    expect(sweep.runs[0]?.dryRun).toBe(true);
    expect(await history(h, runner)).toEqual([]);
    expect(await h.db.query("select to_regclass('pgboss.job') as t")).toEqual([{ t: null }]);
  });

  it("runs by hand at once, with its own row, and is not tried again when it fails", async () => {
    const h = await opened();
    let broken = true;
    const sweep = fake("decay_sweep", undefined, () => (broken ? Promise.reject(new Error("not now")) : report(3)));
    const runner = runnerOf(h, sweep.job);
    const options = { dryRun: false, interrupted: () => false };
    expect(await runner.runNow("decay_sweep", options)).toMatchObject({ state: "failed", error: "not now" });
    broken = false;
    expect(await runner.runNow("decay_sweep", options)).toMatchObject({
      state: "done",
      report: { changed: 3 },
    });
    expect((await runner.look()).waitMs).toBeUndefined();
    expect((await shown(h, runner)).map((run) => run.slice(1))).toEqual([
      ["done", "manual", 1, null],
      ["failed", "manual", 1, null],
    ]);
    await expect(runner.runNow("nap", options)).rejects.toMatchObject({
      code: "invalid_input",
      field: "job",
    });
    expect(await runner.history({ job: "promote", limit: 5 })).toEqual([]);
    expect(await runner.history({ job: undefined, limit: 1 })).toHaveLength(1);
  });

  it("goes on with a run that was interrupted, as its next attempt", async () => {
    const h = await opened();
    let stopping = true;
    const sweep = fake("decay_sweep", "0 3 * * *", ({ interrupted }) => report(1, !interrupted()));
    const runner = runnerOf(h, sweep.job);
    await runner.enqueue({ job: "decay_sweep", slot: new Date(SLOT), trigger: "schedule", missed: 0 });
    let asked = 0;
    // The memory is closed while the job is at work.
    await runner.drain(() => stopping && ++asked > 2);
    expect((await shown(h, runner)).map((run) => run.slice(1, 4))).toEqual([["failed", "schedule", 1]]);
    expect((await history(h, runner))[0]?.error).toContain("interrupted");
    stopping = false;
    await runner.drain(() => stopping);
    expect((await shown(h, runner)).map((run) => run.slice(1))).toEqual([
      ["done", "schedule", 2, SLOT],
      ["failed", "schedule", 1, SLOT],
    ]);
  });

  it("notices a run whose process was killed, and runs it again", async () => {
    const h = await opened();
    const dead = gate();
    const begun = gate();
    const sweep = fake("decay_sweep", "0 3 * * *", async () => {
      if (sweep.runs.length > 1) return report();
      begun.open();
      await dead.passed;
      return report(9);
    });
    const killed = runnerOf(h, sweep.job);
    h.set("2026-03-02T03:00:00Z");
    const lost = scheduling(h, killed).tick();
    await begun.passed;
    await leaseOver(h);
    const next = runnerOf(h, sweep.job);
    const schedule = scheduling(h, next);
    await schedule.tick();
    expect((await history(h, next)).map(({ state, error }) => [state, error])).toEqual([
      ["failed", "the process that ran it ended"],
    ]);
    await waitOver(h);
    await next.drain(() => false);
    // It was not dead but slow: what it says now comes too late.
    dead.open();
    await lost;
    expect((await history(h, next)).map(({ state, attempt, report }) => [state, attempt, report?.changed])).toEqual([
      ["done", 2, 0],
      ["failed", 1, undefined],
    ]);
    expect((await next.look()).waitMs).toBeUndefined();
  });
});
