/**
 * Read models beside a server, one for each tenant that was searched lately. Others write to the server too, so every search asks which
 * memories of its tenant were changed since the last one, and reads those anew: it never sees less than the store would show. It asks beside
 * the embedding of its question, and questions that come while one is under way share the next. A model is loaded in the background, page by
 * page, while the store answers. Rows are read with the rights of their tenant: no model ever holds another's. A new memory that this process
 * has written itself is taken as its writer has handed it over, if nobody else has changed it since.
 */
import type { Db } from "../../adapters/db/port.ts";
import type { Log } from "../../adapters/log.ts";
import { MemoryError } from "../../domain/errors.ts";
import { openReadModel, type ReadModel } from "../../domain/read-model/model.ts";
import { asOwnerOf, asTenant, type StoreRoles } from "../../store/access/access.ts";
import { type Changes, changesSince, lookAtLog, noteChanges, type Seen } from "../../store/read-model/changes.ts";
import { readCounts } from "../../store/read-model/counts.ts";
import { readMemories } from "../../store/read-model/rows.ts";
import { tenantIds } from "../../store/read-model/tenant-ids.ts";
import type { FollowedModel } from "./follow.ts";
import { type Given, readAs } from "./given.ts";

export interface Limits {
  /** Memories of all tenants together; about 4 KB each are kept here. */
  readonly most: number;
  /** A tenant counts for at least so many: the smallest model has arrays too. */
  readonly least: number;
  /** A tenant that was not asked for so long makes room for others. One that is in use never does: two that do not fit would push each other out. */
  readonly restMs: number;
}

const LIMITS: Limits = { most: 200_000, least: 400, restMs: 600_000 };
const PAGE = 500;
/** Of more than so many changes a search does not wait: the store answers until they have been read. */
const AT_ONCE = 1_000;
/** How often something was read is known so much later, at the latest. */
const COUNTS_MS = 1_000;
/** About 4 KB each, until the next search. */
const MOST_GIVEN = 500;
/** Until what is too large is counted again, and what has failed is tried again. */
const TOO_LARGE_MS = 600_000;
const FAILED_MS = 60_000;

interface Held {
  readonly tenant: string;
  readonly version: number;
  readonly db: Db;
  readonly model: ReadModel;
  seen: Seen;
  /** Handed over by writers of this process, which may not have committed them. */
  readonly given: Map<string, Given>;
  /** Of these a reading was counted since, the first of them at this time. */
  readonly counted: Set<string>;
  countedAt: number;
  ready: boolean;
  gone: boolean;
  askedAt: number;
  /** Resolves when nothing is being read. */
  busy: Promise<unknown>;
  /** The next question, which is not sent yet. */
  next: Promise<boolean> | undefined;
}

