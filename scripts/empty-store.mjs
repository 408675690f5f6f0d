/**
 * After each build: an embedded store with all migrations and no rows, as dist/empty-store.tar.gz. A new butler's store starts as
 * its copy: making one from nothing takes seconds, and an agent's first hook waits no longer than two.
 */
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { openPglite } from "../dist/engine/adapters/db/pglite.js";
import { migrate } from "../dist/engine/store/schema/migrate.js";

const db = await openPglite({ dir: undefined });
await migrate(db);
await db.maintain("full");
const tar = await db.dump();
await db.close();
writeFileSync(new URL("../dist/empty-store.tar.gz", import.meta.url), gzipSync(tar, { level: 9 }));
