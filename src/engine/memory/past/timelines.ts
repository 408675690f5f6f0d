/**
 * Timelines of tenants, kept beside their store. The first question about the past of a tenant reads its whole stream; later ones read what
 * was added since. Where events were changed (retention, erasure, redaction) the stream is read anew.
 */
import type { Db } from "../../adapters/db/port.ts";
import { type LruCache, lruCache } from "../../domain/lru-cache.ts";
import { openTimeline, type Timeline } from "../../domain/past/timeline.ts";
import { rewritingMark, streamPage } from "../../store/history/timeline.ts";
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
  close(): void;
}

interface Kept extends Followed {
  readonly mark: string;
  reached: string;
}

interface Place {
  kept: Kept | undefined;
  /** One reader of a tenant's stream at a time: whoever waits for the last has waited for those before. */
  busy: Promise<unknown>;
}

export function openTimelines(db: Pick<Db, "onChange">): Timelines {
  const places = new Map<string, Place>();
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
  return {
    async of(call) {
      const place = placeOf(call.caller.tenant);
      const turn = place.busy.then(() => caughtUp(call, place));
      place.busy = turn.catch(() => undefined);
      const followed = await turn;
      letGo();
      return followed;
    },
    close() {
      unfollow?.();
      places.clear();
    },
  };
}

async function caughtUp(call: Call, place: Place): Promise<Followed> {
  const { db } = call.memory;
  const { tenant } = call.caller;
  for (let attempt = 1; ; attempt++) {
    const before = await rewritingMark(db, tenant);
    if (place.kept?.mark !== before) place.kept = undefined;
    const kept: Kept = place.kept ?? {
      ...{ timeline: openTimeline(), vectors: openGoneVectors(), madeAnew: lruCache<string, Embedded>(MADE_ANEW) },
      ...{ mark: before, reached: "0" },
    };
    place.kept = kept;
    await readOn(call, kept);
    // Events that were changed while they were read may have been read half before and half after.
    if ((await rewritingMark(db, tenant)) === before || attempt === ATTEMPTS) return kept;
  }
}

async function readOn(call: Call, kept: Kept): Promise<void> {
  for (let read = 0; ; ) {
    stopIfCancelled(call);
    const page = await streamPage(call.memory.db, call.caller.tenant, kept.reached, PAGE);
    kept.timeline.apply(toldBy(page));
    kept.reached = page.last;
    read += page.events;
    if (read >= PAGE) call.following?.progress?.({ done: read, message: "events read" });
    if (page.events < PAGE) return;
  }
}
