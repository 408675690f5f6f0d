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
  readonly nowMs?: () => number;
}

const LOOK_EVERY_MS = 1_000;
/** A replica that does not say where it is for so long is left out, and statements that wait for it go to the primary. */
const ANSWER_MS = 3_000;
/** So long without a look, and nobody knows since when a replica lacks what the primary has. */
const UNSEEN_MS = 10_000;
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
  /** It has what the primary had when the looks of now began: from there on it can be told how late it is. */
  isKnown: boolean;
  /** Those that wait for its answers: told when it is left out. */
  readonly waiting: Set<(error: Error) => void>;
}

interface State {
  readonly primary: Db;
  readonly options: PlanesOptions;
  readonly replicas: readonly Replica[];
  /** Where the primary was after the last write for a tenant; undefined inside when it could not be asked. */
  readonly marks: Map<string, Promise<WalPosition | undefined>>;
  readonly passed: Passed[];
  readonly nowMs: () => number;
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
    ...{ looking: undefined, turn: 0, closed: false, nowMs: options.nowMs ?? (() => performance.now()) },
    replicas: replicas.map(newReplica),
  };
  look(state);
  return bound(state, primary, {});
}

function newReplica(at: ReplicaAt): Replica {
  const unknown = { db: undefined, opening: undefined, out: "it was not asked yet", replayed: 0n, lag: null };
  return { at, ...unknown, statements: 0, isKnown: false, waiting: new Set() };
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
  if (replica?.db === undefined || replica.out !== undefined) return db.query<R>(text, params);
  try {
    const rows = await whileUsed(replica, replica.db.withSettings(settings).query<R>(text, params));
    replica.statements += 1;
    return rows;
  } catch (error) {
    if (isGone(error)) leaveOut(state, replica, `it does not answer (${reasonOf(error)})`);
    else if (!isOfReplicas(error)) throw error;
    return db.query<R>(text, params);
  }
}

/** A race against one promise for all answers would keep each of them for as long as the replica is well. */
function whileUsed<T>({ waiting }: Replica, answer: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.add(reject);
    answer.then(resolve, reject).finally(() => waiting.delete(reject));
  });
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
    if (!replica.isKnown) await state.looking;
    if (!replica.isKnown) continue;
    if (replica.replayed < needed) await position(state, replica);
    if (replica.out === undefined && replica.replayed >= needed) return replica;
  }
  return undefined;
}

/** Asks where everybody is, at most once a second, and after the call that has led here. */
function look(state: State): void {
  const now = state.nowMs();
  const since = now - state.looked;
  if (state.closed || state.looking !== undefined || since < LOOK_EVERY_MS) return;
  if (since > UNSEEN_MS) forget(state);
  state.looked = now;
  state.looking = lookAround(state).finally(() => {
    state.looking = undefined;
  });
}

/** A replica is read again when it has caught up with what the primary has now. */
function forget({ passed, replicas }: State): void {
  passed.length = 0;
  for (const replica of replicas) replica.isKnown = false;
}

async function lookAround(state: State): Promise<void> {
  const { primary, passed, replicas } = state;
  const [row] = await within(primary.query<{ at: string }>(FLUSHED)).catch(() => []);
  // Without the primary nobody knows how late a replica is: it goes on as it was, and reads go on.
  if (row === undefined) for (const replica of replicas) replica.isKnown ||= replica.out === undefined;
  if (row !== undefined) passed.push({ atMs: state.nowMs(), position: readPosition(row.at) });
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
    replica.lag = lagSeconds(state.passed, replica.replayed, state.nowMs());
    if (replica.lag > state.options.mostLagSeconds)
      return leaveOut(state, replica, `it is ${Math.round(replica.lag)} s behind`);
    replica.isKnown ||= replica.replayed >= (state.passed[0]?.position ?? 0n);
    if (replica.out === undefined) return;
    if (!replica.isKnown) {
      replica.out = "it lacks what the primary had when it was first asked";
      return;
    }
    replica.out = undefined;
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
  replica.isKnown = false;
  if (was !== undefined || state.closed) return;
  replica.lag = reason.includes("behind") ? replica.lag : null;
  for (const reject of replica.waiting) reject(new MemoryError("unavailable", reason));
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
