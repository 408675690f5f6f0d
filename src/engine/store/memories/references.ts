/** Reading counts: one write for everything that some answers returned. */
import type { Sql } from "../../adapters/db/port.ts";
import { NEVER, SEEN_LONGER_MS, type Tier } from "../../domain/lifecycle/tiers.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { isKept, TABLE_OF } from "./live.ts";

export interface Reference {
  readonly type: MemoryType;
  readonly id: string;
}

export interface Read {
  readonly references: readonly Reference[];
  readonly at: Date;
  /** The reader's; of a reader without one, who reads and the day: `readerOf` of engine/domain/replay.ts. */
  readonly session: string;
}

/** What a reference does to the life of an episode, by its tier. */
export interface TierLife {
  readonly tier: Tier;
  readonly ttlMs: number;
  readonly protectedFrom: number | undefined;
}

const dayOf = (read: Read): string => read.at.toISOString().slice(0, 10);

/** A memory after its readings were counted. */
export interface CountedRow {
  readonly id: string;
  readonly reference_count: number;
  readonly last_referenced_at: Date | null;
  readonly prior_referenced_at: Date | null;
  /** Of an episode. */
  readonly expires_at?: Date;
  /** Of its vector of this version, if that is seen for longer now. */
  readonly version?: number | null;
  readonly visible_until?: Date | null;
}

/**
 * Within a day the order of readings changes nothing, so that they can be added up. Gives what became of each memory; a row for each version
 * of its vector that is seen for longer now.
 */
export async function countReferences(
  sql: Sql,
  reads: readonly Read[],
  lives: readonly TierLife[],
): Promise<CountedRow[]> {
  const counted: CountedRow[] = [];
  for (const day of [...new Set(reads.map(dayOf))].sort()) {
    const ofDay = reads.filter((read) => dayOf(read) === day);
    for (const type of ["episode", "fact", "rule"] as const) {
      const met = metBy(ofDay, type);
      if (met.size === 0) continue;
      if (type !== "episode") counted.push(...(await countMet(sql, type, met)));
      else {
        counted.push(...(await countEpisodes(sql, met, lives)));
        await countReaders(sql, ofDay, day);
      }
    }
  }
  return counted;
}

interface Met {
  readonly n: number;
  readonly last: Date;
}

function metBy(reads: readonly Read[], type: MemoryType): Map<string, Met> {
  const met = new Map<string, Met>();
  for (const { references, at } of reads)
    for (const { id } of references.filter((reference) => reference.type === type)) {
      const before = met.get(id);
      met.set(id, { n: (before?.n ?? 0) + 1, last: before === undefined || before.last < at ? at : before.last });
    }
  return met;
}

const COUNTED = `reference_count = m.reference_count + r.n,
  prior_referenced_at = case
    when (m.last_referenced_at at time zone 'UTC')::date < (r.last at time zone 'UTC')::date
    then m.last_referenced_at else m.prior_referenced_at end,
  last_referenced_at = greatest(m.last_referenced_at, r.last)`;

/** Rows are locked in the order of their ids, so that two readers of the same memories cannot deadlock. */
const locked = (table: string) => `(select t.id, u.n, u.last
  from unnest($1::uuid[], $2::int4[], $3::timestamptz[]) as u (id, n, last)
  join ${table} t on t.id = u.id order by t.id for update of t) as r`;

const metColumns = (met: ReadonlyMap<string, Met>) => {
  const all = [...met.values()];
  return [[...met.keys()], all.map(({ n }) => n), all.map(({ last }) => last.toISOString())];
};

const TOLD = "m.id, m.reference_count, m.last_referenced_at, m.prior_referenced_at";

function countMet(sql: Sql, type: "fact" | "rule", met: ReadonlyMap<string, Met>): Promise<CountedRow[]> {
  const table = TABLE_OF[type];
  return sql.query(
    `update ${table} m set ${COUNTED} from ${locked(table)} where m.id = r.id returning ${TOLD}`,
    metColumns(met),
  );
}

/**
 * An episode lives on from its last reference, and never shorter than before. None of the columns is in an index, so that
 * rows change in place; the vector's row, which is in one, is moved when its time would run out before the episode's.
 */
function countEpisodes(sql: Sql, met: ReadonlyMap<string, Met>, lives: readonly TierLife[]): Promise<CountedRow[]> {
  return sql.query(
    `with moved as (
       update episodes m set ${COUNTED}, expires_at = greatest(m.expires_at,
         case when m.reference_count + r.n >= l.protected_from then $7::timestamptz
           else least($7::timestamptz, greatest(m.last_referenced_at, r.last) + make_interval(secs => l.ttl)) end)
       from ${locked("episodes")}, unnest($4::text[], $5::float8[], $6::int4[]) as l (tier, ttl, protected_from)
       where m.id = r.id and l.tier = m.tier
       returning ${TOLD}, m.expires_at, m.validity),
     seen as (
       update embeddings e set visible_until = least($7::timestamptz, v.expires_at + make_interval(secs => $8::float8))
       from moved v where e.memory_id = v.id and ${isKept("v")} and e.visible_until < v.expires_at
       returning e.memory_id, e.version_id, e.visible_until)
     select ${TOLD}, m.expires_at, s.version_id as version, s.visible_until
     from moved m left join seen s on s.memory_id = m.id`,
    [
      ...metColumns(met),
      lives.map(({ tier }) => tier),
      lives.map(({ ttlMs }) => Math.round(ttlMs) / 1_000),
      lives.map(({ protectedFrom }) => protectedFrom ?? null),
      NEVER,
      SEEN_LONGER_MS / 1_000,
    ],
  );
}

/** After the update, which holds the episodes: one that was deleted meanwhile gets no row here. */
async function countReaders(sql: Sql, reads: readonly Read[], day: string): Promise<void> {
  const sessions = [...new Set(reads.map(({ session }) => session))].sort();
  const rows = sessions.flatMap((session) =>
    [
      ...metBy(
        reads.filter((read) => read.session === session),
        "episode",
      ),
    ].map(([id, { n }]) => ({ id, session, n })),
  );
  await sql.query(
    `insert into episode_references as r (tenant_id, episode_id, session_id, day, n)
     select e.tenant_id, e.id, u.session, $4::date, u.n
     from unnest($1::uuid[], $2::text[], $3::int4[]) as u (id, session, n) join episodes e on e.id = u.id
     on conflict (episode_id, session_id, day, tenant_id) do update set n = r.n + excluded.n`,
    [rows.map(({ id }) => id), rows.map(({ session }) => session), rows.map(({ n }) => n), day],
  );
}
