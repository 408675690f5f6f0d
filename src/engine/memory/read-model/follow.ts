/**
 * Keeps the read model in step with the store. It is loaded in the background, page by page, while the store answers; from then on every
 * transaction tells which memories it changed before its own answer is given, and those are read anew. A search waits until everything
 * that was told when it began has been read: it never sees less than the store would show. What a writer has handed over is taken in as soon
 * as its commit is told, without asking the store; so are the counts of readings that this process has counted. Others are read a moment later,
 * many at once, and nobody waits for them.
 */
import type { Db } from "../../adapters/db/port.ts";
import type { Log } from "../../adapters/log.ts";
import { openReadModel, type ReadModel } from "../../domain/read-model/model.ts";
import type { CountedRow } from "../../store/memories/references.ts";
import { readCounts } from "../../store/read-model/counts.ts";
import { countMemories, idsAfter, readMemories } from "../../store/read-model/rows.ts";
import { tellChanges } from "../../store/read-model/triggers.ts";
import { countsAs, type Given, readAs } from "./given.ts";

/** A store that has more memories than this when it is loaded answers itself: about 4 KB each are kept here. */
const MOST = 200_000;
const PAGE = 500;
const COUNTS_MS = 1_000;
/** After a failure the store answers for so long before the model is loaded again. */
const FAILED_MS = 60_000;

export interface FollowedModel {
  /**
   * The model with everything of this tenant that was committed before this call; undefined while it is being loaded, or where there is none.
   * Fails where the store would.
   */
  caughtUp(version: number | undefined, tenant: string): Promise<ReadModel | undefined>;
  /** Where catching up takes a question to the store: the model as it was last, for guesses. */
  asKnown?(version: number | undefined, tenant: string): ReadModel | undefined;
  /**
   * The model, if it holds all that was committed so far. Asked in a transaction of a store that has one at a time, it does so until that ends.
   */
  inStep?(version: number): ReadModel | undefined;
  /** Begins to load, unless that has been done. Resolves when it can be used, or cannot. */
  load(version: number | undefined, tenant: string): Promise<void>;
  /** New memories of a transaction that is about to be committed: known from the moment its commit is told, if it comes to that. */
  expect(given: readonly Given[]): void;
  /** That transaction is over. */
  unexpect(given: readonly Given[]): void;
  /** What counting has made of memories, in a transaction that is about to be committed: known from the moment its commit is told. */
  expectCounts(counted: readonly CountedRow[]): void;
  unexpectCounts(counted: readonly CountedRow[]): void;
  /** Resolves when the counts of readings are known too. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export const noModel: FollowedModel = {
  caughtUp: async () => undefined,
  load: async () => undefined,
  expect: () => undefined,
  unexpect: () => undefined,
  expectCounts: () => undefined,
  unexpectCounts: () => undefined,
  settled: async () => undefined,
  close: async () => undefined,
};

interface Loaded {
  readonly model: ReadModel;
  readonly version: number;
  /** Changed since they were read last. */
  readonly stale: Set<string>;
  /** How often changes were told, and up to which of them everything is known: a search does not wait for what is told after it began. */
  told: number;
  read: number;
  /** Of these a reading was counted since. */
  readonly counted: Set<string>;
  counting: NodeJS.Timeout | undefined;
  readonly unfollow: () => void;
  ready: boolean;
  closed: boolean;
  refreshing: Promise<void> | undefined;
}

