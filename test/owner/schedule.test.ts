/** How the owner looks after jobs: which stores it opens for them, when it closes them, and what people see. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { sharedModel } from "../../src/daemon/owner/shared-model.ts";
import { type Known, notesInFile, notesInMemory } from "../../src/daemon/schedule/notes.ts";
import { type Clock, systemClock } from "../../src/engine/adapters/clock.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { Job } from "../../src/engine/memory/keep/job.ts";
import type { JobRunner, RunsKnown, Slot } from "../../src/engine/memory/keep/run-job.ts";
import { butler, everyone, type FakeJobs, fakeEmbedder, fakeModel, fakeOwner, gate } from "../support/owner-fakes.ts";
import { PATIENCE } from "../support/patience.ts";

const START = new Date("2026-03-01T12:00:00Z");
const sweep: Job = {
  name: "decay_sweep",
  about: "A small job",
  cron: "0 3 * * *",
  run: async () => ({ changed: 0, counts: {}, notes: [], complete: true }),
};

function movable(): Clock & { set(at: string): void } {
  let now = START;
  return {
    now: () => now,
    fixed: true,
    set: (at) => {
      now = new Date(at);
    },
  };
}

/** A runner whose queue is a list; `known` is what the stores say. */
function fakeRunner(work: (interrupted: () => boolean) => Promise<void> = async () => undefined) {
  const seen = { looks: 0, runs: [] as Slot[], drained: 0 };
  let known: RunsKnown = { since: START, last: {}, waitMs: undefined };
  const waiting: Slot[] = [];
  const runner: JobRunner = {
    look: async () => {
      seen.looks += 1;
      return known;
    },
    enqueue: async (slot) => {
      waiting.push(slot);
      return true;
    },
    drain: async (interrupted) => {
      seen.drained += 1;
      const ran = waiting.splice(0);
      for (const slot of ran) {
        seen.runs.push(slot);
        await work(interrupted);
        known = { ...known, last: { ...known.last, [slot.job]: slot.slot }, waitMs: undefined };
      }
      return ran.map(({ job, trigger }) => ({ job, trigger, state: "done", report: undefined, error: undefined }));
    },
    runNow: async (job, { interrupted }) => {
      await work(interrupted);
      return { job, trigger: "manual", state: "done", report: undefined, error: undefined };
    },
    history: async () => [],
    latest: async () => [],
  };
  return { runner, seen, say: (more: Partial<RunsKnown>) => (known = { ...known, ...more }) };
}

const jobsWith = (runner: JobRunner, clock: Clock, more: Partial<FakeJobs> = {}) => ({
  runner,
  jobs: [sweep],
  clock,
  notes: notesInMemory(),
  zone: "UTC",
  hasStore: async () => true,
  ...more,
});