export function followTenants(db: Db, roles: StoreRoles, log: Log, limits: Limits = LIMITS): FollowedModel {
  const owned = asOwnerOf(db, roles, "read model");
  /** The tenant that was asked for least recently is the first. */
  const all = new Map<string, Held>();
  const loading = new Map<string, Promise<void>>();
  const notBefore = new Map<string, number>();
  let queue: Promise<unknown> = Promise.resolve();
  let noting: Promise<void> | undefined;
  let closed = false;

  const letGo = (held: Held) => {
    held.gone = true;
    if (all.get(held.tenant) === held) all.delete(held.tenant);
  };
  const weightOf = (memories: number) => Math.max(limits.least, memories);
  const inUse = () => [...all.values()].reduce((sum, { model }) => sum + weightOf(model.size()), 0);
  const isResting = ({ askedAt }: Held) => performance.now() - askedAt >= limits.restMs;
  /** Models grow with what is written. */
  const keepWithin = () => {
    for (const held of [...all.values()]) if (inUse() > limits.most) letGo(held);
  };

  const readAnew = async (held: Held, ids: readonly string[]): Promise<void> => {
    for (let at = 0; at < ids.length && !held.gone; at += PAGE)
      held.model.apply(await readMemories(held.db, ids.slice(at, at + PAGE), held.version));
  };
  const countAnew = async (held: Held): Promise<void> => {
    const ids = [...held.counted];
    for (let at = 0; at < ids.length && !held.gone; at += PAGE)
      held.model.applyCounts(await readCounts(held.db, ids.slice(at, at + PAGE), held.version));
    for (const id of ids) held.counted.delete(id);
  };
  const noteCounted = (held: Held, { changed, counted, countsAreOld }: Changes) => {
    if (held.counted.size === 0) held.countedAt = performance.now();
    for (const id of counted) held.counted.add(id);
    for (const id of changed.keys()) held.counted.delete(id);
    if (countsAreOld) held.countedAt = Number.NEGATIVE_INFINITY;
  };
  /**
   * Takes in what its writer has handed over, and gives the ids of the rest. That a memory is changed which was not there before, and by one
   * transaction alone, means that its writer has committed it and nobody has touched it since.
   */
  const takeGiven = ({ given, model, version }: Held, { changed }: Changes): string[] => {
    const rest: string[] = [];
    for (const [id, { again }] of changed) {
      const known = again || model.slotOf(id) !== undefined ? undefined : given.get(id);
      given.delete(id);
      if (known === undefined) rest.push(id);
      else model.apply([readAs(known, version)]);
    }
    return rest;
  };
  const takeIn = async (held: Held, changes: Changes): Promise<void> => {
    await readAnew(held, takeGiven(held, changes));
    noteCounted(held, changes);
    held.seen = changes;
  };
  /** Whether the model shows all that was committed before. What fails half way is read again by the next. */
  const catchUp = async (held: Held, counts: boolean): Promise<boolean> => {
    const changes = await changesSince(owned, held.tenant, held.seen);
    if (changes === undefined) {
      letGo(held);
      return false;
    }
    if (changes.changed.size > AT_ONCE) {
      held.ready = false;
      void catchUpLater(held, changes).catch((error) => fail(held.tenant, error, held));
      return false;
    }
    await takeIn(held, changes);
    if (held.counted.size > 0 && (counts || performance.now() - held.countedAt >= COUNTS_MS)) await countAnew(held);
    return !held.gone;
  };
  /** Until what is left is so little that a search can wait for it. */
  const catchUpLater = async (held: Held, found?: Changes): Promise<void> => {
    for (let changes = found; !held.gone && !closed; changes = undefined) {
      changes ??= await changesSince(owned, held.tenant, held.seen);
      if (changes === undefined) return letGo(held);
      await takeIn(held, changes);
      if (changes.changed.size > AT_ONCE) continue;
      await countAnew(held);
      held.ready = true;
      keepWithin();
      return;
    }
  };
  /** One at a time, and whoever joins the next has it sent after joining. */
  const nextQuestion = (held: Held, counts = false): Promise<boolean> => {
    const begin = () => {
      held.next = undefined;
      return held.ready && !held.gone ? catchUp(held, counts) : false;
    };
    if (held.next !== undefined && !counts) return held.next;
    const next = held.busy.then(begin);
    held.next = next;
    held.busy = next.catch(() => undefined);
    return next;
  };

  const fail = (tenant: string, error: unknown, held?: Held) => {
    if (held !== undefined) letGo(held);
    notBefore.set(tenant, performance.now() + FAILED_MS);
    if (!closed) log.warn({ err: error }, "the read model could not follow the store, which answers instead");
  };
  const start = async (tenant: string, version: number): Promise<void> => {
    const asked = performance.now();
    const known = all.get(tenant);
    if (closed || known?.version === version || asked < (notBefore.get(tenant) ?? asked)) return;
    if (known !== undefined) letGo(known);
    notBefore.delete(tenant);
    const resting = [...all.values()].filter(isResting);
    const room = limits.most - inUse() + resting.reduce((sum, { model }) => sum + weightOf(model.size()), 0);
    if (room < limits.least) return;
    noting ??= noteChanges(owned).catch((error) => {
      noting = undefined;
      throw error;
    });
    await noting;
    const seen = await lookAtLog(owned);
    if (seen === undefined) {
      // The server has begun a new log meanwhile, by a crash for instance.
      noting = undefined;
      return;
    }
    const own = asTenant(db, roles, tenant);
    const ids = await tenantIds(own, tenant, limits.most + 1);
    if (weightOf(ids.count) > room) {
      notBefore.set(tenant, asked + TOO_LARGE_MS);
      return;
    }
    for (const held of resting) if (inUse() + weightOf(ids.count) > limits.most) letGo(held);
    const held: Held = {
      ...{ tenant, version, db: own, model: openReadModel("by lanes"), seen, countedAt: asked },
      ...{ given: new Map(), counted: new Set<string>() },
      ...{ ready: false, gone: false, askedAt: asked, busy: Promise.resolve(), next: undefined },
    };
    all.set(tenant, held);
    try {
      for (let at = 0; at < ids.count && !held.gone && !closed; at += PAGE)
        held.model.apply(await readMemories(own, ids.part(at, at + PAGE), version));
      await catchUpLater(held);
    } catch (error) {
      letGo(held);
      throw error;
    }
  };
  const readyFor = (version: number | undefined, tenant: string): Held | undefined => {
    const held = all.get(tenant);
    return held?.ready === true && held.version === version ? held : undefined;
  };

  return {
    asKnown: (version, tenant) => readyFor(version, tenant)?.model,
    async caughtUp(version, tenant) {
      const held = readyFor(version, tenant);
      if (held === undefined) return undefined;
      held.askedAt = performance.now();
      all.delete(tenant);
      all.set(tenant, held);
      try {
        if (!(await nextQuestion(held))) return undefined;
      } catch (error) {
        // A server that does not answer could not be searched either. What was known is as good as before when it is back.
        if (error instanceof MemoryError) throw error;
        fail(tenant, error, held);
        return undefined;
      }
      keepWithin();
      return held.gone ? undefined : held.model;
    },
    load(version, tenant) {
      if (version === undefined || closed || readyFor(version, tenant) !== undefined) return Promise.resolve();
      const known = loading.get(tenant);
      if (known !== undefined) return known;
      const made = queue
        .then(() => start(tenant, version))
        .catch((error) => fail(tenant, error))
        .finally(() => loading.delete(tenant));
      loading.set(tenant, made);
      queue = made;
      return made;
    },
    expect(given) {
      for (const one of given) {
        const held = all.get(one.row.tenant_id);
        if (held === undefined) continue;
        // Those of transactions that were rolled back are never asked for.
        if (held.given.size >= MOST_GIVEN) held.given.clear();
        held.given.set(one.row.id, one);
      }
    },
    unexpect: () => undefined,
    // Counts are asked for with everything else that was changed.
    expectCounts: () => undefined,
    unexpectCounts: () => undefined,
    async settled() {
      for (const held of [...all.values()]) if (held.ready) await nextQuestion(held, true);
    },
    async close() {
      closed = true;
      for (const held of [...all.values()]) letGo(held);
      await queue;
    },
  };
}
