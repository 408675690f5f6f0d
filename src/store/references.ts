/** Reading counts: one write for everything that some answers returned. */
import type { Sql } from "../adapters/db/port.ts";
import type { MemoryType } from "../domain/memory-types.ts";

export interface Reference {
  readonly type: MemoryType;
  readonly id: string;
}

export interface Read {
  readonly references: readonly Reference[];
  readonly at: Date;
  /** The reader's; readers without one are together the session `''`. */
  readonly session: string;
}

const TABLE: Readonly<Record<MemoryType, string>> = { episode: "episodes", fact: "facts", rule: "rules" };
const dayOf = (read: Read): string => read.at.toISOString().slice(0, 10);

/** Within a day the order of readings changes nothing, so that they can be added up. */
export async function countReferences(sql: Sql, reads: readonly Read[]): Promise<void> {
  for (const day of [...new Set(reads.map(dayOf))].sort()) {
    const ofDay = reads.filter((read) => dayOf(read) === day);
    for (const type of ["episode", "fact", "rule"] as const) {
      const met = metBy(ofDay, type);
      if (met.size === 0) continue;
      await countMet(sql, type, met);
      if (type === "episode") await countReaders(sql, ofDay, day);
    }
  }
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

/** Rows are locked in the order of their ids, so that two readers of the same memories cannot deadlock. */
async function countMet(sql: Sql, type: MemoryType, met: ReadonlyMap<string, Met>): Promise<void> {
  const all = [...met.values()];
  await sql.query(
    `update ${TABLE[type]} m set
       reference_count = m.reference_count + r.n,
       prior_referenced_at = case
         when (m.last_referenced_at at time zone 'UTC')::date < (r.last at time zone 'UTC')::date
         then m.last_referenced_at else m.prior_referenced_at end,
       last_referenced_at = greatest(m.last_referenced_at, r.last)
     from (select t.id, u.n, u.last
           from unnest($1::uuid[], $2::int4[], $3::timestamptz[]) as u (id, n, last)
           join ${TABLE[type]} t on t.id = u.id order by t.id for update of t) as r
     where m.id = r.id`,
    [[...met.keys()], all.map(({ n }) => n), all.map(({ last }) => last.toISOString())],
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
     on conflict (episode_id, session_id, day) do update set n = r.n + excluded.n`,
    [rows.map(({ id }) => id), rows.map(({ session }) => session), rows.map(({ n }) => n), day],
  );
}
