/**
 * The life of one butler's store: opened by the first call, shared by all, closed when nobody has used it for a while.
 *
 *   closed ──use──▶ opening ──▶ open ──unused for idleMs──▶ closing ──▶ closed
 *                      └──▶ failed (reason kept, the next use tries again)
 */
import type { Log } from "../../engine/adapters/log.ts";
import { reasonOf, unavailable } from "../../engine/domain/errors.ts";

export interface Closable {
  /** True when it will never answer again. */
  isDead?(): boolean;
  close(): Promise<void>;
}

export interface Upkeep {
  readonly level: "light" | "full";
  /** No quiet moment has come for `maintainEveryMs`: calls go on meanwhile. */
  readonly beside: boolean;
  interrupted(): boolean;
}

export interface KeeperParts<M extends Closable> {
  readonly butler: string;
  open(): Promise<M>;
  /** `interrupted` turns true when a call comes in: the rest is done in the next quiet moment. */
  maintain(memory: M, upkeep: Upkeep): Promise<void>;
  /** After each opening. */
  opened?(): void;
  /** After each closing, so that what is shared with other stores can be freed too. */
  closed(): void;
  readonly log: Log;
  readonly idleMs: number;
  /** Maintenance comes this long after the last write. */
  readonly quietMs: number;
  /** Maintenance comes at least this often in a store that is written to all the time. */
  readonly maintainEveryMs: number;
  /** Full maintenance comes this often, and beside calls a quarter as often: a store that is never quiet is vacuumed all the same. */
  readonly fullEveryMs: number;
}

const FULL_BESIDE = 4;

export interface StoreKeeper<M> {
  use<T>(work: (memory: M) => Promise<T>): Promise<T>;
  /** As `use`, for work that nobody waits for: a store that was closed before is closed again before this resolves. */
  visit<T>(work: (memory: M) => Promise<T>): Promise<T>;
  /** To be called after a call: a write asks for maintenance after `quietMs`, reads only when it is overdue. */
  used(wrote: boolean): void;
  /** Runs `work` on the store if it is open or opening; does not open it. */
  ifOpen(work: (memory: M) => Promise<void>): void;
  state(): { store: "open" | "closed" | "failed"; reason?: string };
  /** The store as it is now: undefined while it is closed. */
  held(): Promise<M> | undefined;
  close(): Promise<void>;
  /** Closes it for good: another keeper opens the store from now on. */
  retire(): Promise<void>;
}

interface KeeperState<M extends Closable> {
  readonly parts: KeeperParts<M>;
  opened: Promise<M> | undefined;
  closing: Promise<void> | undefined;
  failure: string | undefined;
  /** Uses of the store under way. */
  users: number;
  /** Uses since the start. */
  uses: number;
  /** Called when no use is under way any more. */
  readonly drained: (() => void)[];
  idle: NodeJS.Timeout | undefined;
  quiet: NodeJS.Timeout | undefined;
  maintaining: Promise<void> | undefined;
  /** Since when maintenance is wanted, on the clock of `performance.now()`, like `lastFull`. */
  dirtySince: number | undefined;
  lastFull: number;
  retired: boolean;
}

export function storeKeeper<M extends Closable>(parts: KeeperParts<M>): StoreKeeper<M> {
  const state: KeeperState<M> = {
    parts,
    opened: undefined,
    closing: undefined,
    failure: undefined,
    users: 0,
    uses: 0,
    drained: [],
    idle: undefined,
    quiet: undefined,
    maintaining: undefined,
    dirtySince: undefined,
    lastFull: performance.now(),
    retired: false,
  };
  return {
    use: (work) => use(state, work),
    visit: (work) => visit(state, work),
    used(wrote) {
      state.dirtySince ??= performance.now();
      if (wrote || overdue(state)) armQuiet(state);
    },
    ifOpen: (work) => changeIfOpen(state, work),
    state() {
      if (state.failure !== undefined) return { store: "failed", reason: state.failure };
      return { store: state.opened ? "open" : "closed" };
    },
    held: () => (state.closing ? undefined : state.opened),
    close: () => close(state),
    retire() {
      state.retired = true;
      return close(state);
    },
  };
}

async function use<M extends Closable, T>(state: KeeperState<M>, work: (memory: M) => Promise<T>): Promise<T> {
  while (state.closing) await state.closing;
  await closeDead(state);
  while (state.closing) await state.closing;
  if (state.retired) throw unavailable(`The settings of "${state.parts.butler}" have just changed; try again.`);
  clearTimeout(state.idle);
  state.users += 1;
  state.uses += 1;
  try {
    return await work(await open(state));
  } finally {
    leave(state);
  }
}

