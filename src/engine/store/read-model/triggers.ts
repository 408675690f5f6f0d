/**
 * Makes the embedded store tell which memories each statement changed: a trigger on every table that ranking reads raises a notice
 * with their ids (engine/adapters/db/pglite-worker.ts collects them until the transaction ends). One notice a statement, however many
 * rows: a notice for each row took half as long again as the insert itself. PostgreSQL's NOTIFY was 3 times as dear for a single row.
 * A transaction that only counts readings says so (`COUNTING`): nobody need wait for what it changed.
 */
import type { Db } from "../../adapters/db/port.ts";

/**
 * Said first by a transaction that counts readings and does nothing else: a search does not wait to know its counts. A count that is lost to
 * a power cut within the next moment is harmless; an fsync for every reading is not.
 */
export const COUNTING =
  "select set_config('butler.counting', 'on', true), set_config('synchronous_commit', 'off', true)";

/** Part of the triggers' names: whoever changes them takes the next number, and has the old ones dropped. */
const EDITION = 4;

export interface Watched {
  readonly table: string;
  /** The ids of what changed, with their tenants, from the rows that the statement wrote or removed. */
  readonly ids: Readonly<Record<"insert" | "update" | "delete", string>>;
  /** Of an update that counts readings: it changes every row that it writes, so that nothing need be compared. */
  readonly counted?: string;
}

const every = (ids: string) => ({ insert: ids, update: ids, delete: ids });
const LEARNED = `select tenant_id, case when source_type = 'episode' then target_id else source_id end as id from changed`;

/** What the read model reads of an episode. That it was learned from, or is to be, changes none of it. */
const READ =
  `tenant_id butler validity content summary importance tags reference_count created_at last_referenced_at prior_referenced_at
  trust tier session_id ordinal speaker occurred_at expires_at`.split(/\s+/);
const readOf = (rows: string) => `(${READ.map((column) => `${rows}.${column}`).join(", ")})`;
const SEEN = `select c.tenant_id, c.id from changed c join was w on w.id = c.id where ${readOf("w")} is distinct from ${readOf("c")}`;

const WRITTEN = "select tenant_id, id from changed";
const FILED = "select tenant_id, memory_id as id from changed";

/** Everything that ranking reads. */
export const WATCHED: readonly Watched[] = [
  { table: "episodes", ids: { ...every(WRITTEN), update: SEEN }, counted: WRITTEN },
  ...["facts", "rules"].map((table) => ({ table, ids: every(WRITTEN) })),
  { table: "embeddings", ids: every(FILED) },
  {
    table: "lex_doc",
    // Folding moves words from one place to another, and takes away what has been marked before: neither changes what is found.
    ids: {
      insert: FILED,
      update: `${FILED} where state = 2`,
      delete: `${FILED} where state <> 2`,
    },
  },
  { table: "memory_links", ids: every(LEARNED) },
];

export const OPERATIONS = ["insert", "update", "delete"] as const;

export async function tellChanges(db: Db): Promise<void> {
  const wanted = WATCHED.length * OPERATIONS.length;
  const [made] = await db.query<{ n: number }>("select count(*)::int4 as n from pg_trigger where tgname like $1", [
    `changed\\_${EDITION}\\_%`,
  ]);
  if (made?.n === wanted) return;
  await db.exec(DROP_OLDER);
  await db.exec(
    WATCHED.flatMap((watched) =>
      OPERATIONS.flatMap((operation) =>
        triggerOf(`changed_${EDITION}`, watched, operation, (ids) => tellIds(ids, watched.counted ?? ids)),
      ),
    ).join("\n"),
  );
}

const DROP_OLDER = `do $$
  declare older record;
  begin
    for older in select tgname as name, tgrelid::regclass as place from pg_trigger where tgname ~ '^changed_[0-9]+_' loop
      execute format('drop trigger %I on %s', older.name, older.place);
      execute format('drop function if exists %I()', older.name);
    end loop;
  end $$`;

/** A trigger after each statement on a table, and its function. `body` is what it does with the ids. */
export function triggerOf(
  prefix: string,
  { table, ids }: Watched,
  operation: (typeof OPERATIONS)[number],
  body: (ids: string) => string,
): string[] {
  const name = `${prefix}_${table}_${operation}`;
  const rows = {
    insert: "new table as changed",
    update: "old table as was new table as changed",
    delete: "old table as changed",
  };
  return [
    `create or replace function ${name}() returns trigger language plpgsql as $$
     ${body(ids[operation])} $$;`,
    `create or replace trigger ${name} after ${operation} on ${table}
     referencing ${rows[operation]} for each statement execute function ${name}();`,
  ];
}

const tellIds = (ids: string, counted: string) => `declare told text;
     begin
       if current_setting('butler.counting', true) = 'on' then
         select string_agg(id::text, ',') into told from (${counted}) as c;
         if told is not null then raise notice using message = told, errcode = 'BM002'; end if;
       else
         select string_agg(distinct id::text, ',') into told from (${ids}) as c;
         if told is not null then raise notice using message = told, errcode = 'BM001'; end if;
       end if;
       return null;
     end`;
