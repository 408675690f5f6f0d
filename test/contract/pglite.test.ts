import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explainFailure } from "../../src/engine/adapters/db/durable-fs.ts";
import { openPglite, openPgliteExclusive, type PgliteDb } from "../../src/engine/adapters/db/pglite.ts";
import { dbContract } from "./db.ts";

const support = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
let root: string;
let snapshot: Uint8Array;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "butler-pglite-"));
  const db = await openPglite({ dir: undefined });
  await db.exec("create table seeded (id int); insert into seeded values (1)");
  snapshot = await db.dump();
  await db.close();
});
afterAll(() => rmSync(root, { recursive: true }));

dbContract("PGlite in memory", () => openPglite({ dir: undefined, snapshot }));

describe("PGlite in a folder", () => {
  const refused = (dir: string) => expect(openPglite({ dir })).rejects;

  it("keeps its rows, its lock and its session settings", async () => {
    const dir = join(root, "kept");
    let db = await openPgliteExclusive({ dir, snapshot });
    expect(await db.query("select id from seeded")).toEqual([{ id: 1 }]);
    await expect(openPgliteExclusive({ dir })).rejects.toMatchObject({
      code: "unavailable",
      message: /Another process/,
    });
    await db.exec("create table t (id int); insert into t values (3)");
    await db.close();
    expect(readFileSync(join(dir, "PG_VERSION"), "utf8").trim()).toBe("18");
    db = await openPgliteExclusive({ dir, settings: { "hnsw.ef_search": "77" } });
    expect(await db.query("select id from t")).toEqual([{ id: 3 }]);
    const show = "select current_setting($1) as s";
    const setting = async (name: string) => (await db.query<{ s: string }>(show, [name]))[0]?.s;
    expect(await setting("hnsw.ef_search")).toBe("77");
    expect(await setting("ivfflat.iterative_scan")).toBe("relaxed_order");
    expect(await setting("timezone")).toBe("UTC");
    expect(await setting("fsync")).toBe("on");
    expect(await setting("wal_sync_method")).toBe("fsync");
    await db.close();
  });

  it("starts over when its making was interrupted", async () => {
    const dir = join(root, "half");
    mkdirSync(join(dir, "base"), { recursive: true });
    writeFileSync(join(dir, "butler-unfinished"), "");
    writeFileSync(join(dir, "PG_VERSION"), "18\n");
    const db = await openPglite({ dir, snapshot });
    expect(await db.query("select id from seeded")).toEqual([{ id: 1 }]);
    await db.close();
  });

  it("refuses a damaged snapshot in words, and takes a whole one after it", async () => {
    const dir = join(root, "damaged");
    const half = snapshot.subarray(0, snapshot.length / 2);
    const opening = openPglite({ dir, snapshot: half });
    await expect(opening).rejects.toMatchObject({ code: "unavailable", message: /snapshot .* is damaged/ });
    const db = await openPglite({ dir, snapshot });
    expect(await db.query("select id from seeded")).toEqual([{ id: 1 }]);
    await db.close();
  });

  it("bounds the WAL and takes out the dead rows", async () => {
    const db = await openPglite({ dir: join(root, "wal"), durable: false, snapshot });
    await db.exec("create table big (id int, v text)");
    const redo = async () =>
      (await db.query<{ r: string }>("select redo_lsn::text as r from pg_control_checkpoint()"))[0]?.r;
    const before = await redo();
    for (let i = 0; i < 5; i++) {
      await db.query("insert into big select g, repeat(md5(g::text), 30) from generate_series(1, 16000) g");
    }
    expect(await redo()).not.toBe(before);
    await db.query("delete from big");
    const size = async () => Number((await db.query<{ s: string }>("select pg_table_size('big') as s"))[0]?.s);
    const full = await size();
    let turns = 0;
    const turn = async () => {
      turns += 1;
    };
    await db.maintain("light", turn);
    expect(turns).toBe(1);
    await db.maintain("full", turn);
    expect(turns).toBeGreaterThan(2);
    expect(await size()).toBeLessThan(full / 10);
    await db.close();
  });

  it("refuses in words a folder it cannot use", async () => {
    const foreign = join(root, "foreign");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "holiday.txt"), "not a store");
    await refused(foreign).toMatchObject({ code: "unavailable", message: /holds files but no memory store/ });
    expect(readFileSync(join(foreign, "holiday.txt"), "utf8")).toBe("not a store");
    const old = join(root, "old");
    mkdirSync(old);
    writeFileSync(join(old, "PG_VERSION"), "17\n");
    await refused(old).toMatchObject({ code: "unavailable", message: /PostgreSQL 17.*export/ });
    await refused(join(foreign, "holiday.txt")).toMatchObject({ code: "unavailable", message: /not a folder/ });
  });

  it.runIf(process.platform === "linux")("refuses a read-only folder in words", async () => {
    await refused("/sys/butler-store").toMatchObject({ code: "unavailable", message: /cannot be written/ });
  });

  it("explains a full disk", () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    expect(explainFailure("/x", full)).toMatchObject({ code: "unavailable", message: /full: free some space/ });
    // What PGlite throws when the disk fills while a store is made: no Error, only a WASI number.
    expect(explainFailure("/x", { name: "ErrnoError", errno: 51 }).message).toMatch(/full: free some space/);
    const said = "FATAL: could not write to file: No space left on device";
    expect(explainFailure("/x", new Error("failed"), said).message).toMatch(/full/);
  });
});

