/** The times (slots) of a cron line, as arithmetic on given times. Lines may have a sixth field, the seconds, in front. */

import { Cron } from "croner";
import { messageOf } from "../../engine/domain/errors.ts";

const MINUTE_MS = 60_000;
/** How far back to look for the latest slot, shortest first, so that few slots are walked through. */
const LOOK_BACK_MS = [1, 60, 1_440, 8 * 1_440, 32 * 1_440, 366 * 1_440, 4 * 366 * 1_440].map((n) => n * MINUTE_MS);
/** Counting stops here: the slots of every second over years would take minutes to count. */
const COUNT_LIMIT = 1_000;

/** Undefined: the zone of this machine, which is what people mean by "03:00". */
export type Zone = string | undefined;

const parsed = new Map<string, Cron>();

function cronOf(line: string, zone: Zone): Cron {
  const key = `${zone ?? ""} ${line}`;
  const known = parsed.get(key) ?? new Cron(line, { paused: true, ...(zone === undefined ? {} : { timezone: zone }) });
  parsed.set(key, known);
  return known;
}

/** Why a line is no cron line; undefined when it is one. */
export function cronFault(line: string): string | undefined {
  try {
    // A February 30th is a line without a single date.
    return cronOf(line, undefined).nextRun(new Date(0)) === null ? "it never comes" : undefined;
  } catch (error) {
    return messageOf(error).replace(/^CronPattern: /, "");
  }
}

/** The first slot after `from`. */
export const nextSlot = (line: string, from: Date, zone?: Zone): Date | undefined =>
  cronOf(line, zone).nextRun(from) ?? undefined;

/** The last slot at or before `now`, after `since`. */
export function latestSlot(line: string, since: Date, now: Date, zone?: Zone): Date | undefined {
  for (const back of LOOK_BACK_MS) {
    const from = new Date(Math.max(since.getTime(), now.getTime() - back));
    let found: Date | undefined;
    for (let at = nextSlot(line, from, zone); at && at <= now; at = nextSlot(line, at, zone)) found = at;
    if (found || from.getTime() === since.getTime()) return found;
  }
  return undefined;
}

/** How many slots lie after `since` and before `until`. */
export function slotsBetween(line: string, since: Date, until: Date, zone?: Zone): number {
  let count = 0;
  for (let at = nextSlot(line, since, zone); at && at < until; at = nextSlot(line, at, zone))
    if (++count >= COUNT_LIMIT) break;
  return count;
}