describe("stores and jobs", () => {
  test("a closed store is opened when something is due, and closed right after", async () => {
    const clock = movable();
    const { runner, seen } = fakeRunner();
    const { owner, seen: stores } = fakeOwner({ jobs: jobsWith(runner, clock) });
    await owner.tick();
    await vi.waitFor(() => expect(stores).toMatchObject({ opened: 1, closed: 1 }), PATIENCE);
    for (let n = 0; n < 10; n++) await owner.tick();
    expect(stores.opened).toBe(1);
    clock.set("2026-03-02T03:00:05Z");
    await owner.tick();
    expect(seen.runs).toEqual([
      { job: "decay_sweep", slot: new Date("2026-03-02T03:00:00Z"), trigger: "schedule", missed: 0 },
    ]);
    await vi.waitFor(() => expect(stores).toMatchObject({ opened: 2, closed: 2, maintained: 1 }), PATIENCE);
    await owner.close();
  });

  test("a job that is due while the owner rests runs without the model, and the owner rests again", async () => {
    const clock = movable();
    const { runner, seen } = fakeRunner();
    let loaded = 0;
    const model = sharedModel({
      log: silentLog,
      locate: async () =>
        fakeModel(async () => {
          loaded += 1;
          return fakeEmbedder();
        }),
    });
    const { owner, seen: stores } = fakeOwner({ model: () => model, jobs: jobsWith(runner, clock) });
    await owner.invoke(everyone, "general", { tool: "t", input: {} });
    await owner.rest();
    expect(loaded).toBe(1);
    clock.set("2026-03-02T03:00:05Z");
    await owner.tick();
    expect(seen.runs).toHaveLength(1);
    expect((await owner.health()).resting).toBe(true);
    expect(stores).toMatchObject({ opened: 2, closed: 2 });
    expect(loaded).toBe(1);
    await owner.close();
  });

  test("a store that somebody uses stays open after a job", async () => {
    const clock = movable();
    const { runner, seen } = fakeRunner();
    const { owner, seen: stores } = fakeOwner({ jobs: jobsWith(runner, clock) });
    await owner.invoke({ name: "t", tenant: "default", butler: "*", admin: true, voice: "user" }, "general", {
      tool: "t",
      input: {},
    });
    clock.set("2026-03-02T03:00:05Z");
    await owner.tick();
    expect(seen.runs).toHaveLength(1);
    expect((await owner.health()).butlers).toEqual([{ name: "general", store: "open" }]);
    expect(stores).toMatchObject({ opened: 1, closed: 0 });
    await owner.close();
  });

  test("a butler that was never used gets no store for its jobs", async () => {
    const clock = movable();
    const { runner } = fakeRunner();
    const asked = vi.fn(async () => false);
    const { owner, seen: stores } = fakeOwner({ jobs: jobsWith(runner, clock, { hasStore: asked }) });
    clock.set("2026-04-01T00:00:00Z");
    for (let n = 0; n < 3; n++) await owner.tick();
    expect(stores.opened).toBe(0);
    expect(asked).toHaveBeenCalledTimes(1);
    await owner.close();
  });

  test("a butler whose memory is switched off has no jobs", async () => {
    const { runner } = fakeRunner();
    const roster = [butler("general", "[modules.memory]\nenabled = false")];
    const { owner, seen: stores } = fakeOwner({ roster, jobs: jobsWith(runner, movable()) });
    await owner.tick();
    expect(stores.opened).toBe(0);
    expect(await owner.jobs({ ask: "history", butler: "general", limit: 1 })).toMatchObject({ ok: false });
    await owner.close();
  });

  test("ten butlers that are due at once never have more than two stores open", async () => {
    const clock = movable();
    const { runner } = fakeRunner();
    let open = 0;
    let most = 0;
    const roster = Array.from({ length: 10 }, (_, n) => butler(`b${n}`));
    const { owner } = fakeOwner({
      roster,
      jobs: jobsWith(runner, clock),
      open: async () => {
        most = Math.max(most, ++open);
        return {
          number: 1,
          embedder: undefined,
          close: async () => {
            open -= 1;
          },
        };
      },
    });
    await owner.tick();
    await vi.waitFor(() => expect(open).toBe(0), PATIENCE);
    expect(most).toBe(2);
    await owner.close();
  });

  test("a store that cannot be opened is not tried at every tick", async () => {
    const { runner } = fakeRunner();
    const opening = vi.fn(async () => Promise.reject(new Error("broken")));
    const { owner } = fakeOwner({ jobs: jobsWith(runner, movable()), open: opening });
    for (let n = 0; n < 5; n++) await owner.tick();
    expect(opening).toHaveBeenCalledTimes(1);
    await owner.close();
  });

  test("a store that comes back is looked after soon, and its slots go on", async () => {
    const { runner, seen } = fakeRunner();
    let tries = 0;
    const roster = [butler("general", '[butler.schedule]\ndecay_sweep = { cron = "* * * * * *" }')];
    const { owner } = fakeOwner({
      roster,
      jobs: jobsWith(runner, systemClock),
      open: async () => {
        if (++tries === 1) throw new Error("the server restarts");
        return { number: 1, embedder: undefined, close: async () => undefined };
      },
    });
    owner.startJobs();
    await vi.waitFor(() => expect(seen.runs.length).toBeGreaterThanOrEqual(2), PATIENCE);
    await owner.close();
  });

  test("a store that a call creates is looked after from its next slot on", async () => {
    const { runner, seen, say } = fakeRunner();
    let there = false;
    say({ since: new Date() });
    const roster = [butler("general", '[butler.schedule]\ndecay_sweep = { cron = "* * * * * *" }')];
    const { owner } = fakeOwner({ roster, jobs: jobsWith(runner, systemClock, { hasStore: async () => there }) });
    owner.startJobs();
    await new Promise((done) => setTimeout(done, 1_500));
    expect(seen.looks).toBe(0);
    there = true;
    await owner.invoke({ name: "t", tenant: "default", butler: "*", admin: true, voice: "user" }, "general", {
      tool: "t",
      input: {},
    });
    await vi.waitFor(() => expect(seen.runs.length).toBeGreaterThanOrEqual(3), PATIENCE);
    await owner.close();
  });

  test("a retry that waits wakes the store when its time comes, and not before", async () => {
    const clock = movable();
    const { runner, seen, say } = fakeRunner();
    const { owner, seen: stores } = fakeOwner({ jobs: jobsWith(runner, clock) });
    say({ waitMs: 60_000 });
    await owner.tick();
    await vi.waitFor(() => expect(stores.closed).toBe(1), PATIENCE);
    say({ waitMs: undefined });
    const before = seen.looks;
    clock.set("2026-03-01T12:00:59Z");
    await owner.tick();
    expect(seen.looks).toBe(before);
    clock.set("2026-03-01T12:01:00Z");
    await owner.tick();
    expect(seen.looks).toBeGreaterThan(before);
    await owner.close();
  });

  test("a job under way keeps the owner, and a stop interrupts it", async () => {
    const clock = movable();
    const begun = gate();
    const { runner } = fakeRunner(async (interrupted) => {
      begun.open();
      while (!interrupted()) await new Promise((done) => setTimeout(done, 5));
    });
    const { owner, seen: stores } = fakeOwner({ jobs: jobsWith(runner, clock) });
    expect(owner.atRest()).toBe(true);
    clock.set("2026-03-02T03:00:05Z");
    const ticking = owner.tick();
    await begun.passed;
    expect(owner.atRest()).toBe(false);
    await owner.close();
    await ticking;
    expect(owner.atRest()).toBe(true);
    expect(stores).toMatchObject({ opened: 1, closed: 1 });
  });

  test("time that stands still starts nothing by itself; real time does, at the start and slot after slot", async () => {
    const still = fakeRunner();
    const fixed = fakeOwner({ jobs: jobsWith(still.runner, movable()) });
    fixed.owner.startJobs();
    const { runner, seen } = fakeRunner();
    const roster = [butler("general", '[butler.schedule]\ndecay_sweep = { cron = "* * * * * *" }')];
    const real = fakeOwner({ roster, jobs: jobsWith(runner, systemClock) });
    real.owner.startJobs();
    await vi.waitFor(() => expect(seen.runs.length).toBeGreaterThanOrEqual(3), PATIENCE);
    expect(seen.runs[0]?.trigger).toBe("missed");
    const slots = seen.runs.map(({ slot }) => slot.getTime());
    expect(new Set(slots).size).toBe(slots.length);
    expect(still.seen.looks).toBe(0);
    await real.owner.close();
    await fixed.owner.close();
  });

  test("opening a store by a call makes the schedule look at it", async () => {
    const { runner, seen } = fakeRunner();
    const { owner } = fakeOwner({ jobs: jobsWith(runner, { now: () => START, fixed: false }) });
    await owner.invoke({ name: "t", tenant: "default", butler: "*", admin: true, voice: "user" }, "general", {
      tool: "t",
      input: {},
    });
    await vi.waitFor(() => expect(seen.looks).toBeGreaterThan(0), PATIENCE);
    await owner.close();
  });
});

