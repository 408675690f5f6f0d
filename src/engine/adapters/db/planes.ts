/**
 * A server with replicas: statements that only read may be answered by one of them, everything else by the primary. What this process has
 * written for a tenant is on a replica when that has replayed the primary's log up to where it was after the write.
 */
import { MemoryError, messageOf, reasonOf } from "../../domain/errors.ts";
import { lagSeconds, type Passed, readPosition, type WalPosition } from "../../domain/wal-position.ts";
import type { Db, ReplicaUse, Row, Settings } from "./port.ts";

export interface ReplicaAt {
  /** Host and port. */
  readonly name: string;
  open(): Promise<Db>;
}

export interface PlanesOptions {
  /** The setting whose value is the tenant. */
  readonly tenantSetting: string;
  /** Behind by more than this, a replica is left out. */
  readonly mostLagSeconds: number;
  /** Told once when a replica is left out, and once when it is back. */
  tell(name: string, reason: string | undefined): void;
}

const LOOK_EVERY_MS = 1_000;
/** A replica that does not say where it is for so long is left out, and statements that wait for it go to the primary. */
const ANSWER_MS = 3_000;
const PASSED_KEPT = 600;
const MOST_TENANTS = 10_000;

/** Not yet flushed either: with asynchronous commits what was written may be only there. */
const WRITTEN = "select pg_current_wal_insert_lsn()::text as at";
const FLUSHED = "select pg_current_wal_flush_lsn()::text as at";
const REPLAYED = "select pg_is_in_recovery() as follows, coalesce(pg_last_wal_replay_lsn(), '0/0')::text as at";

interface Replica {
  readonly at: ReplicaAt;
  db: Db | undefined;
  opening: Promise<Db> | undefined;
  /** Why it is left out. */
  out: string | undefined;
  replayed: WalPosition;
  lag: number | null;
  statements: number;
  /** Rejects when it is left out, for those that wait for its answers. */
  failed: Promise<never>;
  fail(error: Error): void;
}

interface State {
  readonly primary: Db;
  readonly options: PlanesOptions;
  readonly replicas: readonly Replica[];
  /** Where the primary was after the last write for a tenant; undefined inside when it could not be asked. */
  readonly marks: Map<string, Promise<WalPosition | undefined>>;
  readonly passed: Passed[];
  looked: number;
  looking: Promise<void> | undefined;
  turn: number;
  closed: boolean;
}

/** For what was written for all tenants at once. */
const EVERYBODY = "*";

export function planesDb(primary: Db, replicas: readonly ReplicaAt[], options: PlanesOptions): Db {
  const state: State = {
    ...{ primary, options, marks: new Map(), passed: [], looked: Number.NEGATIVE_INFINITY },
    ...{ looking: undefined, turn: 0, closed: false },
    replicas: replicas.map(newReplica),
  };
  look(state);
  return bound(state, primary, {});
}

function newReplica(at: ReplicaAt): Replica {
  const unknown = { db: undefined, opening: undefined, out: "it was not asked yet", replayed: 0n, lag: null };
  return { at, ...unknown, statements: 0, ...newFailure() };
}

function newFailure(): Pick<Replica, "failed" | "fail"> {
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  return { failed, fail };
}

function bound(state: State, db: Db, settings: Settings): Db {
  const tenant = settings[state.options.tenantSetting] || EVERYBODY;
  return {
    ...db,
    withSettings: (other) => bound(state, state.primary.withSettings(other), other),
    reading: () => ({
      ...bound(state, db, settings),
      query: (text, params) => read(state, db, settings, tenant, text, params),
    }),
    wrote: () => noteWrite(state, tenant),
    replicas: () => {
      look(state);
      return state.replicas.map(useOf);
    },
    close: () => closeAll(state),
  };
}

const useOf = ({ at: { name }, out, lag, statements }: Replica): ReplicaUse => ({
  ...{ name, used: out === undefined, lag_seconds: lag, statements },
  ...(out === undefined ? {} : { reason: out }),
});

function noteWrite({ primary, marks }: State, tenant: string): void {
  const at = primary.query<{ at: string }>(WRITTEN).then(
    ([row]) => (row === undefined ? undefined : readPosition(row.at)),
    () => undefined,
  );
  if (marks.size >= MOST_TENANTS) {
    marks.clear();
    marks.set(EVERYBODY, at);
  }
  marks.set(tenant, at);
}

