/**
 * Timelines of tenants, kept beside their store. The first question about the past of a tenant reads its whole stream; later ones read what
 * was added since. Where events were changed (retention, erasure, redaction) the stream is read anew.
 */
import type { Db } from "../../adapters/db/port.ts";
import { type LruCache, lruCache } from "../../domain/collections/lru-cache.ts";
import { openTimeline, type Timeline } from "../../domain/past/timeline.ts";
import { streamPage } from "../../store/history/timeline.ts";
import type { Embedded } from "../embed.ts";
import { stopIfCancelled } from "../following.ts";
import type { Call } from "../memory.ts";
import { type GoneVectors, openGoneVectors } from "./gone-vectors.ts";
import { toldBy } from "./told.ts";

/** A page of 2,000 events takes some ten milliseconds, after which others have their turn. */
const PAGE = 2_000;
/** Of all tenants together; those asked for least recently are let go. */
const MOST_LINES = 400_000;
const ATTEMPTS = 3;
/** About 3 KB each. */
const MADE_ANEW = 2_000;

export interface Followed {
  readonly timeline: Timeline;
  readonly vectors: GoneVectors;
  /** Vectors that were made again, by version and text. */
  readonly madeAnew: LruCache<string, Embedded>;
}

export interface Timelines {
  /** With every event that was committed before this call. */
  of(call: Call): Promise<Followed>;
  /** Begins to read the stream of a tenant of which nothing is known yet: who looks at a past day may search it next. */
  prepare(call: Call): void;
  close(): void;
}

interface Kept extends Followed {
  /** Of the events that were read: one page says another where they were changed since. */
  mark: string | undefined;
  reached: string;
}

interface Place {
  kept: Kept | undefined;
  /** One reader of a tenant's stream at a time: whoever waits for the last has waited for those before. */
  busy: Promise<unknown>;
}

export function openTimelines(db: Pick<Db, "onChange">): Timelines {
  const places = new Map<string, Place>();
  const closing = new AbortController();
  const unfollow = db.onChange?.((ids, counted) => {
    if (!counted) for (const { kept } of places.values()) kept?.vectors.tell(ids);
  });
  const placeOf = (tenant: string): Place => {
    const place = places.get(tenant) ?? { kept: undefined, busy: Promise.resolve() };
    places.delete(tenant);
    places.set(tenant, place);
    return place;
  };
  const letGo = () => {
    let lines = 0;
    for (const [tenant, { kept }] of [...places].reverse()) {
      lines += kept?.timeline.lines.length ?? 0;
      if (lines > MOST_LINES && tenant !== [...places.keys()].at(-1)) places.delete(tenant);
    }
  };
  const of = async (call: Call): Promise<Followed> => {
    const place = placeOf(call.caller.tenant);
    const turn = place.busy.then(() => caughtUp(call, place));
    place.busy = turn.catch(() => undefined);
    const followed = await turn;
    letGo();
    return followed;
  };
  return {
    of,
    prepare(call) {
      if (places.has(call.caller.tenant)) return;
      // Whoever asked first may go away; it is read for the next one too.
      const { log } = call.memory;
      void of({ ...call, following: { signal: closing.signal } }).catch((error) => {
        if (!closing.signal.aborted) log.warn({ err: error }, "the events of a tenant could not be read ahead");
      });
    },
    close() {
      closing.abort();
      unfollow?.();
      places.clear();
    },
  };
}

async function caughtUp(call: Call, place: Place): Promise<Followed> {
  for (let attempt = 1; ; attempt++) {
    const kept: Kept = place.kept ?? {
      ...{ timeline: openTimeline(), vectors: openGoneVectors(), madeAnew: lruCache<string, Embedded>(MADE_ANEW) },
      ...{ mark: undefined, reached: "0" },
    };
    place.kept = kept;
    if (await readOn(call, kept, attempt === ATTEMPTS)) return kept;
    place.kept = undefined;
  }
}

/** The next page is read while this one is taken in. False: events were changed since those that are known were read. */
async function readOn(call: Call, kept: Kept, isLastAttempt: boolean): Promise<boolean> {
  const pageAfter = (last: string) => streamPage(call.memory.db, call.caller.tenant, last, PAGE);
  let page = await pageAfter(kept.reached);
  for (let read = page.events; ; read += page.events) {
    stopIfCancelled(call);
    kept.mark ??= page.mark;
    if (kept.mark !== page.mark && !isLastAttempt) return false;
    const following = page.events < PAGE ? undefined : pageAfter(page.last);
    // It is waited for below, unless this page cannot be taken in.
    following?.catch(() => undefined);
    kept.timeline.apply(toldBy(page));
    kept.reached = page.last;
    if (read >= PAGE) call.following?.progress?.({ done: read, message: "events read" });
    if (following === undefined) return true;
    page = await following;
  }
}