describe("[butler.schedule]", () => {
  const schedule = (line: string) => () => butler("x", `[butler.schedule]\n${line}`).schedule;
  test.each([
    [
      'nap = { cron = "0 3 * * *" }',
      /x\/butler\.toml:4: butler\.schedule\.nap: .* expected one of consolidate, promote, .*hygiene[^.]*\./,
    ],
    [
      'promote = { cron = "61 * * * *" }',
      /butler\.schedule\.promote\.cron: found "61 \* \* \* \*", expected a cron line .*61/,
    ],
    ['promote = { cron = "0 0 30 2 *" }', /butler\.schedule\.promote\.cron: .*it never comes/],
  ])("%s is refused by name", (line, words) => {
    expect(schedule(line)).toThrow(words);
  });

  test("takes the jobs there are, the one to come, and seconds", () => {
    const lines = ['consolidate = { cron = "0 */6 * * *", prompt = "p" }', 'promote = { cron = "*/5 * * * * *" }'];
    expect(Object.keys(schedule(lines.join("\n"))())).toEqual(["consolidate", "promote"]);
  });
});

describe("the notes of the schedule", () => {
  test("survive a restart, and a broken file costs only a look", () => {
    const folder = mkdtempSync(join(tmpdir(), "notes-"));
    const file = join(folder, "schedule.json");
    const known: Known = { since: START, last: { promote: new Date("2026-03-01T13:00:00Z") }, wakeAt: undefined };
    const first = notesInFile(file, silentLog);
    expect(first.get("general")).toBeUndefined();
    first.set("general", known);
    first.set("health", { ...known, wakeAt: START });
    const second = notesInFile(file, silentLog);
    expect(second.get("general")).toEqual(known);
    expect(second.get("health")?.wakeAt).toEqual(START);
    writeFileSync(file, readFileSync(file, "utf8").slice(0, 20));
    expect(notesInFile(file, silentLog).get("general")).toBeUndefined();
    rmSync(folder, { recursive: true });
  });
});