async function read<R = Row>(
  state: State,
  db: Db,
  settings: Settings,
  tenant: string,
  text: string,
  params?: readonly unknown[],
): Promise<R[]> {
  const replica = await choose(state, tenant);
  if (replica?.db === undefined) return db.query<R>(text, params);
  try {
    const answer = replica.db.withSettings(settings).query<R>(text, params);
    const rows = await Promise.race([answer, replica.failed]);
    replica.statements += 1;
    return rows;
  } catch (error) {
    if (isGone(error)) leaveOut(state, replica, `it does not answer (${reasonOf(error)})`);
    else if (!isOfReplicas(error)) throw error;
    return db.query<R>(text, params);
  }
}

async function choose(state: State, tenant: string): Promise<Replica | undefined> {
  look(state);
  const { marks, replicas } = state;
  if (replicas.every(({ out }) => out !== undefined)) return undefined;
  let needed = 0n;
  for (const key of [tenant, EVERYBODY]) {
    const mark = marks.get(key);
    const at = mark === undefined ? 0n : await mark;
    if (at === undefined) return undefined;
    if (at > needed) needed = at;
  }
  state.turn += 1;
  for (let step = 0; step < replicas.length; step++) {
    const replica = replicas[(state.turn + step) % replicas.length];
    if (replica === undefined || replica.out !== undefined) continue;
    if (replica.replayed < needed) await position(state, replica);
    if (replica.out === undefined && replica.replayed >= needed) return replica;
  }
  return undefined;
}

/** Asks where everybody is, at most once a second, and after the call that has led here. */
function look(state: State): void {
  if (state.closed || state.looking !== undefined || performance.now() - state.looked < LOOK_EVERY_MS) return;
  state.looked = performance.now();
  state.looking = lookAround(state).finally(() => {
    state.looking = undefined;
  });
}

async function lookAround(state: State): Promise<void> {
  const { primary, passed, replicas } = state;
  // Without the primary nobody knows how late a replica is: it goes on as it was, and reads go on.
  const [row] = await primary.query<{ at: string }>(FLUSHED).catch(() => []);
  if (row !== undefined) passed.push({ atMs: performance.now(), position: readPosition(row.at) });
  if (passed.length > PASSED_KEPT) passed.splice(0, passed.length - PASSED_KEPT);
  await Promise.all(replicas.map((replica) => position(state, replica, row !== undefined)));
}

/** Where a replica is. One that was left out is back when it answers and is not late. */
async function position(state: State, replica: Replica, judged = false): Promise<void> {
  try {
    const db = replica.db ?? (await within(openReplica(replica)));
    const [row] = await within(db.query<{ follows: boolean; at: string }>(REPLAYED));
    if (row?.follows !== true) return leaveOut(state, replica, "it follows no primary any more");
    replica.replayed = readPosition(row.at);
    if (!judged) return;
    replica.lag = lagSeconds(state.passed, replica.replayed, performance.now());
    if (replica.lag > state.options.mostLagSeconds)
      return leaveOut(state, replica, `it is ${Math.round(replica.lag)} s behind`);
    if (replica.out === undefined) return;
    Object.assign(replica, newFailure(), { out: undefined });
    state.options.tell(replica.at.name, undefined);
  } catch (error) {
    leaveOut(state, replica, `it does not answer (${reasonOf(error)})`);
  }
}

/** One that opens too late is used the next time. */
function openReplica(replica: Replica): Promise<Db> {
  replica.opening ??= replica.at.open().then(
    (db) => {
      replica.db = db;
      return db;
    },
    (error: unknown) => {
      replica.opening = undefined;
      throw error;
    },
  );
  return replica.opening;
}

function leaveOut(state: State, replica: Replica, reason: string): void {
  const was = replica.out;
  replica.out = reason;
  if (was !== undefined || state.closed) return;
  replica.lag = reason.includes("behind") ? replica.lag : null;
  replica.fail(new MemoryError("unavailable", reason));
  state.options.tell(replica.at.name, reason);
}

function within<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new MemoryError("unavailable", `no answer in ${ANSWER_MS / 1_000} s`)), ANSWER_MS);
    timer.unref();
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : messageOf(error);

const isGone = (error: unknown): boolean => error instanceof MemoryError || /^(08|57P|53)/.test(codeOf(error));

/** It may not write (25006), gave way to what it replays (40001), or has not replayed a change of the schema (class 42). */
const isOfReplicas = (error: unknown): boolean => /^(25006|40001|42)/.test(codeOf(error));

async function closeAll(state: State): Promise<void> {
  state.closed = true;
  await Promise.allSettled([...state.marks.values(), state.looking, ...state.replicas.map(({ opening }) => opening)]);
  await Promise.allSettled(state.replicas.map(({ db }) => db?.close()));
  await state.primary.close();
}
