/**
 * Large tables of a server in parts. Ids are UUIDv7, which begin with the time at which they were made: a part holds the ids of one month.
 * So the key stays (id, tenant), an id leads to its part, and old rows lie apart from those that are written.
 */

export const PARTED = ["memory_events", "episodes"] as const;
export type PartedTable = (typeof PARTED)[number];

/** A month of episodes is divided once more by tenant, so that one of many reads a quarter of it. */
export const HASHES = 4;

/** Months that are kept ready beyond the present one. */
export const MONTHS_AHEAD = 3;

/**
 * From where on it pays: rules of thumb, not measurements. Below, one index over all is as quick and there is less to look after; above,
 * VACUUM of one table takes hours and its indexes do not fit into memory, though mostly the last months are asked for.
 */
export const PAYS_FROM: Readonly<Record<PartedTable, { readonly rows: number; readonly bytes: number }>> = {
  memory_events: { rows: 20_000_000, bytes: 20 * 2 ** 30 },
  episodes: { rows: 10_000_000, bytes: 20 * 2 ** 30 },
};

export const pays = (table: PartedTable, { rows, bytes }: { rows: number; bytes: number }): boolean =>
  rows >= PAYS_FROM[table].rows || bytes >= PAYS_FROM[table].bytes;

export const monthOf = (time: Date): Date => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));

export const addMonths = (month: Date, n: number): Date =>
  new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + n));

/** Smaller than every id of that time, and larger than every one before. */
export function firstIdOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

export const timeOfId = (id: string): Date => new Date(Number.parseInt(id.replace("-", "").slice(0, 12), 16));

export const partName = (table: PartedTable, month: Date): string =>
  `${table}_${month.toISOString().slice(0, 7).replace("-", "_")}`;

/** Where the ids of a part begin and end; the part for everything else has neither. */
export interface Part {
  readonly name: string;
  /** Null: from the first id. */
  readonly from: Date | null;
  readonly to: Date | null;
  readonly rest: boolean;
}

/** As PostgreSQL writes the bounds of a part. */
export function partOf(name: string, bound: string): Part {
  const [, from, to] = /FROM \(([^()]+)\) TO \(([^()]+)\)/.exec(bound) ?? [];
  const time = (text: string | undefined) =>
    text === undefined || !text.startsWith("'") ? null : timeOfId(text.slice(1));
  return { name, from: time(from), to: time(to), rest: bound === "DEFAULT" };
}

/** Until when every id has a part of its own, from `now` on; `now` where not even that one has. */
export function coveredUntil(parts: readonly Part[], now: Date): Date {
  const ranges = parts
    .filter(({ rest }) => !rest)
    .toSorted((a, b) => (a.from?.getTime() ?? 0) - (b.from?.getTime() ?? 0));
  let until = now.getTime();
  for (const { from, to } of ranges)
    if ((from?.getTime() ?? 0) <= until && (to?.getTime() ?? Number.POSITIVE_INFINITY) > until)
      until = to?.getTime() ?? Number.POSITIVE_INFINITY;
  return new Date(until);
}

/** The months from the present one on that have no part. */
export function missingMonths(parts: readonly Part[], now: Date): Date[] {
  const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, n) => addMonths(monthOf(now), n));
  return months.filter(
    (month) =>
      !parts.some(({ rest, from, to }) => !rest && (from === null || from <= month) && (to === null || to > month)),
  );
}

/** Parts whose month, and one more, are over: nothing is added to them any more but what is told of another time. */
export const pastParts = (parts: readonly Part[], now: Date): Part[] =>
  parts.filter(({ rest, to }) => !rest && to !== null && to <= addMonths(monthOf(now), -1));

const DAY_MS = 86_400_000;
/** The rows that are there keep a part up to here: a month's beginning that is beyond all of them, with time enough to get there. */
export function firstBoundary(now: Date, latestId: string | undefined): Date {
  const latest = latestId === undefined ? now : new Date(Math.max(now.getTime(), timeOfId(latestId).getTime()));
  const next = addMonths(monthOf(latest), 1);
  return next.getTime() - latest.getTime() < 7 * DAY_MS ? addMonths(next, 1) : next;
}

/** A boundary that was set and is so near that what stopped half-way would soon refuse new rows. */
export const isNear = (boundary: Date, now: Date): boolean => boundary.getTime() - now.getTime() < 3 * DAY_MS;
