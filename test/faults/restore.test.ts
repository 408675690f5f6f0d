/** Backup and point-in-time restore on real servers, as ops/SERVER.md describes them: the memory is what it was before the mistake. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { copyServer, type PostgresServer, PRIMARY, startCopy, startServer } from "../../scripts/postgres/server.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { administer, freshDatabase } from "../support/postgres.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { openRig, type Rig } from "../support/stores.ts";

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const known = async (rig: Rig): Promise<string[]> =>
  (await rig.call("memory_search", { query: "cat heron", types: ["fact"] })).results.map(
    ({ content }: { content: string }) => content,
  );

describe.skipIf(inject("postgresUrl") === undefined)("backup", () => {
  test("a copy and the archived log give the memory of a moment, and replay agrees with it", async () => {
    const archive = mkdtempSync(join(tmpdir(), "butler-archive-"));
    chmodSync(archive, 0o777);
    closing.push(async () => rmSync(archive, { recursive: true }));
    const archiving = { archive_mode: "on", archive_command: `cp %p ${archive}/%f` };
    const primary = await startServer({ ...PRIMARY, ...archiving });
    closing.push(() => primary.stop());
    const { url } = await freshDatabase(primary.url);
    const rig = await openRig(await openPostgres({ url }), { model: false });
    closing.push(() => rig.memory.close());
    await rig.call("memory_store_fact", { subject: "cat", predicate: "name", content: "Molly" });
    const backup = await copyServer(primary, "recovery");

    await rig.call("memory_store_fact", { subject: "heron", predicate: "seen at", content: "the river" });
    await rig.settled();
    await administer(primary.url, (client) => client.query("select pg_create_restore_point('before_the_mistake')"));
    await rig.call("control_erase", { subject: "cat" }, { as: { admin: true } });
    expect(await known(rig)).toEqual(["the river"]);
    await archived(primary);

    const restored = await startCopy(backup, {
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_name: "before_the_mistake",
      recovery_target_action: "promote",
    });
    closing.push(() => restored.stop());
    const there = new URL(url);
    there.port = String(restored.port);
    for (let recovering = true; recovering; )
      recovering = await administer(restored.url, async (client) => {
        const { rows } = await client.query("select pg_is_in_recovery() as recovering");
        return rows[0].recovering;
      });
    const db = await openPostgres({ url: there.href });
    const back = await openRig(db, { model: false });
    closing.push(() => back.memory.close());
    expect((await known(back)).toSorted()).toEqual(["Molly", "the river"]);
    expect((await verifyInScratch(db.withSettings({ "butler.work": "lab" }))).equal).toBe(true);
  });
});

/** Everything that was written until now is in the archive. */
async function archived(server: PostgresServer): Promise<void> {
  await administer(server.url, async (client) => {
    const { rows } = await client.query("select pg_walfile_name(pg_switch_wal()) as file");
    for (let done = false; !done; ) {
      const found = await client.query("select last_archived_wal >= $1 as done from pg_stat_archiver", [rows[0].file]);
      done = found.rows[0].done === true;
      if (!done) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
}
