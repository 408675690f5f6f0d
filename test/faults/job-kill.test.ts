/** kill -9 in the middle of each job, then run it again: the same end as without the kill. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { JOB_NAMES, type JobName } from "../../src/engine/memory/keep/job.ts";
import { verifyCheckpoints } from "../../src/engine/memory/retention/checkpoints.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { compiled } from "../support/compiled.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { type Gate, openPlace, type Place, RUN_AT, type Run, type Sentence, withJob } from "../support/job-victim.ts";
import { administer, cloneDatabase, freshDatabase } from "../support/postgres.ts";
import { migratedSnapshot, openRig } from "../support/stores.ts";

/** Consolidation asks somebody outside and has its own test: consolidate-kill. Without a key nothing is encrypted. */
const KILLED = JOB_NAMES.filter((name) => !["consolidate", "rekey", "partitions"].includes(name));

const VICTIM = compiled("job-victim");
/** Moments of death are drawn anew in every run; a failure tells the seed. */
const SEED = Number(process.env.SEED ?? randomInt(1_000_000));

/** Something to do for every job, more than a batch of most. Closes the store. */
async function furnish(db: Db): Promise<void> {
  const rig = await openRig(db, {
    model: false,
    // The harm is told while the bar is higher than the sweep's.
    settings: { rules: { harmful_to_antipattern: { min_harmful: 9 } } },
  });
  await rig.memory.adopt(hashEmbedder("a"));
  const told = (n: number, word: string, more: object = {}) =>
    rig.call("memory_ingest_batch", {
      episodes: Array.from({ length: n }, (_, i) => ({ content: `The ${word} w${i}w was seen`, ...more })),
    });
  for (let n = 0; n < 260; n++) {
    const permanence = (["volatile", "ephemeral", "permanent"] as const)[n % 3];
    await rig.call("memory_store_fact", { subject: `s${n}`, predicate: "is", content: `content ${n}`, permanence });
  }
  const rules: string[] = [];
  for (const content of ["Greet first", "Deploy on Friday", "Use tabs", "Ask twice", "Write it down"])
    rules.push((await rig.call("memory_store_rule", { content })).id);
  const [proven, harmful, faint, gone] = rules;
  for (let n = 0; n < 16; n++) await rig.call("memory_mark_helpful", { rule_id: proven, session_id: `s${n}` });
  await rig.db.query("update rules set confidence = 0.3 where id = $1", [faint]);
  await rig.db.query("update rules set confidence = 0.06 where id = $1", [gone]);

  rig.later(40);
  await told(230, "expired heron");
  rig.later(10);
  const people = ["Ann", "Bo", "Cy", "Dee", "Eli"].map((name) => `${name} lives in Rome.`);
  for (const content of [...people, "Always ask before deleting.", "Never push on Friday."])
    await rig.call("memory_store", { content, tier: "mid" });
  for (let n = 0; n < 50; n++) await rig.call("memory_store", { content: `Wanted often w${n}w`, tier: "mid" });
  for (let n = 0; n < 20; n++) await rig.call("memory_store", { content: `Learned long ago w${n}w`, tier: "long" });
  rig.later(8);
  await told(60, "rising lark");
  await told(230, "crowded gull");
  await told(3, "harmed swan", { session_id: "harm" });
  for (let n = 0; n < 4; n++)
    await rig.call("memory_mark_harmful", {
      rule_id: harmful,
      session_id: n === 0 ? "harm" : `h${n}`,
      reason: `r${n}`,
    });
  await rig.settled();

  await rig.db.query(
    `update episodes set consolidation_status = 'consolidated' where content like '%gull%' or content like 'Learned%'`,
  );
  for (const [like, sessions, days, times] of [
    ["%lark%", 2, 1, 2],
    ["%lives in%", 1, 3, 4],
    ["Always%", 1, 3, 4],
    ["Never%", 1, 3, 4],
    ["Wanted%", 1, 3, 4],
  ] as const)
    await rig.db.query(
      `with referenced as (
         insert into episode_references (episode_id, tenant_id, session_id, day, n)
         select id, tenant_id, 's' || s, '2026-04-25'::date + d, $4::int4 from episodes, generate_series(1, $2::int4) s,
           generate_series(1, $3::int4) d where content like $1 returning 1)
       update episodes set reference_count = $2 * $3 * $4, last_referenced_at = '2026-04-28' where content like $1`,
      [like, sessions, days, times],
    );
  for (const { sk } of await rig.db.query<{ sk: number }>("select sk from shelves"))
    while ((await foldShelf(rig.db, sk)).folded > 0);
  await rig.memory.close();
}

