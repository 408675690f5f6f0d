/**
 * Every unique and every foreign key of a tenant's rows has the tenant in it, so that rows can be spread over machines by tenant: no key
 * has to be compared across them. The id stays the first column: look-ups by id, pages in the order of ids and work over all tenants use
 * the same index as before. The rows of the search index get a column for it.
 *
 * On a server that has memories already, `prepareTenantKeys` has built the indexes and filled the columns before, while others read and
 * wrote; what is left here takes short locks. The embedded store does it all here.
 */
import { type Kysely, sql } from "kysely";

export interface TenantKey {
  readonly table: string;
  /** Of the index, and of the constraint if it is one. */
  readonly name: string;
  readonly columns: string;
  readonly where?: string;
  readonly primary?: true;
  readonly constraint?: true;
  /** What it was before; none where the key is new. */
  readonly before?: string;
}

const byId = (table: string, columns: string): TenantKey => ({
  table,
  name: `${table}_pkey`,
  columns: `${columns}, tenant_id`,
  primary: true,
  before: columns,
});

export const TENANT_KEYS: readonly TenantKey[] = [
  ...["episodes", "facts", "rules", "rule_applications", "consolidation_runs"].map((table) => byId(table, "id")),
  byId("episode_references", "episode_id, session_id, day"),
  byId("memory_links", "source_id, target_id, relation"),
  byId("shelves", "sk"),
  byId("embeddings", "memory_id, version_id"),
  byId("lex_doc", "doc"),
  byId("lex_block", "key, b"),
  // An id has the time in it, by which events can be partitioned; a key of a partitioned table has what it is partitioned by.
  { ...byId("memory_events", "id"), before: "seq" },
  { table: "memory_events", name: "memory_events_seq", columns: "seq, tenant_id" },
  ...["erasure_receipts", "event_checkpoints"].flatMap((table): TenantKey[] => [
    byId(table, "seq"),
    { table, name: `${table}_id_key`, columns: "id, tenant_id", constraint: true, before: "id" },
  ]),
  ...(
    [
      ["lex_doc", "lex_doc_memory", "memory_id", "state <> 2"],
      ["lex_doc", "lex_doc_slot", "sk, slot", "state = 1"],
      [
        "rule_applications",
        "rule_applications_once",
        "rule_id, outcome, session_id",
        "session_id is not null and counted",
      ],
    ] as const
  ).map(([table, name, before, where]) => ({ table, name, columns: `${before}, tenant_id`, where, before })),
];

interface TenantReference {
  readonly table: string;
  readonly column: string;
  readonly to: string;
  readonly key: string;
}

export const TENANT_REFERENCES: readonly TenantReference[] = [
  { table: "facts", column: "supersedes_id", to: "facts", key: "id" },
  { table: "rule_applications", column: "rule_id", to: "rules", key: "id" },
  { table: "embeddings", column: "sk", to: "shelves", key: "sk" },
  { table: "lex_doc", column: "sk", to: "shelves", key: "sk" },
];

/** Tables that get the column, and the number of a row's shelf. */
export const SHELVED: Readonly<Record<string, string>> = {
  embeddings: "sk",
  lex_doc: "sk",
  lex_block: "(key >> 40)::int4",
};

/** While a key is made beside the old one. */
export const madeAs = (key: TenantKey): string => `${key.name}_of_tenant`;

export const createKey = (key: TenantKey, concurrently = ""): string =>
  `create unique index ${concurrently}if not exists ${madeAs(key)} on ${key.table} (${key.columns})${key.where ? ` where ${key.where}` : ""}`;

export const referenceName = ({ table, column }: TenantReference): string => `${table}_${column}_fkey`;
export const referenceMadeAs = (reference: TenantReference): string => `${referenceName(reference)}_of_tenant`;
const references = ({ column, to, key }: TenantReference) =>
  `foreign key (${column}, tenant_id) references ${to} (${key}, tenant_id)`;

const unlessThere = (table: string, constraint: string, statement: string) => `do $there$
  begin
    if not exists (select from pg_constraint where conrelid = '${table}'::regclass and conname = '${constraint}') then
      ${statement};
    end if;
  end $there$`;

export const addReference = (reference: TenantReference, validity = ""): string =>
  unlessThere(
    reference.table,
    referenceMadeAs(reference),
    `alter table ${reference.table} add constraint ${referenceMadeAs(reference)} ${references(reference)}${validity}`,
  );

/**
 * The rows that are there get the tenant that has most of them, without being touched; those of others are put right one by one. So a
 * store of one tenant is not written anew.
 */
