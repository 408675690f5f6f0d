import { resolve } from "node:path";
import { MemoryError, unavailable } from "../../domain/errors.ts";
import { acquireLock } from "../files/lock.ts";
import { startWorker } from "../threads/worker.ts";
import { keepEngine, keptEngine } from "./pglite-code.ts";
import type { Call, Failure, Reply, Start } from "./pglite-worker.ts";
import type { ChangeListener, Db, Row, Settings, Sql } from "./port.ts";
import { wrapDb } from "./wrap.ts";

export type PgliteOptions = {
  /** Undefined keeps the store in memory. */
  dir: string | undefined;
  /** Real fsync at every commit; the default for a folder. */
  durable?: boolean;
  /** What dump() gave: a new store starts as this copy. Ignored when the folder already holds a store. */
  snapshot?: Uint8Array | Blob;
  /** Session settings on top of the defaults, e.g. `{ "hnsw.ef_search": "400" }`. */
  settings?: Record<string, string>;
};

export type PgliteDb = Db & {
  dump(): Promise<Uint8Array>;
  /** PGlite has no background workers, so the caller schedules this. `light` analyzes tables that changed much, `full` vacuums all. */
  maintain(level: "light" | "full", turn?: () => Promise<void>): Promise<void>;
};

type Request = Call extends infer C ? (C extends Call ? Omit<C, "id"> : never) : never;
type Pending = { resolve: (value: unknown) => void; reject: (error: Error) => void };

const SETTINGS: Record<string, string> = {
  timezone: "UTC",
  jit: "off",
  // One plan for each prepared statement, whatever its parameters: planning took 2 to 3 of the 14 ms in which a search gathers candidates.
  plan_cache_mode: "force_generic_plan",
  random_page_cost: "1.1",
  work_mem: "16MB",
  // 3,000 rows of a table are looked at to plan for it, not 30,000: those took half a second of the one thread for each large table, and 80 MB that
  // the engine never gives back.
  default_statistics_target: "10",
  // Building an ivfflat index over 100,000 vectors needs 128 MB, over 200,000 twice that; it is taken when it is needed.
  maintenance_work_mem: "256MB",
  "hnsw.ef_search": "200",
  "hnsw.iterative_scan": "relaxed_order",
  "ivfflat.probes": "30",
  "ivfflat.iterative_scan": "relaxed_order",
};

const STALE_TABLES = `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
  where n_mod_since_analyze > 50 + 0.1 * n_live_tup`;
const ALL_TABLES = `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'm') and not c.relisshared and c.relpersistence <> 't' order by c.oid`;

/**
 * PGlite in a worker thread. There is one connection: calls are answered one after the other, and a transaction holds it until it ends.
 * Calling `query` or `tx` of this handle inside `tx` and awaiting it there waits for itself forever; nothing is corrupted,
 * but that transaction never ends. Use only the `sql` that `tx` gives.
 */
export async function openPglite(options: PgliteOptions): Promise<PgliteDb> {
  const dir = options.dir === undefined ? undefined : resolve(options.dir);
  const start: Start = {
    code: keptEngine(),
    dir,
    durable: dir !== undefined && (options.durable ?? true),
    snapshot:
      options.snapshot instanceof Blob ? new Uint8Array(await options.snapshot.arrayBuffer()) : options.snapshot,
    settings: { ...SETTINGS, ...options.settings },
  };
  const engine = startEngine(start);
  try {
    await engine.ready;
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return handle(engine);
}

/** As `openPglite`, with the folder locked from before the open until after the close. */
export async function openPgliteExclusive(options: PgliteOptions & { dir: string }): Promise<PgliteDb> {
  const lock = await acquireLock(options.dir);
  if (lock === undefined) {
    throw unavailable(`Another process owns the store in ${options.dir}: use that one, or stop it first.`);
  }
  try {
    const db = await openPglite(options);
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= db.close().finally(() => lock.release());
      return closing;
    };
    return wrapDb(db, () => ({ close }));
  } catch (error) {
    await lock.release();
    throw error;
  }
}

type Engine = ReturnType<typeof startEngine>;

