/** Old events may go: the rows that replay comes to stay the same, and what is no longer known is said. */
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { openPglite, type PgliteDb } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { type ReplayReport, verifyReplay } from "../../src/engine/memory/past/replay.ts";
import { retention } from "../../src/engine/memory/retention/retention.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { asOwnerOf } from "../../src/engine/store/access/access.ts";
import { live, type Step, steps, type Teller } from "../support/history.ts";
import { runJob } from "../support/job-runs.ts";
import { migratedSnapshot } from "../support/stores.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const TABLES = ["episodes", "facts", "rules", "rule_applications", "memory_links", "episode_references"];

let opened: Promise<PgliteDb> | undefined;
afterAll(async () => (await opened)?.close());

async function verify(source: Db): Promise<ReplayReport> {
  opened ??= migratedSnapshot().then((snapshot) => openPglite({ dir: undefined, snapshot }));
  const scratch = await opened;
  await scratch.exec(`truncate ${TABLES.join(", ")} cascade`);
  return verifyReplay(source, scratch);
}

async function verified(source: Db): Promise<ReplayReport> {
  const report = await verify(source);
  expect(report).toMatchObject({ differences: [], orphans: [], checkpoints: { faults: [] }, receipts: { faults: [] } });
  expect(report.equal).toBe(true);
  return report;
}

const keeping = (keep_days: number, keep_reads_days = 1000) =>
  Settings.parse({ events: { keep_days, keep_reads_days }, episodes: { unlearned_grace_days: 1 } });

/** Everything that is stored of a tenant, but the stream. */
async function rowsOf(g: Guest): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const table of TABLES)
    all[table] = await g.db.query(`select to_jsonb(t) as row from ${table} t where tenant_id = $1 order by t::text`, [
      g.tenant,
    ]);
  return all;
}

/** These memories as they were at a moment. */
async function rowsThen(g: Guest, { ids }: Teller, as_of: Date) {
  const found = [];
  for (const id of ids) {
    const told = await g.outcome("memory_get", { id, as_of: as_of.toISOString() }, { as: { admin: true } });
    found.push(told.ok ? told.answer.memory : told.error.code);
  }
  return found;
}

/** Calls under a name, some of which are taken back, and sometimes again. */
const deeds = fc.tuple(steps(4), fc.nat(2)).map(
  ([drawn, undos]): Step =>
    async (life) => {
      const request_id = `deed-${life.now.getTime()}-${life.ids.length}-${life.rules.length}`;
      const named: Teller = {
        ...life,
        now: life.now,
        outcome: (tool, input, extra) =>
          life.outcome(tool, { ...(input as object), request_context: { request_id } }, extra),
      };
      for (const step of drawn) await step(named);
      await life.settled();
      let cause = request_id;
      for (let n = 0; n < undos; n++) {
        const told = await life.outcome("control_undo", { request: cause });
        if (!told.ok || typeof told.answer.undo_id !== "string") return;
        cause = told.answer.undo_id;
      }
    },
);

const lives = fc.array(fc.oneof({ weight: 3, arbitrary: steps(8) }, { weight: 2, arbitrary: deeds.map((d) => [d]) }), {
  minLength: 2,
  maxLength: 5,
});

onOneRig(
  "retention of random lives",
  (guest) => {
    it("leaves every row and every later moment as they were, wherever it stops, and replay comes to the same", async () => {
      const folded = new Set<string>();
      let remembered = 0;
      await fc.assert(
        fc.asyncProperty(lives, lives, fc.constantFrom(1, 3, 10, 45), fc.nat(6), async (first, then, days, stop) => {
          const g = guest();
          const life = await live(g, first.flat());
          g.later(days);
          const known = await live(g, then.flat(), life);
          await g.settled();
          const rows = await rowsOf(g);
          const cutoff = new Date(g.now.getTime() - days * 86_400_000);
          const before = await rowsThen(g, known, cutoff);
          remembered += before.filter((memory) => typeof memory === "object").length;
          const settings = keeping(days);
          const report = await runJob(g, retention, { settings, stopAfter: stop });
          expect(await rowsOf(g)).toEqual(rows);
          await verified(g.db);
          expect(await rowsThen(g, known, cutoff)).toEqual(before);
          if (!report.complete) await runJob(g, retention, { settings });
          expect((await runJob(g, retention, { settings })).changed).toBe(0);
          expect(await rowsThen(g, known, cutoff)).toEqual(before);
          // Life goes on upon what was folded, and is folded again.
          await live(g, first.flat(), known);
          await verified(g.db);
          g.later(days + 1);
          await runJob(g, retention, { settings });
          await verified(g.db);
          for (const event of await g.events()) if ("folded" in event.payload) folded.add(event.event_type);
        }),
        { numRuns: 8, seed: 20261117, endOnFailure: true },
      );
      expect(remembered).toBeGreaterThan(8);
      expect([...folded]).toEqual(expect.arrayContaining(["episode.stored", "fact.stored", "rule.stored"]));
    });
  },
  { model: false },
);

