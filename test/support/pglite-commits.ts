import { appendFileSync } from "node:fs";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";

/** Twenty commits, each between two marks in the log that pglite-fsync-log.cjs writes. */
const [dir = "", durable = "", log = ""] = process.argv.slice(2);
const db = await openPglite({ dir, durable: durable === "durable" });
await db.exec("create table if not exists c (id serial)");
for (let i = 0; i < 20; i++) {
  appendFileSync(log, "begin\n");
  await db.query("insert into c default values");
  appendFileSync(log, "acknowledged\n");
}
// A new segment: its file and its folder must reach the disk too.
await db.query("select pg_switch_wal()");
await db.query("insert into c default values");
await db.close();