/** The thread and the calls it has not answered yet. */
function startEngine(start: Start) {
  const worker = startWorker(import.meta.url, "pglite-worker", start);
  const pending = new Map<number, Pending>();
  const listeners = new Set<ChangeListener>();
  let lastId = 0;
  let dead: Error | undefined;

  const die = (error: Error) => {
    dead ??= error;
    for (const call of pending.values()) call.reject(dead);
    pending.clear();
  };
  const expect = (id: number) =>
    new Promise<unknown>((resolve, reject) => {
      pending.set(id, { resolve, reject });
    });
  worker.on("message", (reply: Reply) => {
    if ("code" in reply) return keepEngine(reply.code);
    if ("changed" in reply) {
      const ids = reply.changed.flatMap((told) => told.split(","));
      for (const listener of listeners) listener(ids, reply.counted);
      return;
    }
    if ("fatal" in reply) {
      const full = /ENOSPC|No space left/.test(reply.fatal);
      const cause = new Error(reply.fatal);
      return die(
        full
          ? unavailable(
              "The embedded store stopped because its disk is full: free some disk space, then open it again.",
              cause,
            )
          : unavailable(`The embedded store stopped (${reply.fatal}): open it again.`, cause),
      );
    }
    const call = pending.get(reply.id);
    pending.delete(reply.id);
    if (reply.failure === undefined) call?.resolve(reply.value);
    else call?.reject(toError(reply.failure));
  });
  worker.on("error", (error) => die(unavailable("The embedded store crashed: open it again.", error)));
  worker.on("exit", () => die(unavailable("The embedded store stopped: open it again.")));

  const send = (request: Request): Promise<unknown> => {
    if (dead !== undefined) return Promise.reject(dead);
    lastId += 1;
    const moved: ArrayBuffer[] = [];
    const call = request.op === "query" ? { ...request, params: request.params.map((p) => own(p, moved)) } : request;
    const answer = expect(lastId);
    try {
      worker.postMessage({ ...call, id: lastId }, moved);
    } catch (error) {
      pending
        .get(lastId)
        ?.reject(new MemoryError("internal", "A parameter cannot be sent to the store.", { cause: error }));
      pending.delete(lastId);
    }
    return answer;
  };
  const stop = async () => {
    await worker.terminate();
  };
  const onChange = (listener: ChangeListener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return { ready: expect(0), send, stop, onChange, isDead: () => dead !== undefined };
}

/** Copies bytes out of the buffer they are a view of, so that the message carries them alone and the caller keeps its own. */
function own(param: unknown, moved: ArrayBuffer[]): unknown {
  if (param instanceof Uint8Array) {
    const copy = new Uint8Array(param);
    moved.push(copy.buffer);
    return copy;
  }
  return Array.isArray(param) ? param.map((item) => own(item, moved)) : param;
}

function toError(failure: Failure): Error {
  if (failure.unavailable) return unavailable(failure.message);
  return Object.assign(new Error(failure.message), failure.fields);
}

function handle(engine: Engine): PgliteDb {
  /** Resolves when the last work that needs the connection alone has ended. */
  let line: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | undefined;

  /** The thread works in the order of its messages, so a single statement is sent without waiting for those before it. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    closing === undefined ? line.then(work) : Promise.reject(unavailable("The store is closed."));
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = inTurn(work);
    line = turn.catch(() => undefined);
    return turn;
  };
  const rows = async <R>(text: string, params: readonly unknown[] = [], under?: Settings) =>
    (await engine.send({ op: "query", text, params: [...params], ...(under && { under }) })) as R[];

  const maintain = async (level: "light" | "full", turn: () => Promise<void> = async () => undefined) => {
    const { query, exec } = withSettings({});
    // What was changed is counted once a second: after a short and heavy write nothing of it would be known yet.
    await query("select pg_stat_force_next_flush()");
    // One statement a table, so that other calls get their turn in between.
    const tables = await query<{ name: string }>(level === "full" ? ALL_TABLES : STALE_TABLES);
    for (const { name } of tables) {
      await exec(level === "full" ? `vacuum (analyze) ${name}` : `analyze ${name}`);
      await turn();
    }
    await exec("checkpoint");
  };
  const dump = () => inTurn(async () => (await engine.send({ op: "dump" })) as Uint8Array);
  const close = () => {
    closing ??= line.then(async () => {
      try {
        if (!engine.isDead()) await engine.send({ op: "close" });
      } finally {
        await engine.stop();
      }
    });
    return closing;
  };
  const withSettings = (under: Settings): PgliteDb => ({
    kind: "pglite",
    query: <R = Row>(text: string, params?: readonly unknown[]) => inTurn(() => rows<R>(text, params, under)),
    exec: (script) =>
      alone(async () => {
        try {
          await engine.send({ op: "exec", text: script, under });
        } catch (error) {
          // The script may have stopped inside of a transaction that it had opened; outside of one this does nothing.
          if (!engine.isDead()) await engine.send({ op: "rollback" });
          throw error;
        }
      }),
    tx: (work) => alone(() => transact(engine, rows, work, under)),
    withSettings,
    maintain,
    dump,
    isDead: engine.isDead,
    onChange: engine.onChange,
    close,
  });
  return withSettings({});
}

async function transact<T>(
  engine: Engine,
  rows: <R>(text: string, params?: readonly unknown[]) => Promise<R[]>,
  work: (sql: Sql) => Promise<T>,
  under: Settings,
): Promise<T> {
  let over = false;
  let firstFailure: unknown;
  const query = async <R = Row>(text: string, params?: readonly unknown[]): Promise<R[]> => {
    if (over) throw new MemoryError("internal", "This transaction has ended: its handle cannot be used any more.");
    try {
      return await rows<R>(text, params);
    } catch (error) {
      firstFailure ??= error;
      throw error;
    }
  };
  await engine.send({ op: "begin", under });
  let result: T;
  try {
    result = await work({ query });
  } catch (error) {
    over = true;
    // When the engine died there is nothing to roll back; the caller gets the first cause.
    if (!engine.isDead()) await engine.send({ op: "rollback" });
    throw error;
  }
  over = true;
  const tag = await engine.send({ op: "commit" });
  if (tag === "ROLLBACK") throw firstFailure ?? new MemoryError("internal", "The transaction was rolled back.");
  return result;
}
