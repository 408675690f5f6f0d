/**
 * The life of one butler's store: opened by the first call, shared by all, closed when nobody has used it for a while.
 *
 *   closed ──use──▶ opening ──▶ open ──unused for idleMs──▶ closing ──▶ closed
 *                      └──▶ failed (reason kept, the next use tries again)
 */
import type { Log } from "../adapters/log.ts";
import { reasonOf } from "./home.ts";

export interface Closable {
  close(): Promise<void>;
}

export interface KeeperParts<M extends Closable> {
  readonly butler: string;
  open(): Promise<M>;
  maintain(memory: M): Promise<void>;
  /** After each closing, so that what is shared with other stores can be let go too. */
  closed(): void;
  readonly log: Log;
  readonly idleMs: number;
  /** Maintenance comes this long after the last write, */
  readonly quietMs: number;
  /** and at least this often while a busy store never is quiet. */
  readonly maintainEveryMs: number;
}

export interface StoreKeeper<M> {
  use<T>(work: (memory: M) => Promise<T>): Promise<T>;
  /** After a call: a write asks for maintenance when things have calmed down, reads do so only once in a while. */
  used(wrote: boolean): void;
  /** Opens anew before the next call, because something the store was opened with has changed. */
  renew(): void;
  state(): { store: "open" | "closed" | "failed"; reason?: string };
  close(): Promise<void>;
}

export function storeKeeper<M extends Closable>(parts: KeeperParts<M>): StoreKeeper<M> {
  const { butler, log } = parts;
  let opened: Promise<M> | undefined;
  let closing: Promise<void> | undefined;
  let failure: string | undefined;
  let users = 0;
  let stale = false;
  const drained: (() => void)[] = [];
  let idle: NodeJS.Timeout | undefined;
  let quiet: NodeJS.Timeout | undefined;
  let maintaining: Promise<void> | undefined;
  let dirtySince: number | undefined;

  function open(): Promise<M> {
    opened ??= parts.open().then(
      (memory) => {
        failure = undefined;
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
    if (stale) void close();
    else if (!closing) armIdle();
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
    dirtySince = undefined;
    const started = opened;
    maintaining = started
      .then((memory) => parts.maintain(memory))
      .catch((error: unknown) => log.warn({ butler, reason: reasonOf(error) }, "maintenance failed; it will be tried again"))
      .finally(() => {
        maintaining = undefined;
        if (dirtySince !== undefined) armQuiet();
      });
    await maintaining;
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
    stale = false;
    dirtySince = undefined;
    if (!held) return;
    try {
      await (await held).close();
    } catch (error) {
      log.error({ butler, reason: reasonOf(error) }, "a store did not close cleanly");
    }
  }

  return {
    async use(work) {
      if (stale && opened && !closing) void close();
      while (closing) await closing;
      clearTimeout(idle);
      users += 1;
      try {
        return await work(await open());
      } finally {
        leave();
      }
    },
    used(wrote) {
      dirtySince ??= performance.now();
      if (wrote || overdue()) armQuiet();
    },
    renew() {
      if (!opened) return;
      stale = true;
      if (users === 0) void close();
    },
    state() {
      if (failure !== undefined) return { store: "failed", reason: failure };
      return { store: opened ? "open" : "closed" };
    },
    close,
  };
}