describe("PGlite's thread", () => {
  let db: PgliteDb;
  beforeAll(async () => {
    db = await openPglite({ dir: undefined, snapshot });
  });
  afterAll(() => db.close());

  it("leaves the caller's event loop free while a query runs", async () => {
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    await db.query("select count(*) from generate_series(1, 2000000)");
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(5);
  });
});

describe("PGlite when its engine dies", () => {
  it("fails pending and later calls in words, closes, and leaves the thread", async () => {
    const dir = join(root, "dies");
    const db = await openPglite({ dir, durable: false, snapshot });
    // Without the folder PostgreSQL cannot make its next WAL segment and panics.
    rmSync(join(dir, "pg_wal"), { recursive: true });
    await db.query("select pg_switch_wal()");
    const pending = [
      db.query("insert into seeded values (2)"),
      db.query("select 1"),
      db.tx((sql) => sql.query("select 1")),
    ];
    const stopped = { code: "unavailable", message: expect.stringContaining("PANIC") };
    for (const outcome of await Promise.allSettled(pending)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: stopped });
    }
    await expect(db.query("select 1")).rejects.toMatchObject(stopped);
    await db.close();
    await db.close();
  });
});

describe("durability", () => {
  const commits = (mode: "durable" | "relaxed") => {
    const log = join(root, `fsync-${mode}.log`);
    writeFileSync(log, "");
    const preload = ["--require", support("pglite-fsync-log.cjs"), "--import", "tsx"];
    execFileSync(process.execPath, [...preload, support("pglite-commits.ts"), join(root, mode), mode, log], {
      env: { ...process.env, FSYNC_LOG: log, NODE_OPTIONS: `--require ${support("pglite-fsync-log.cjs")}` },
    });
    return readFileSync(log, "utf8");
  };

  it.runIf(process.platform === "linux")("syncs the WAL before it acknowledges a commit", () => {
    const log = commits("durable");
    const between = log.match(/begin\n[\s\S]*?acknowledged\n/g) ?? [];
    expect(between).toHaveLength(20);
    for (const part of between) expect(part).toMatch(/\/pg_wal\/[0-9A-F]{24}\n/);
    // After the last commit: the folder of the new segment, and the data files at the closing checkpoint.
    const rest = log.slice(log.lastIndexOf("acknowledged"));
    expect(rest).toMatch(/\/pg_wal\n/);
    expect(rest).toMatch(/\/base\/\d+\/\d+\n/);
    expect(commits("relaxed")).not.toMatch(/pg_wal/);
  });
});
