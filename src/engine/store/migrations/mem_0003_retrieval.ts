/** What finer ranking needs: the sign bits of a memory's tokens in the row of its vector, and who speaks in which session. */
import { type Kysely, sql } from "kysely";

const UP = [
  // Half the room, and closer to the model's own precision than int8 weights are: cosines move by 0.0001.
  `alter table embeddings alter embedding type halfvec using embedding::halfvec`,
  `alter table embeddings alter embedding set storage plain`,
  // Never filled. In the row of the vector they cost no second look-up.
  `drop table embedding_tokens`,
  `alter table embeddings add word_pieces int4, add tokens bytea`,
  // Bits do not compress, and fetching them from the side costs a look-up each: up to about 130 tokens stay in the row.
  `alter table embeddings alter tokens set storage main`,
  `alter table embeddings set (toast_tuple_target = 8160)`,

  `create index episodes_speaker on episodes (tenant_id, lower(split_part(speaker, ' ', 1)), session_id)
    where speaker is not null`,

  // Every answer counts references. With room in its page, and the counted columns in no index, a row is changed where it is.
  `drop index episodes_tier`,
  ...["episodes", "facts", "rules"].map((table) => `alter table ${table} set (fillfactor = 85)`),
];

const DOWN = [
  ...["episodes", "facts", "rules"].map((table) => `alter table ${table} reset (fillfactor)`),
  `create index episodes_tier on episodes (tenant_id, tier, last_referenced_at)`,
  `drop index episodes_speaker`,
  `alter table embeddings reset (toast_tuple_target)`,
  `alter table embeddings drop tokens, drop word_pieces`,
  `alter table embeddings alter embedding type vector using embedding::vector`,
  `alter table embeddings alter embedding set storage plain`,
  `create table embedding_tokens (
    memory_id uuid not null,
    version_id int4 not null references embedding_versions (id),
    word_pieces int4 not null,
    kept int4 not null,
    bits bytea not null,
    primary key (memory_id, version_id)
  )`,
];

async function run(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export const mem_0003_retrieval = {
  up: (db: Kysely<unknown>) => run(db, UP),
  down: (db: Kysely<unknown>) => run(db, DOWN),
};
