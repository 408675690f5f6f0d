/** Every job has a caller: the schedule alone brings each of them to do its work on a real memory. */
import { expect, it } from "vitest";
import { notesInMemory } from "../../src/daemon/schedule/notes.ts";
import { createScheduler } from "../../src/daemon/schedule/scheduler.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { JOB_NAMES, type JobName } from "../../src/engine/memory/keep/job.ts";
import { jobNamed, jobs } from "../../src/engine/memory/keep/jobs.ts";
import { jobRunner } from "../../src/engine/memory/keep/run-job.ts";
import { butler } from "../support/owner-fakes.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

interface Scene {
  /** Makes something for the job to do, at Sunday 2026-03-01T12:00Z; gives its id. */
  prepare(rig: Rig): Promise<string>;
  /** Just after a slot of the job. */
  readonly at: string;
  /** One value of the store that only the job changes. */
  state(rig: Rig, id: string): Promise<unknown>;
  readonly before: unknown;
  readonly after: unknown;
  /** How many memories it changes; 1 unless said. */
  readonly changed?: number;
}

const one = async (rig: Rig, text: string, id: string) => Object.values((await rig.db.query(text, [id]))[0] ?? {})[0];
const fact = async (rig: Rig, permanence: string) => {
  const input = { subject: "user", predicate: "mood", content: "content with little", permanence };
  return (await rig.call("memory_store_fact", input)).id as string;
};

/** They have tests of their own: encryption.test.ts, partitions.test.ts. */
const SCHEDULED = JOB_NAMES.filter((name) => name !== "rekey" && name !== "partitions");

const SCENES: Readonly<Record<Exclude<JobName, "rekey" | "partitions">, Scene>> = {
  retention: {
    async prepare(rig) {
      const id = await fact(rig, "permanent");
      for (const session of ["s1", "s2", "s3"]) {
        await rig.call("memory_get", { id }, { session });
        await rig.settled();
      }
      return id;
    },
    at: "2026-04-02T04:30:10Z",
    state: (rig) => one(rig, "select count(*)::int4 from memory_events where event_type = $1", "memory.referenced"),
    before: 3,
    after: 1,
    changed: 2,
  },
  consolidate: {
    prepare: async (rig) =>
      (await rig.call("memory_store_episode", { content: "I live in Porto.", speaker: "user" })).id as string,
    at: "2026-03-01T18:00:10Z",
    state: (rig, id) => one(rig, "select consolidation_status from episodes where id = $1", id),
    before: "pending",
    after: "consolidated",
    // The episode, and the fact that it taught.
    changed: 2,
  },
  promote: {
    async prepare(rig) {
      const { id } = await rig.call("memory_store", { content: "The ferry leaves at nine" });
      for (const session of ["s1", "s1", "s2"]) await rig.call("memory_get", { id }, { session });
      await rig.settled();
      return id as string;
    },
    at: "2026-03-01T18:00:10Z",
    state: (rig, id) => one(rig, "select tier from episodes where id = $1", id),
    before: "eden",
    after: "mid",
  },
  decay_sweep: {
    prepare: (rig) => fact(rig, "ephemeral"),
    at: "2026-06-01T03:00:10Z",
    state: (rig, id) => one(rig, "select validity from facts where id = $1", id),
    before: "active",
    after: "expired",
  },
  episode_cleanup: {
    prepare: async (rig) => (await rig.call("memory_store", { content: "Rain in the morning" })).id as string,
    at: "2026-03-09T04:00:10Z",
    state: (rig, id) => one(rig, "select count(*)::int from episodes where id = $1", id),
    before: 1,
    after: 0,
  },
  hygiene: {
    async prepare(rig) {
      const id = await fact(rig, "permanent");
      await rig.db.query("delete from lex_doc where memory_id = $1", [id]);
      return id;
    },
    at: "2026-03-08T05:00:10Z",
    state: (rig, id) => one(rig, "select count(*)::int from lex_doc where memory_id = $1", id),
    before: 0,
    after: 1,
  },
  reembed: {
    async prepare(rig) {
      const id = await fact(rig, "permanent");
      await rig.db.query("delete from embeddings where memory_id = $1", [id]);
      return id;
    },
    at: "2026-03-02T06:00:10Z",
    state: (rig, id) => one(rig, "select count(*)::int from embeddings where memory_id = $1", id),
    before: 0,
    after: 1,
  },
};

/** Only by hand unless butler.toml says otherwise. */
const TOML = '[butler.schedule]\nreembed = { cron = "0 6 * * *" }';

it("every job that has a name is registered", () => {
  expect(jobs.map(({ name }) => name).toSorted()).toEqual([...JOB_NAMES].toSorted());
  expect(JOB_NAMES.every((name) => jobNamed(name)?.name === name)).toBe(true);
  expect(Object.fromEntries(jobs.map(({ name, cron }) => [name, cron]))).toEqual({
    consolidate: "0 */6 * * *",
    promote: "0 * * * *",
    decay_sweep: "0 3 * * *",
    episode_cleanup: "0 4 * * *",
    hygiene: "0 5 * * 0",
    reembed: undefined,
    retention: "30 4 * * *",
    rekey: undefined,
    partitions: "45 4 * * *",
  });
});

onEachStore("the schedule", (open) => {
  it.each(SCHEDULED)("brings %s to its work", async (name) => {
    const rig = await open();
    const scene = SCENES[name];
    const id = await scene.prepare(rig);
    const runner = jobRunner(rig.memory, jobs);
    const schedule = createScheduler({
      roster: [butler("general", TOML)],
      clock: rig.memory.clock,
      log: silentLog,
      jobs,
      notes: notesInMemory(),
      zone: "UTC",
      hasStore: async () => true,
      visit: (_, work) => work({ runs: runner }),
      changed: () => undefined,
    });
    await schedule.tick();
    expect(await scene.state(rig, id)).toBe(scene.before);
    rig.set(scene.at);
    await schedule.tick();
    expect(await scene.state(rig, id)).toBe(scene.after);
    const runs = await runner.history({ job: name, limit: 5 });
    expect(runs).toMatchObject([
      { state: "done", attempt: 1, report: { changed: scene.changed ?? 1, complete: true } },
    ]);
  });
});
