/** kill -9 at each step of consolidation, up to three times on one store, then a whole run: the same knowledge as without. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openPglite, type PgliteDb } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { verifyReplay } from "../../src/engine/memory/past/replay.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { compiled } from "../support/compiled.ts";
import {
  type Death,
  type Moment,
  type Phase,
  type Run,
  type Sentence,
  withConsolidation,
} from "../support/consolidate-victim.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { openPlace, type Place } from "../support/job-victim.ts";
import { administer, cloneDatabase, freshDatabase } from "../support/postgres.ts";
import { migratedSnapshot, openRig } from "../support/stores.ts";

const VICTIM = compiled("consolidate-victim");
/** Moments of death are drawn anew in every run; a failure tells the seed. */
const SEED = Number(process.env.SEED ?? randomInt(1_000_000));
const START = Date.parse("2026-03-02T00:00:00.000Z");
/** Each run is an hour after the last: leases are over, and so are back-offs. */
const at = (run: number) => new Date(START + run * 3_600_000);

/** Episodes for several batches of two shards, with something of every kind of change. Closes the store. */
async function furnish(db: Db): Promise<void> {
  const rig = await openRig(db, { model: false });
  await rig.memory.adopt(hashEmbedder("a"));
  const told = async (content: string, more: object = {}, as: object = {}) => {
    rig.later(1 / 1440);
    await rig.call("memory_store_episode", { content, speaker: "user", ...more }, { as });
  };
  const people = ["Ann", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus"];
  await rig.call("memory_store_fact", { subject: "Ann", predicate: "lives_in", content: "Ann lives in Linz." });
  await rig.call("memory_store_fact", { subject: "Bo", predicate: "works_in", content: "Bo works in Oslo." });
  for (const name of people) await told(`${name} lives in Porto.`);
  for (const name of people) await told(`${name} works in Oslo.`);
  for (const rule of ["Always greet.", "Always knock first.", "Always greet!"]) await told(rule, { session_id: rule });
  for (const name of people) await told(`${name} lives in Graz.`);
  for (const name of people) await told(`${name} lives in Graz.`, { session_id: "again" });
  await told("What a fine day it is.");
  await told("Cy lives in Rome.", { speaker: "tool" });
  for (const town of ["Porto", "Graz"]) await told(`Ann lives in ${town}.`, {}, { tenant: "other" });
  await rig.memory.close();
}

/** What is known and who says so, by content: ids and times of a run are its own, and so is what it held for true between. */
async function knowledge(db: Db): Promise<string[]> {
  const said = (table: string, id: string, against: boolean) => `(
    select json_agg(e.content || e.occurred_at order by e.id) from memory_links k
    join episodes e on e.id in (k.source_id, k.target_id)
    where ${id} in (k.source_id, k.target_id) and '${table}' in (k.source_type, k.target_type)
      and k.relation ${against ? "= 'contradicts'" : "in ('derived_from', 'supports')"})::text`;
  const rows = await db.query<{ row: string }>(
    `select concat_ws(' | ', tenant_id, scope, subject, predicate, content, trust, round(confidence::numeric, 6), validity,
       ${said("fact", "f.id", false)}, 'but', ${said("fact", "f.id", true)}) as row
     from facts f where validity <> 'superseded' or source = 'manual'
     union all
     select concat_ws(' | ', tenant_id, scope, content, trust, confidence, validity, ${said("rule", "r.id", false)})
     from rules r order by 1`,
  );
  return rows.map(({ row }) => row);
}

/** Everything that must never be: each line is a fault. */
async function faults(db: Db): Promise<string[]> {
  const rows = await db.query<{ row: string }>(
    `select 'not done: ' || content || ' ' || consolidation_status as row from episodes where consolidation_status <> 'consolidated'
     union all select 'done more than once: ' || entity_id from memory_events where event_type = 'episode.consolidated'
       group by entity_id having count(*) <> 1
     union all select 'twice: ' || min(content) from facts group by tenant_id, scope, subject, predicate, content having count(*) > 1
     union all select 'twice: ' || min(content) from rules group by tenant_id, scope, content having count(*) > 1
     union all select 'without a source: ' || content from facts f where source like 'consolidation:%' and not exists (
       select from memory_links k where k.source_id = f.id and k.relation = 'derived_from')
     union all select 'still running: ' || id from consolidation_runs where state = 'running'`,
  );
  return [...rows.map(({ row }) => row), ...(await verifyLexical(db))];
}

const TABLES = "episodes, facts, rules, rule_applications, memory_links, episode_references";
let scratch: PgliteDb | undefined;
let verified: Promise<unknown> = Promise.resolve();
afterAll(() => scratch?.close());

/** In one scratch store, one after the other. */
async function expectReplayed(db: Db, words: string): Promise<void> {
  scratch ??= await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
  await scratch.exec(`truncate ${TABLES} cascade`);
  const report = await verifyReplay(db, scratch);
  expect([report.differences, report.orphans], words).toEqual([[], []]);
}

async function expectWhole(db: Db, words: string): Promise<string[]> {
  expect(await faults(db), words).toEqual([]);
  const mine = verified.then(() => expectReplayed(db, words));
  verified = mine.catch(() => undefined);
  await mine;
  return knowledge(db);
}

function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

/** Statements that each batch has at least: so many are passed even by the third victim. */
const STATEMENTS: Readonly<Record<Phase, number>> = { claim: 4, begin: 4, extract: 0, learn: 24 };
const CHAIN = 3;
const KINDS = (["claim", "begin", "extract", "learn"] as const).flatMap((phase) =>
  (["statement", "during", "commit", "committed"] as const satisfies readonly Moment[])
    .filter((moment) => phase !== "extract" || moment.startsWith("commit"))
    .map((moment) => ({ phase, moment })),
);

/** Every kind of death in turn, from a drawn one on. */
function deaths(n: number, draw: (below: number) => number): Death[] {
  const first = draw(KINDS.length);
  return Array.from({ length: n }, (_, index) => {
    const kind = KINDS[(first + index * 3) % KINDS.length] ?? { phase: "claim", moment: "commit" };
    const batches = index % CHAIN === 0 ? 2 : 1;
    const many = kind.moment.startsWith("commit") ? batches : STATEMENTS[kind.phase];
    return { ...kind, nth: draw(many) };
  });
}

async function killed(sentence: Sentence, words: string): Promise<void> {
  const child = spawn(process.execPath, ["--liftoff-only", VICTIM, JSON.stringify(sentence)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  await once(child, "close");
  expect(child.signalCode, words).toBe("SIGKILL");
}

interface Stock {
  copy(): Promise<{ place: Place /** Waits until the server has noticed. */; buried(): Promise<void> }>;
  clear(): Promise<void>;
}

async function folders(): Promise<Stock> {
  const root = mkdtempSync(join(tmpdir(), "butler-consolidate-kill-"));
  const stock = join(root, "stock");
  await furnish(await openPglite({ dir: stock, snapshot: await migratedSnapshot(), durable: false }));
  let copies = 0;
  return {
    async copy() {
      const dir = join(root, `copy${copies++}`);
      cpSync(stock, dir, { recursive: true });
      return { place: { dir }, buried: async () => undefined };
    },
    clear: async () => rmSync(root, { recursive: true }),
  };
}

async function databases(): Promise<Stock> {
  const server = inject("postgresUrl") ?? "";
  const nameOf = (url: string) => new URL(url).pathname.slice(1);
  const buried = async (url: string) => {
    const connected = "select 1 from pg_stat_activity where datname = $1";
    await administer(server, async (client) => {
      while ((await client.query(connected, [nameOf(url)])).rows.length > 0)
        await new Promise((resolve) => setTimeout(resolve, 20));
    });
  };
  const stock = await freshDatabase(server);
  const db = await openPostgres({ url: stock.url });
  await migrate(db);
  await furnish(db);
  await buried(stock.url);
  const made = [stock];
  return {
    async copy() {
      const database = await cloneDatabase(server, nameOf(stock.url));
      made.push(database);
      return { place: { url: database.url }, buried: () => buried(database.url) };
    },
    async clear() {
      for (const database of made) await database.drop();
    },
  };
}

// An embedded store takes seconds of work to open, once for each victim and once for what comes after them.
for (const { name, open, server, points } of [
  { name: "PGlite", open: folders, server: false, points: 3 },
  { name: "PostgreSQL", open: databases, server: true, points: 21 },
])
  describe.skipIf(server && inject("postgresUrl") === undefined)(`consolidation killed on ${name}`, () => {
    let stock: Stock;
    beforeAll(async () => {
      stock = await open();
    });
    afterAll(() => stock?.clear());

    it(`ends as it would have, after each of ${points} deaths`, async () => {
      const inCopy = async <T>(place: Place, use: (run: Run, db: Db) => Promise<T>) => {
        const db = await openPlace(place, false);
        return withConsolidation(db, (run) => use(run, db));
      };
      const wanted = await inCopy((await stock.copy()).place, async (run, db) => {
        expect((await run(at(0))).complete).toBe(true);
        return expectWhole(db, "undisturbed");
      });
      expect(wanted.length).toBeGreaterThan(15);

      const left = deaths(points, drawing(SEED));
      const lane = async () => {
        for (let chain = left.splice(0, CHAIN); chain.length > 0; chain = left.splice(0, CHAIN)) {
          const words = `seed ${SEED}: ${JSON.stringify(chain)}`;
          const { place, buried } = await stock.copy();
          for (const [run, death] of chain.entries()) {
            await killed({ place, now: at(run).toISOString(), ...death }, words);
            await buried();
          }
          await inCopy(place, async (run, db) => {
            expect((await run(at(chain.length))).complete, words).toBe(true);
            expect((await run(at(chain.length + 1))).changed, words).toBe(0);
            expect(await expectWhole(db, words), words).toEqual(wanted);
          });
        }
      };
      const lanes = await Promise.allSettled([lane(), lane()]);
      for (const ended of lanes) if (ended.status === "rejected") throw ended.reason;
    });
  });