async function visit<M extends Closable, T>(state: KeeperState<M>, work: (memory: M) => Promise<T>): Promise<T> {
  const wasClosed = !state.opened;
  const before = state.uses;
  try {
    return await use(state, work);
  } finally {
    if (wasClosed && state.uses === before + 1 && state.users === 0) await maintainAndClose(state, state.uses);
  }
}

/** A store that has stopped is opened anew by the next call, not when the owner is restarted. */
async function closeDead<M extends Closable>(state: KeeperState<M>): Promise<void> {
  const held = await state.opened?.catch(() => undefined);
  if (held?.isDead?.()) await close(state);
}

function open<M extends Closable>(state: KeeperState<M>): Promise<M> {
  const { parts } = state;
  state.opened ??= parts.open().then(
    (memory) => {
      state.failure = undefined;
      parts.opened?.();
      return memory;
    },
    (error: unknown) => {
      state.opened = undefined;
      state.failure = reasonOf(error);
      throw error;
    },
  );
  return state.opened;
}

function leave<M extends Closable>(state: KeeperState<M>): void {
  state.users -= 1;
  if (state.users > 0) return;
  for (const wake of state.drained.splice(0)) wake();
  if (!state.closing) armIdle(state);
}

function armIdle<M extends Closable>(state: KeeperState<M>): void {
  clearTimeout(state.idle);
  state.idle = setTimeout(() => void close(state), state.parts.idleMs).unref();
}

function armQuiet<M extends Closable>(state: KeeperState<M>): void {
  clearTimeout(state.quiet);
  state.quiet = setTimeout(() => void maintain(state), overdue(state) ? 0 : state.parts.quietMs).unref();
}

const overdue = <M extends Closable>({ dirtySince, parts }: KeeperState<M>) =>
  dirtySince !== undefined && performance.now() - dirtySince >= parts.maintainEveryMs;

async function maintain<M extends Closable>(state: KeeperState<M>): Promise<void> {
  if (state.maintaining || !state.opened || state.closing) return;
  const { parts } = state;
  const due = overdue(state);
  const full = performance.now() - state.lastFull >= parts.fullEveryMs * (due ? FULL_BESIDE : 1);
  if (full) state.lastFull = performance.now();
  state.dirtySince = undefined;
  // Overdue maintenance runs beside calls; other maintenance is interrupted by a call.
  const interrupted = () => {
    if (due || state.users === 0) return false;
    state.dirtySince ??= performance.now();
    return true;
  };
  state.maintaining = state.opened
    .then((memory) => parts.maintain(memory, { level: full ? "full" : "light", beside: due, interrupted }))
    .catch((error: unknown) =>
      parts.log.warn({ butler: parts.butler, reason: reasonOf(error) }, "maintenance failed; it will be tried again"),
    )
    .finally(() => {
      state.maintaining = undefined;
      if (state.dirtySince !== undefined) armQuiet(state);
    });
  await state.maintaining;
}

/** After a visit. A use that began meanwhile keeps the store open. */
async function maintainAndClose<M extends Closable>(state: KeeperState<M>, asOf: number): Promise<void> {
  if (state.dirtySince !== undefined) await maintain(state);
  if (state.uses === asOf && state.users === 0) await close(state);
}

function close<M extends Closable>(state: KeeperState<M>): Promise<void> {
  state.closing ??= closeNow(state).finally(() => {
    state.closing = undefined;
    state.parts.closed();
  });
  return state.closing;
}

async function closeNow<M extends Closable>(state: KeeperState<M>): Promise<void> {
  const { butler, log } = state.parts;
  clearTimeout(state.idle);
  clearTimeout(state.quiet);
  if (state.users > 0) await new Promise<void>((done) => state.drained.push(done));
  await state.maintaining;
  const held = state.opened;
  state.opened = undefined;
  state.dirtySince = undefined;
  if (!held) return;
  try {
    await (await held).close();
  } catch (error) {
    log.error({ butler, reason: reasonOf(error) }, "a store did not close cleanly");
  }
}

function changeIfOpen<M extends Closable>(state: KeeperState<M>, work: (memory: M) => Promise<void>): void {
  if (!state.opened || state.closing) return;
  const { butler, log } = state.parts;
  state.users += 1;
  clearTimeout(state.idle);
  void state.opened
    .then(work)
    .catch((error: unknown) => log.error({ butler, reason: reasonOf(error) }, "an open store could not be changed"))
    .finally(() => leave(state));
}