export function followModel(db: Db, log: Log, failedMs = FAILED_MS): FollowedModel {
  let loaded: Loaded | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;
  let countsRead: Promise<void> = Promise.resolve();
  let closed = false;
  const expected = new Map<string, Given>();
  const expectedCounts = new Map<string, CountedRow[]>();

  /** Takes in what its writer has handed over, and gives the ids of the rest. */
  const takeGiven = (made: Loaded, ids: readonly string[]): readonly string[] => {
    if (expected.size === 0 || !made.ready) return ids;
    const all = [...new Set(ids)];
    const given = all.flatMap((id) => expected.get(id) ?? []);
    made.model.apply(given.map((one) => readAs(one, made.version)));
    return all.filter((id) => !expected.has(id));
  };
  /** The same for counts. */
  const takeCounts = (made: Loaded, ids: readonly string[]): readonly string[] => {
    if (expectedCounts.size === 0 || !made.ready) return ids;
    const all = [...new Set(ids)];
    made.model.applyCounts(all.flatMap((id) => countsAs(expectedCounts.get(id), made.version)));
    return all.filter((id) => !expectedCounts.has(id));
  };
  const hear = (made: Loaded, ids: readonly string[], counted: boolean): void => {
    if (counted) {
      const unknown = takeCounts(made, ids);
      for (const id of unknown) made.counted.add(id);
      if (made.ready && unknown.length > 0)
        made.counting ??= setTimeout(() => void catchUpCounts(made), COUNTS_MS).unref();
      return;
    }
    const unknown = takeGiven(made, ids);
    if (unknown.length === 0) return;
    for (const id of unknown) made.stale.add(id);
    made.told += 1;
    if (made.ready) keepUp(made);
  };
  /** Read as soon as they are told, so that the next search need not wait; those told meanwhile are read after that. */
  const keepUp = (made: Loaded): void => {
    if (made.refreshing !== undefined || made.closed) return;
    refresh(db, made).then(() => made.stale.size > 0 && keepUp(made), fail);
  };
  /** Beside the rest: the store answers one statement after the other, so that what is read later is never older. */
  const countsOf = async (made: Loaded): Promise<void> => {
    clearTimeout(made.counting);
    made.counting = undefined;
    const ids = [...made.counted];
    made.counted.clear();
    for (let at = 0; at < ids.length && !made.closed; at += PAGE)
      made.model.applyCounts(await readCounts(db, ids.slice(at, at + PAGE), made.version));
  };
  /** One reading after the other: whoever waits for the last has waited for those before. */
  const catchUpCounts = (made: Loaded): Promise<void> => {
    countsRead = countsRead.then(() => countsOf(made)).catch(fail);
    return countsRead;
  };
  const start = async (version: number): Promise<void> => {
    if ((await countMemories(db, MOST + 1)) > MOST) return;
    await tellChanges(db);
    const unfollow = db.onChange?.((ids, counted) => {
      try {
        hear(made, ids, counted);
      } catch (error) {
        fail(error);
      }
    });
    if (unfollow === undefined) return;
    const made: Loaded = {
      ...{ model: openReadModel(), version, unfollow, counting: undefined },
      ...{ stale: new Set<string>(), counted: new Set<string>() },
      told: 0,
      read: 0,
      ready: false,
      closed: false,
      refreshing: undefined,
    };
    loaded = made;
    for (let after = NONE; !closed; ) {
      const ids = await idsAfter(db, after, PAGE);
      if (ids.length === 0) break;
      made.model.apply(await readMemories(db, ids, version));
      after = ids.at(-1) ?? after;
    }
    made.ready = true;
    await refresh(db, made);
    await catchUpCounts(made);
  };
  const fail = (error: unknown) => {
    if (!closed) log.warn({ err: error }, "the read model could not follow the store, which answers instead");
    end();
    loading = undefined;
    notBefore = performance.now() + failedMs;
  };
  const end = () => {
    loaded?.unfollow();
    clearTimeout(loaded?.counting);
    if (loaded !== undefined) loaded.closed = true;
    loaded = undefined;
  };
  return {
    async caughtUp(version) {
      if (loaded?.ready !== true || version === undefined) return undefined;
      if (loaded.version !== version) {
        end();
        loading = undefined;
        return undefined;
      }
      const current = loaded;
      try {
        const told = current.told;
        while (current.read < told && !current.closed) await refresh(db, current);
      } catch (error) {
        fail(error);
        return undefined;
      }
      return current.closed ? undefined : current.model;
    },
    inStep(version) {
      const isKnown = loaded?.ready === true && loaded.version === version && loaded.read === loaded.told;
      return isKnown && !loaded?.closed ? loaded?.model : undefined;
    },
    load(version) {
      if (db.onChange === undefined || version === undefined || closed) return Promise.resolve();
      if (performance.now() < notBefore) return Promise.resolve();
      loading ??= start(version).catch(fail);
      return loading;
    },
    expect(given) {
      for (const one of given) expected.set(one.row.id, one);
    },
    unexpect(given) {
      for (const one of given) expected.delete(one.row.id);
    },
    expectCounts(counted) {
      for (const row of counted) expectedCounts.set(row.id, [...(expectedCounts.get(row.id) ?? []), row]);
    },
    unexpectCounts(counted) {
      for (const { id } of counted) expectedCounts.delete(id);
    },
    async settled() {
      if (loaded?.ready === true) await catchUpCounts(loaded);
    },
    async close() {
      closed = true;
      end();
      await loading;
    },
  };
}

const NONE = "00000000-0000-0000-0000-000000000000";

/** Reads what is stale, all of it in one statement. A second call meanwhile waits for the first, which does not know the newest. */
function refresh(db: Db, loaded: Loaded): Promise<void> {
  if (loaded.refreshing !== undefined) return loaded.refreshing;
  if (loaded.stale.size === 0 || loaded.closed) return Promise.resolve();
  const ids = [...loaded.stale];
  const { told } = loaded;
  loaded.stale.clear();
  const parts = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, at) => ids.slice(at * PAGE, (at + 1) * PAGE));
  const work = async () => {
    for (const part of parts) loaded.model.apply(await readMemories(db, part, loaded.version));
    loaded.read = told;
  };
  const done = work().finally(() => {
    loaded.refreshing = undefined;
  });
  loaded.refreshing = done;
  return done;
}
