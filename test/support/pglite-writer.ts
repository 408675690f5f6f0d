import { openPglite } from "../../src/engine/adapters/db/pglite.ts";

/** Writes rows until it is killed; prints an id only after the store has acknowledged its commit. */
const db = await openPglite({ dir: process.argv[2] ?? "" });
const [row] = await db.query<{ n: number }>("select coalesce(max(id), 0)::int4 as n from written");
for (let id = (row?.n ?? 0) + 1; ; id++) {
  if (id % 3 === 0) {
    await db.tx(async (sql) => {
      await sql.query("insert into written values ($1, $2)", [id, `key-${id}`]);
      await sql.query("update written set touched = touched + 1 where id = $1", [id - 1]);
    });
  } else {
    await db.query("insert into written values ($1, $2)", [id, `key-${id}`]);
  }
  if (id % 50 === 0) await db.exec("checkpoint");
  process.stdout.write(`${id}\n`);
}
