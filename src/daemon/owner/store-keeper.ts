/**
 * The life of one butler's store: opened by the first call, shared by all, closed when nobody has used it for a while.
 *
 *   closed ──use──▶ opening ──▶ open ──unused for idleMs──▶ closing ──▶ closed
 *                      └──▶ failed (reason kept, the next use tries again)
 */
import type { Log } from "../../engine/adapters/log.ts";
import { reasonOf, unavailable } from "../../engine/domain/errors.ts";

export interface Closable {
  /** It will never answer again. */
  isDead?(): boolean;
  close(): Promise<void>;
}

export interface Upkeep {
  readonly level: "light" | "full";
  interrupted(): boolean;
}

export interface KeeperParts<M extends Closable> {
  readonly butler: string;
  open(): Promise<M>;
  /** `interrupted` turns true when a call comes in: the rest is done in the next quiet moment. */
  maintain(memory: M, upkeep: Upkeep): Promise<void>;
  /** After each opening. */
  opened?(): void;
  /** After each closing, so that what is shared with other stores can be let go too. */
  closed(): void;
  readonly log: Log;
  readonly idleMs: number;
  /** Maintenance comes this long after the last write, */
  readonly quietMs: number;
  /** and at least this often while a busy store never is quiet. */
  readonly maintainEveryMs: number;
  /** The thorough kind comes this often. */
  readonly fullEveryMs: number;
}

export interface StoreKeeper<M> {
  use<T>(work: (memory: M) => Promise<T>): Promise<T>;
  /** The same for work that nobody waits for: a store that was closed before is closed again, and then this resolves. */
  visit<T>(work: (memory: M) => Promise<T>): Promise<T>;
  /** After a call: a write asks for maintenance when things have calmed down, reads do so only once in a while. */
  used(wrote: boolean): void;
  /** Runs `work` on the store if it is open or opening; does not open it. */
  ifOpen(work: (memory: M) => Promise<void>): void;
  state(): { store: "open" | "closed" | "failed"; reason?: string };
  /** The store as it is now: undefined while it is closed. */
  held(): Promise<M> | undefined;
  close(): Promise<void>;
  /** Closes it for good: another keeper takes the store over. */
  retire(): Promise<void>;
}

export function storeKeeper<M extends Closable>(parts: KeeperParts<M>): StoreKeeper<M> {
  const { butler, log } = parts;
  let opened: Promise<M> | undefined;
  let closing: Promise<void> | undefined;
  let failure: string | undefined;
  let users = 0;
  let uses = 0;
  const drained: (() => void)[] = [];
  let idle: NodeJS.Timeout | undefined;
  let quiet: NodeJS.Timeout | undefined;
  let maintaining: Promise<void> | undefined;
  let dirtySince: number | undefined;
  let lastFull = performance.now();
  let retired = false;

  function open(): Promise<M> {
    opened ??= parts.open().then(
      (memory) => {
        failure = undefined;
        parts.opened?.();
        return memory;
      },
      (error: unknown) => {
        opened = undefined;
        failure = reasonOf(error);
        throw error;
      },
    );
    return opened;
  }

  function leave(): void {
    users -= 1;
    if (users > 0) return;
    for (const wake of drained.splice(0)) wake();
    if (!closing) armIdle();
  }

  function armIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => void close(), parts.idleMs).unref();
  }

  function armQuiet(): void {
    clearTimeout(quiet);
    quiet = setTimeout(() => void maintain(), overdue() ? 0 : parts.quietMs).unref();
  }

  const overdue = () => dirtySince !== undefined && performance.now() - dirtySince >= parts.maintainEveryMs;

  async function maintain(): Promise<void> {
    if (maintaining || !opened || closing) return;
    const due = overdue();
    const full = performance.now() - lastFull >= parts.fullEveryMs;
    if (full) lastFull = performance.now();
    dirtySince = undefined;
    // What is overdue is done among the calls; else a call that comes in goes first.
    const interrupted = () => {
      if (due || users === 0) return false;
      dirtySince ??= performance.now();
      return true;
    };
    maintaining = opened
      .then((memory) => parts.maintain(memory, { level: full ? "full" : "light", interrupted }))
      .catch((error: unknown) =>
        log.warn({ butler, reason: reasonOf(error) }, "maintenance failed; it will be tried again"),
      )
      .finally(() => {
        maintaining = undefined;
        if (dirtySince !== undefined) armQuiet();
      });
    await maintaining;
  }

  /** After a visit; somebody who came meanwhile keeps the store open. */
  async function tidyAndClose(asOf: number): Promise<void> {
    if (dirtySince !== undefined) await maintain();
    if (uses === asOf && users === 0) await close();
  }

  function close(): Promise<void> {
    closing ??= shut().finally(() => {
      closing = undefined;
      parts.closed();
    });
    return closing;
  }

  async function shut(): Promise<void> {
    clearTimeout(idle);
    clearTimeout(quiet);
    if (users > 0) await new Promise<void>((done) => drained.push(done));
    await maintaining;
    const held = opened;
    opened = undefined;
    dirtySince = undefined;
    if (!held) return;
    try {
      await (await held).close();
    } catch (error) {
      log.error({ butler, reason: reasonOf(error) }, "a store did not close cleanly");
    }
  }

  /** A store that has stopped is opened anew by the next call, not when the owner is restarted. */
  async function leaveDead(): Promise<void> {
    const held = await opened?.catch(() => undefined);
    if (held?.isDead?.()) await close();
  }

  async function use<T>(work: (memory: M) => Promise<T>): Promise<T> {
    while (closing) await closing;
    await leaveDead();
    while (closing) await closing;
    if (retired) throw unavailable(`The settings of "${butler}" have just changed; try again.`);
    clearTimeout(idle);
    users += 1;
    uses += 1;
    try {
      return await work(await open());
    } finally {
      leave();
    }
  }

  return {
    use,
    async visit(work) {
      const wasClosed = !opened;
      const before = uses;
      try {
        return await use(work);
      } finally {
        if (wasClosed && uses === before + 1 && users === 0) await tidyAndClose(uses);
      }
    },
    used(wrote) {
      dirtySince ??= performance.now();
      if (wrote || overdue()) armQuiet();
    },
    ifOpen(work) {
      if (!opened || closing) return;
      const held = opened;
      users += 1;
      clearTimeout(idle);
      void held
        .then(work)
        .catch((error: unknown) => log.error({ butler, reason: reasonOf(error) }, "an open store could not be changed"))
        .finally(leave);
    },
    state() {
      if (failure !== undefined) return { store: "failed", reason: failure };
      return { store: opened ? "open" : "closed" };
    },
    held: () => (closing ? undefined : opened),
    close,
    retire() {
      retired = true;
      return close();
    },
  };
}