/** What only hygiene puts right. */
async function damage(db: Db): Promise<void> {
  await db.query("delete from lex_doc where memory_id in (select id from facts order by id limit 40)");
  await db.query("delete from lex_block where key in (select key from lex_block order by key limit 5)");
  await db.query(
    `insert into embeddings (memory_id, version_id, sk, visible_until, embedding, tenant_id)
     select gen_random_uuid(), version_id, sk, visible_until, embedding, tenant_id
     from embeddings order by memory_id limit 30`,
  );
  await db.query(
    `insert into job_runs (id, job, trigger, attempt, state, started_at, finished_at)
     select gen_random_uuid(), 'promote', 'manual', 1, 'done', $1::timestamptz - n * interval '1 hour', $1
     from generate_series(1, 1010) n`,
    [RUN_AT],
  );
  await db.close();
}

/** Everything that is true afterwards. What the job itself made has a random id and is called by its content. */
async function truth(db: Db): Promise<Record<string, string[]>> {
  const rows = async (text: string, params: readonly unknown[] = []) =>
    (await db.query<{ row: string }>(`select row from (${text}) as t (row) order by 1`, params)).map(({ row }) => row);
  const made = await db.query<{ id: string; name: string }>(
    `select id, 'fact ' || subject || ' ' || predicate as name from facts where created_at = $1
     union all select id, 'rule ' || content from rules where created_at = $1`,
    [RUN_AT],
  );
  const named = (list: string[]) =>
    list.map((row) => made.reduce((text, { id, name }) => text.replaceAll(id, name), row)).toSorted();
  const all: Record<string, string[]> = {};
  for (const table of ["episodes", "facts", "rules", "rule_applications", "memory_links", "episode_references"])
    all[table] = named(await rows(`select to_jsonb(t)::text from ${table} t`));
  // A folded event names its checkpoint and has a salt.
  all.events = named(
    await rows("select (to_jsonb(t) - 'id' - 'seq' #- '{payload,folded}')::text from memory_events t"),
  );
  all.checkpoints = (await verifyCheckpoints(db)).faults.toSorted();
  all.words = named(await rows("select memory_id || ' on ' || sk from lex_doc where state <> 2"));
  all.vectors = named(
    await rows(
      `select concat_ws(' ', memory_id, version_id, sk, visible_until, md5(embedding::text)) from embeddings
       where memory_id in (select id from episodes union all select id from facts union all select id from rules)`,
    ),
  );
  all.versions = await rows("select id || ' ' || state from embedding_versions");
  all.indexes = await rows(
    `select indexrelid::regclass || ' ' || indisvalid from pg_index where indrelid = 'embeddings'::regclass`,
  );
  all.leftovers = await rows(
    `select 'runs ' || count(*) from job_runs union all select 'strays ' || count(*) from embeddings where memory_id not in (
       select id from episodes union all select id from facts union all select id from rules)`,
  );
  all.wrong = await verifyLexical(db);
  return all;
}

/** Deaths of every kind that the job knows: within a transaction, before its end, between two, and during a statement. */
function deaths(n: number, gates: readonly Gate[], draw: () => number): { gate: number; during: boolean }[] {
  const at = (kind?: Gate): number => {
    const places = gates.flatMap((gate, index) => (kind === undefined || gate === kind ? [index] : []));
    return places[Math.floor(draw() * places.length)] ?? at();
  };
  const all = [
    { gate: at("inside"), during: false },
    { gate: at("commit"), during: false },
    { gate: at("alone"), during: false },
    { gate: at(), during: true },
  ];
  const first = Math.floor(draw() * all.length);
  return [...all.slice(first), ...all.slice(0, first)].slice(0, n);
}