export const addTenant = (table: string): string => `do $add$
  declare most text := coalesce((select tenant_id from shelves group by tenant_id order by sum(n) desc, count(*) desc limit 1), '');
  begin
    if not exists (select from pg_attribute where attrelid = '${table}'::regclass and attname = 'tenant_id' and not attisdropped) then
      execute format('alter table ${table} add column tenant_id text default %L', most);
      alter table ${table} alter tenant_id drop default;
    end if;
  end $add$`;

/** A program of the version before does not name the tenant of what it adds. */
export const fillTenant = (table: string): readonly string[] => [
  `create or replace function ${table}_fill_tenant() returns trigger language plpgsql as $$
    begin
      new.tenant_id := (select s.tenant_id from shelves s where s.sk = ${SHELVED[table]?.replace("key", "new.key").replace(/^sk$/, "new.sk")});
      return new;
    end $$`,
  `create or replace trigger ${table}_fill_tenant before insert on ${table}
     for each row when (new.tenant_id is null) execute function ${table}_fill_tenant()`,
];

const FOREIGN_SHELVES = (table: string) =>
  `update ${table} t set tenant_id = s.tenant_id from shelves s
   where s.sk = ${SHELVED[table]?.replace("key", "t.key").replace(/^sk$/, "t.sk")} and t.tenant_id is distinct from s.tenant_id`;

/** Known to hold already, a server need not read the table for it while it is locked. */
export const HAS_TENANT = "tenant_id is not null";
export const hasTenantName = (table: string): string => `${table}_has_tenant`;

function swap(key: TenantKey): string[] {
  const { table, name, primary, constraint, before } = key;
  if (primary === true || constraint === true)
    return [
      `alter table ${table} drop constraint ${name}`,
      `alter table ${table} add constraint ${name} ${primary ? "primary key" : "unique"} using index ${madeAs(key)}`,
    ];
  return [...(before === undefined ? [] : [`drop index ${name}`]), `alter index ${madeAs(key)} rename to ${name}`];
}

const SHELVED_TABLES = Object.keys(SHELVED);

const UP = [
  // Where nothing was prepared, an index may take longer than a call may.
  `set local statement_timeout = 0`,
  ...SHELVED_TABLES.flatMap((table) => [
    addTenant(table),
    `drop trigger if exists ${table}_fill_tenant on ${table}`,
    `drop function if exists ${table}_fill_tenant()`,
  ]),
  `do $fill$
  begin
    ${SHELVED_TABLES.map(
      (table) => `if not exists (select from pg_constraint where conname = '${hasTenantName(table)}') then
      ${FOREIGN_SHELVES(table)};
    end if;`,
    ).join("\n    ")}
  end $fill$`,
  ...TENANT_KEYS.map((key) => createKey(key)),
  ...SHELVED_TABLES.flatMap((table) => [
    `alter table ${table} alter tenant_id set not null`,
    `alter table ${table} drop constraint if exists ${hasTenantName(table)}`,
  ]),
  ...TENANT_REFERENCES.flatMap((reference) => [
    addReference(reference),
    `alter table ${reference.table} drop constraint ${referenceName(reference)}`,
    `alter table ${reference.table} rename constraint ${referenceMadeAs(reference)} to ${referenceName(reference)}`,
  ]),
  `alter table memory_events drop constraint memory_events_id_key`,
  ...TENANT_KEYS.flatMap(swap),
];

const DOWN = [
  ...TENANT_REFERENCES.map((reference) => `alter table ${reference.table} drop constraint ${referenceName(reference)}`),
  ...TENANT_KEYS.toReversed().flatMap(({ table, name, primary, constraint, where, before }) => {
    if (primary || constraint)
      return [
        `alter table ${table} drop constraint ${name}`,
        `alter table ${table} add constraint ${name} ${primary ? "primary key" : "unique"} (${before})`,
      ];
    return [
      `drop index ${name}`,
      ...(before === undefined ? [] : [`create unique index ${name} on ${table} (${before}) where ${where}`]),
    ];
  }),
  `alter table memory_events add constraint memory_events_id_key unique (id)`,
  ...TENANT_REFERENCES.map(
    (reference) =>
      `alter table ${reference.table} add constraint ${referenceName(reference)} foreign key (${reference.column}) references ${reference.to} (${reference.key})`,
  ),
  ...SHELVED_TABLES.map((table) => `alter table ${table} drop column tenant_id`),
];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0017_tenant_keys = { up: run(UP), down: run(DOWN) };