describe("asking about jobs", () => {
  test("the same ticket runs once, and a long run is told to be under way", async () => {
    const slow = gate();
    let runs = 0;
    const { runner } = fakeRunner(async () => {
      runs += 1;
      await slow.passed;
    });
    const { owner } = fakeOwner({ jobs: jobsWith(runner, movable()) });
    const request = { ask: "run", butler: "general", job: "decay_sweep", dry_run: false, ticket: "t1" };
    expect(await owner.jobs(request)).toEqual({
      ok: true,
      answer: { butler: "general", job: "decay_sweep", state: "running" },
    });
    const again = owner.jobs(request);
    slow.open();
    expect(await again).toMatchObject({ ok: true, answer: { state: "done" } });
    expect(runs).toBe(1);
    await owner.close();
  });

  test.each([
    [{ ask: "run", butler: "nobody", job: "decay_sweep", dry_run: true, ticket: "t" }, "not_found"],
    [{ ask: "run", butler: "general", job: "nap", dry_run: true, ticket: "t" }, "invalid_input"],
    [{ ask: "history", butler: "general", job: "nap", limit: 1 }, "invalid_input"],
    [{ ask: "dance" }, "unavailable"],
  ])("%j is refused as %s", async (request, code) => {
    const { owner } = fakeOwner({ jobs: jobsWith(fakeRunner().runner, movable()) });
    expect(await owner.jobs(request)).toMatchObject({ ok: false, error: { code } });
    await owner.close();
  });

  test("BUTLER_NOW is refused by an owner on real time", async () => {
    const { owner } = fakeOwner({ jobs: jobsWith(fakeRunner().runner, systemClock) });
    const request = {
      ask: "run",
      butler: "general",
      job: "decay_sweep",
      dry_run: true,
      ticket: "t",
      now: "2026-01-01T00:00:00Z",
    };
    expect(await owner.jobs(request)).toMatchObject({ ok: false, error: { code: "conflict" } });
    await owner.close();
  });
});
