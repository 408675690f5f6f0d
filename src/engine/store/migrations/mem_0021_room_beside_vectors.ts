/**
 * Room on each page of vectors for one that is seen longer. A memory that is read again after some days moves the time until which its vector
 * is seen; on a full page that was a new row elsewhere, and with it a new entry of the vector index: 10 ms of a server with a million
 * memories for each of an answer's episodes, and a dead entry that searches meet until the next vacuum. With room the row changes in place.
 * Pages that are full already stay so.
 */
import { type Kysely, sql } from "kysely";

const UP = [`alter table embeddings set (fillfactor = 70)`];
const DOWN = [`alter table embeddings reset (fillfactor)`];

const run = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

export const mem_0021_room_beside_vectors = { up: run(UP), down: run(DOWN) };