function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function killed(sentence: Sentence): Promise<void> {
  const child = spawn(process.execPath, ["--liftoff-only", VICTIM, JSON.stringify(sentence)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  await once(child, "close");
  expect(child.signalCode, JSON.stringify(sentence)).toBe("SIGKILL");
}

interface Stock {
  /** The same store again, for one run. */
  copy(job: JobName): Promise<Place>;
  /** A killed client's connections are gone when the server has noticed. */
  buried(place: Place): Promise<void>;
  clear(): Promise<void>;
}

async function folders(): Promise<Stock> {
  const root = mkdtempSync(join(tmpdir(), "butler-job-kill-"));
  let copies = 0;
  const dirOf = (job: JobName) => join(root, job === "hygiene" ? "damaged" : "sound");
  await furnish(await openPglite({ dir: join(root, "sound"), snapshot: await migratedSnapshot(), durable: false }));
  cpSync(join(root, "sound"), join(root, "damaged"), { recursive: true });
  await damage(await openPglite({ dir: join(root, "damaged"), durable: false }));
  return {
    async copy(job) {
      const dir = join(root, `copy${copies++}`);
      cpSync(dirOf(job), dir, { recursive: true });
      return { dir };
    },
    buried: async () => undefined,
    clear: async () => rmSync(root, { recursive: true }),
  };
}

async function databases(): Promise<Stock> {
  const server = inject("postgresUrl") ?? "";
  const nameOf = (url: string) => new URL(url).pathname.slice(1);
  const connections = (url: string) =>
    administer(server, async (client) => {
      const { rows } = await client.query("select 1 from pg_stat_activity where datname = $1", [nameOf(url)]);
      return rows.length;
    });
  const buried = async (url: string) => {
    while ((await connections(url)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const sound = await freshDatabase(server);
  const db = await openPostgres({ url: sound.url });
  await migrate(db);
  await furnish(db);
  await buried(sound.url);
  const damaged = await cloneDatabase(server, nameOf(sound.url));
  await damage(await openPostgres({ url: damaged.url }));
  await buried(damaged.url);
  const made = [sound, damaged];
  return {
    async copy(job) {
      const database = await cloneDatabase(server, nameOf((job === "hygiene" ? damaged : sound).url));
      made.push(database);
      return { url: database.url };
    },
    buried: async (place) => void ("url" in place && (await buried(place.url))),
    async clear() {
      for (const database of made) await database.drop();
    },
  };
}

// An embedded store takes seconds of work to open, once for the victim and once for what comes after it.
for (const { store, open, server, points } of [
  { store: "PGlite", open: folders, server: false, points: 1 },
  { store: "PostgreSQL", open: databases, server: true, points: 2 },
])
  describe.skipIf(server && inject("postgresUrl") === undefined)(`kill -9 on ${store}`, () => {
    let stock: Stock;
    beforeAll(async () => {
      stock = await open();
    });
    afterAll(() => stock?.clear());

    /** Only the victim has to wait for the disk. */
    const inCopy = async <T>(place: Place, job: JobName, use: (run: Run, db: Db) => Promise<T>) => {
      const db = await openPlace(place, false);
      return withJob(db, job, (run) => use(run, db));
    };

    it.each(KILLED)("%s: killed and run again, the end is the same", async (job) => {
      const gates: Gate[] = [];
      const wanted = await inCopy(await stock.copy(job), job, async (run, db) => {
        const report = await run((gate) => gates.push(gate));
        expect(report).toMatchObject({ complete: true });
        expect(report.changed).toBeGreaterThan(0);
        return truth(db);
      });
      expect(wanted.wrong).toEqual([]);

      const left = deaths(points, gates, drawing(SEED + KILLED.indexOf(job)));
      const lane = async () => {
        for (let death = left.pop(); death !== undefined; death = left.pop()) {
          const words = `seed ${SEED}: ${JSON.stringify(death)} (${gates[death.gate]}) of ${gates.length}`;
          const place = await stock.copy(job);
          await killed({ place, job, ...death });
          await stock.buried(place);
          await inCopy(place, job, async (run, db) => {
            expect(await run(), words).toMatchObject({ complete: true });
            expect(await truth(db), words).toEqual(wanted);
            expect((await run()).changed, words).toBe(0);
          });
          if ("dir" in place) rmSync(place.dir, { recursive: true });
        }
      };
      const lanes = await Promise.allSettled([lane(), lane()]);
      for (const ended of lanes) if (ended.status === "rejected") throw ended.reason;
    });
  });
