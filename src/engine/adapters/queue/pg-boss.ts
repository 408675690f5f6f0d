/**
 * pg-boss over our own database port, without its workers and timers: they would ask an embedded store every two seconds
 * and keep it open for ever. The scheduler comes by when something is due.
 */
import type PgBoss from "pg-boss";
import type { Db, Sql } from "../db/port.ts";
import type { Lease, Message, Queue, QueueMaker } from "./port.ts";

export interface PgBossOptions {
  /** The first back-off; each further one is twice as long, with some chance in it. */
  readonly retryDelaySeconds?: number;
  readonly retryLimit?: number;
  /** A run that does not say for this long that it lives is taken to be dead. */
  readonly leaseSeconds?: number;
}

const SCHEMA = "pgboss";
const RETRY_LIMIT = 3;
const RETRY_DELAY_S = 30;
const LEASE_S = 120;
/** Rounds of one lease: one that is late behind a long statement does not lose it. */
const BEATS_PER_LEASE = 6;
const UNIQUE_VIOLATION = "23505";

const deadLetters = (job: string) => `${job}_dead_letters`;

export function pgBossQueues(options: PgBossOptions = {}): QueueMaker {
  return {
    async installed(sql) {
      const [row] = await sql.query<{ there: boolean }>(`select to_regclass('${SCHEMA}.job') is not null as there`);
      return row?.there === true;
    },
    open: (db, jobs) => open(db, jobs, options),
  };
}

async function open(db: Db, jobs: readonly string[], options: PgBossOptions): Promise<Queue> {
  const { retryLimit = RETRY_LIMIT, retryDelaySeconds = RETRY_DELAY_S, leaseSeconds = LEASE_S } = options;
  const { default: Boss } = await import("pg-boss");
  const settings = { schema: SCHEMA, supervise: false, schedule: false };
  const boss = new Boss({ ...settings, db: wholeDb(db) });
  // Without a listener an 'error' event ends the process; what fails here also rejects.
  boss.on("error", () => undefined);
  await boss.start();
  if ((await missing(boss)).length > 0) await db.tx(createQueues);

  async function missing(from: PgBoss): Promise<string[]> {
    const known = new Set((await from.getQueues()).map(({ name }) => name));
    return jobs.filter((job) => !known.has(job));
  }

  async function createQueues(sql: Sql): Promise<void> {
    // Each queue is a partition of one table: two daemons that make them at once lock each other out.
    await sql.query("select pg_advisory_xact_lock(hashtextextended('butler queues', 7031))");
    const alone = new Boss({ ...settings, ...within(sql) });
    for (const job of await missing(alone)) {
      await alone.createQueue(deadLetters(job), { name: deadLetters(job), policy: "standard" });
      await alone.createQueue(job, {
        name: job,
        policy: "singleton",
        retryLimit,
        retryDelay: retryDelaySeconds,
        retryBackoff: true,
        expireInSeconds: leaseSeconds,
        deadLetter: deadLetters(job),
      });
    }
  }

  async function keepAlive(lease: Lease): Promise<boolean> {
    const rows = await db.query(
      `update ${SCHEMA}.job set started_on = now() where name = $1 and id = $2 and state = 'active' and retry_count = $3
       returning id`,
      [lease.job, lease.id, lease.retries],
    );
    return rows.length > 0;
  }

  return {
    async send({ job, id, data, retry, urgent = false }: Message, sql) {
      const sent = await boss.send(job, data, {
        id,
        priority: urgent ? 1 : 0,
        // Taken at once: pg-boss wants a start before now, and an embedded clock may not have moved on since.
        startAfter: "-1 second",
        ...(retry ? {} : { retryLimit: 0 }),
        ...within(sql),
      });
      return sent !== null;
    },
    async take(job) {
      // pg-boss hears a violated index as "one is under way", and every other failure too.
      let failure: unknown;
      const listening: PgBoss.Db = {
        executeSql: (text, values) =>
          oneStatement(db, text, values).catch((error: unknown) => {
            failure = error;
            throw error;
          }),
      };
      const [next] = await boss.fetch<Record<string, unknown>>(job, { includeMetadata: true, db: listening });
      if (failure !== undefined && !isUniqueViolation(failure)) throw failure;
      if (next === undefined) return undefined;
      const { id, data, retryCount, retryLimit: limit } = next;
      return { job, id, data, retries: retryCount, last: retryCount >= limit };
    },
    hold(lease) {
      let gone = false;
      let lastBeat = performance.now();
      const beat = async () => {
        try {
          gone = !(await keepAlive(lease));
          lastBeat = performance.now();
        } catch {
          // A database that is away for a moment; when it stays away the lease has run out.
          gone = performance.now() - lastBeat > leaseSeconds * 1_000;
        }
      };
      const timer = setInterval(() => void beat(), (leaseSeconds * 1_000) / BEATS_PER_LEASE).unref();
      return { lost: () => gone, release: () => clearInterval(timer) };
    },
    async complete(lease, sql) {
      await boss.complete(lease.job, lease.id, {}, within(sql));
    },
    async fail(lease, reason, sql) {
      await boss.fail(lease.job, lease.id, { message: reason }, within(sql));
    },
    async cancel(job, id) {
      await boss.cancel(job, id);
    },
    async expire(all) {
      if (!all) return boss.expire();
      const held = await db.query<{ name: string; id: string }>(
        `select name, id from ${SCHEMA}.job where state = 'active'`,
      );
      for (const { name, id } of held) await boss.fail(name, id, { message: "the process that ran it ended" });
    },
    async ready() {
      const rows = await db.query<{ name: string }>(
        `select name from ${SCHEMA}.job where state < 'active' and start_after < now() and name = any($1::text[])
         group by name order by max(priority) desc, min(created_on)`,
        [jobs],
      );
      return rows.map(({ name }) => name);
    },
    async waitMs() {
      const [row] = await db.query<{ ms: number | null }>(
        `select (extract(epoch from min(case when state = 'active' then started_on + expire_in else start_after end)
           - now()) * 1000)::float8 as ms
         from ${SCHEMA}.job where state <= 'active' and name = any($1::text[])`,
        [jobs],
      );
      return typeof row?.ms === "number" ? Math.max(0, row.ms) : undefined;
    },
    async tidy() {
      await boss.maintain();
    },
  };
}

const within = (sql: Sql | undefined) =>
  sql === undefined
    ? {}
    : { db: { executeSql: (text: string, values: unknown[]) => oneStatement(sql, text, values) } satisfies PgBoss.Db };

async function oneStatement(sql: Sql, text: string, values: unknown[] | undefined) {
  return { rows: await sql.query(text, values ?? []) };
}

/** Its scripts of several statements bring their own transaction; everything else is one statement. */
function wholeDb(db: Db): PgBoss.Db {
  return {
    executeSql: async (text, values) => {
      if (!/^\s*BEGIN;/.test(text)) return oneStatement(db, text, values);
      await db.exec(text);
      return { rows: [] };
    },
  };
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION;
}