onOneRig(
  "retention",
  (guest) => {
    it("adds up the readings of a day by itself, and removes no other event unless it is told to", async () => {
      const g = guest();
      const episode = await g.call("memory_store_episode", { content: "The ferry leaves at nine" });
      const fact = await g.call("memory_store_fact", { subject: "Ann", predicate: "lives in", content: "Rome" });
      for (let day = 0; day < 2; day++) {
        for (const session of ["s1", "s1", "s2"]) {
          for (const { id } of [episode, fact]) await g.call("memory_get", { id }, { session });
          await g.settled();
        }
        g.later(1);
      }
      await g.call("memory_confirm", { id: fact.id });
      const kinds = async () => (await g.events()).map(({ event_type }) => event_type);
      expect((await kinds()).filter((type) => type === "memory.referenced")).toHaveLength(12);
      const { next_cursor } = await g.call("memory_activity_stream", { limit: 4 });
      const rows = await rowsOf(g);
      g.later(31);
      const dry = await runJob(g, retention, { dryRun: true });
      expect(dry.counts).toEqual({ reads_added_up: 10 });
      expect((await g.events()).length).toBe(15);
      expect((await runJob(g, retention)).counts).toEqual({ reads_added_up: 10 });
      expect((await runJob(g, retention)).changed).toBe(0);
      expect((await kinds()).filter((type) => type === "memory.referenced")).toHaveLength(2);
      expect((await kinds()).filter((type) => type !== "memory.referenced")).toEqual([
        "episode.stored",
        "fact.stored",
        "fact.confirmed",
      ]);
      expect(await rowsOf(g)).toEqual(rows);
      expect(await g.db.query(`select session_id, n from episode_references order by 1, day`)).toEqual(
        expect.arrayContaining([
          { session_id: "s1", n: 2 },
          { session_id: "s2", n: 1 },
        ]),
      );
      await verified(g.db);
      // The past is still there, and how often was read by then.
      const then = await g.call("memory_get", { id: fact.id, as_of: "2026-03-02T23:00:00Z" });
      expect(then.memory).toMatchObject({ content: "Rome", reference_count: 6 });
      // A reader that stopped at an event which is gone goes on.
      expect((await g.call("memory_activity_stream", { cursor: next_cursor })).events.at(-1).event_type).toBe(
        "fact.confirmed",
      );
    });

    it("says since when single events are known, and undoes what came later, back to what was folded", async () => {
      const g = guest();
      const old = await g.call(
        "memory_store_fact",
        { subject: "Ann", predicate: "lives in", content: "Rome", request_context: { request_id: "early" } },
        { session: "early" },
      );
      await g.call("memory_confirm", { id: old.id });
      const rule = await g.call("memory_store_rule", { content: "Deploy on Friday" });
      for (let n = 0; n < 5; n++)
        await g.call("memory_mark_helpful", { rule_id: rule.id, session_id: `s${n}`, note: `it helped ${n}` });
      g.later(100);
      await g.call("memory_confirm", { id: old.id }, {});
      g.later(100);
      const dry = await runJob(g, retention, { settings: keeping(150), dryRun: true });
      expect(dry.counts.events_folded).toBeGreaterThan(4);
      await runJob(g, retention, { settings: keeping(150) });
      await verified(g.db);
      expect((await g.events()).map(({ event_type }) => event_type)).toEqual([
        "fact.stored",
        "rule.stored",
        "fact.confirmed",
      ]);
      const said = { code: "not_found", message: expect.stringMatching(/2026-03-01.*keep_days/) };
      const as_of = "2026-02-28T00:00:00Z";
      expect(await g.refused("memory_search", { query: "Rome", as_of })).toMatchObject({ ...said, field: "as_of" });
      expect(await g.refused("memory_get", { id: old.id, as_of })).toMatchObject(said);
      expect(await g.refused("memory_context", { trigger_prompt: "Rome", as_of })).toMatchObject(said);
      expect(await g.refused("control_undo", { request: "early" })).toMatchObject(said);
      expect(await g.refused("control_undo", { session: "early" })).toMatchObject(said);
      expect(await g.refused("control_undo", { since: as_of })).toMatchObject(said);
      expect((await g.call("memory_get", { id: old.id, as_of: "2026-03-02T00:00:00Z" })).memory.content).toBe("Rome");

      const later = { request_context: { request_id: "late" } };
      await g.call("memory_store_fact", { subject: "Ann", predicate: "lives in", content: "Oslo", ...later });
      await g.call("memory_mark_harmful", { rule_id: rule.id, session_id: "h", reason: "outage", ...later });
      expect(await g.row("facts", old.id)).toMatchObject({ validity: "superseded" });
      const undone = await g.call("control_undo", { request: "late" });
      expect(await g.row("facts", old.id)).toMatchObject({ validity: "active", content: "Rome" });
      expect(await g.row("rules", rule.id)).toMatchObject({
        success_count: 5,
        harmful_count: 0,
        maturity: "established",
      });
      await verified(g.db);
      // The undo is younger than what is kept: what it took back stays until it is as old itself.
      g.later(140);
      await runJob(g, retention, { settings: keeping(150) });
      await g.call("control_undo", { request: undone.undo_id });
      expect(await g.row("facts", old.id)).toMatchObject({ validity: "superseded" });
      await verified(g.db);

      // An erasure reaches what was folded, and the checkpoints stay whole.
      await g.call("memory_store_episode", { content: "We spoke of deploying", session_id: "s3" });
      for (const target of [{ session: "s3" }, { id: old.id }])
        await g.call("control_erase", target, { as: { admin: true } });
      const left = JSON.stringify(await g.events());
      expect(left).toContain("it helped 2");
      expect(left).not.toContain("it helped 3");
      expect(left).not.toContain("Rome");
      await verified(g.db);
      g.later(200);
      await runJob(g, retention, { settings: keeping(150) });
      await verified(g.db);
    });

    it("is not changed unnoticed, and nobody else changes the stream", async () => {
      const g = guest();
      const { id } = await g.call("memory_store_fact", { subject: "Bo", predicate: "likes", content: "tea" });
      await g.call("memory_confirm", { id });
      g.later(50);
      await runJob(g, retention, { settings: keeping(10) });
      const jobs = asOwnerOf(g.db, g.memory.roles, "retention");
      await expect(jobs.query("delete from memory_events where entity_id = $1", [id])).rejects.toThrow("append-only");
      await expect(
        jobs.query(`update memory_events set payload = payload || '{"x": 1}' where entity_id = $1`, [id]),
      ).rejects.toThrow("append-only");
      await expect(jobs.query("delete from event_checkpoints")).rejects.toThrow("append-only");
      await expect(jobs.query("update event_checkpoints set until = now()")).rejects.toThrow("append-only");

      const broken = async (statements: string, fault: RegExp) => {
        await g.db.exec(`begin; set local session_replication_role = replica; ${statements}; commit`);
        const { equal, checkpoints } = await verify(g.db);
        expect(equal).toBe(false);
        expect(checkpoints.faults.join("\n")).toMatch(fault);
      };
      const event = `memory_events where entity_id = '${id}'`;
      await g.db.exec(
        `create table kept_events as select * from ${event}; create table kept_points as select * from event_checkpoints`,
      );
      const restore = `delete from ${event}; insert into memory_events overriding system value select * from kept_events`;
      await broken(
        `update memory_events set payload = jsonb_set(payload, '{row,content}', '"coffee"') where entity_id = '${id}';
        update facts set content = 'coffee' where id = '${id}'`,
        /was changed/,
      );
      await g.db.exec(
        `begin; set local session_replication_role = replica; ${restore}; update facts set content = 'tea' where id = '${id}'; commit`,
      );
      await verified(g.db);
      await broken(`delete from event_checkpoints where tenant_id = '${g.tenant}'`, /is missing/);
      await g.db.exec(`begin; set local session_replication_role = replica; delete from event_checkpoints;
        insert into event_checkpoints overriding system value select * from kept_points; commit`);
      await broken(`update event_checkpoints set until = until - interval '1 day'`, /was changed/);
      await g.db.exec("drop table kept_events, kept_points");
    });
  },
  { model: false },
);
