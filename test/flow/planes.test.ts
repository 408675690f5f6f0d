/** Reads on a real streaming replica: what one wrote one reads, and a replica that is late or dead is left out and told. */
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { type PostgresServer, PRIMARY, startReplica, startServer } from "../../scripts/postgres/server.ts";
import { planesDb } from "../../src/engine/adapters/db/planes.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { judge } from "../../src/engine/domain/health/conditions.ts";
import { readSample } from "../../src/engine/store/health/sample.ts";
import { PATIENCE } from "../support/patience.ts";
import { administer, freshDatabase } from "../support/postgres.ts";
import { openRig, type Rig } from "../support/stores.ts";

describe.skipIf(inject("postgresUrl") === undefined)("a server with a replica", () => {
  let primary: PostgresServer;
  let replica: PostgresServer;
  let db: Db;
  let rig: Rig;
  const told: string[] = [];
  const use = () => db.replicas?.()[0] ?? { used: false, statements: 0 };
  const on = (server: PostgresServer, text: string) => administer(server.url, (client) => client.query(text));
  const store = (content: string, tenant = "default") =>
    rig.call("memory_store_episode", { content }, { as: { tenant } });
  const found = async (words: string, tenant = "default"): Promise<string[]> =>
    (await rig.call("memory_search", { query: words }, { as: { tenant } })).results.map(
      ({ content }: { content: string }) => content,
    );
  const until = (used: boolean) => vi.waitFor(() => expect(use()).toMatchObject({ used }), PATIENCE);

  beforeAll(async () => {
    primary = await startServer(PRIMARY);
    replica = await startReplica(primary);
    const { url } = await freshDatabase(primary.url);
    const there = new URL(url);
    there.port = String(replica.port);
    const at = { name: `127.0.0.1:${replica.port}`, open: () => openPostgres({ url: there.href }) };
    db = planesDb(await openPostgres({ url }), [at], {
      tenantSetting: "butler.tenant",
      mostLagSeconds: 1,
      tell: (name, reason) => told.push(`${name} ${reason ?? "is back"}`),
    });
    rig = await openRig(db, { model: false });
    await until(true);
  });
  afterAll(async () => {
    await rig?.memory.close();
    await replica?.stop();
    await primary?.stop();
  });

  it("everybody reads what they wrote, and the replica answers", async () => {
    await store("A heron for anna", "anna");
    for (let n = 0; n < 10; n++) {
      await store(`The heron w${n}w was seen`);
      expect(await found(`w${n}w`)).toEqual([`The heron w${n}w was seen`]);
    }
    // At the latest when nothing was written for a moment, the replica is asked.
    await vi.waitFor(async () => {
      const before = use().statements;
      expect(await found("heron", "anna")).toEqual(["A heron for anna"]);
      expect(use().statements).toBeGreaterThan(before);
    }, PATIENCE);
  });

  it("a replica that stands still gives nobody an old answer to what they wrote, is left out, and comes back", async () => {
    await on(replica, "select pg_wal_replay_pause()");
    await store("The lark was seen");
    expect(await found("lark")).toEqual(["The lark was seen"]);
    await until(false);
    expect(use()).toMatchObject({ reason: expect.stringContaining("behind") });
    const sample = await readSample(rig.db, rig.now);
    const measured = { sample, store: { state: "open" as const }, replicas: db.replicas?.() };
    const judged = judge({ ...measured, calls: [], hooks: { told: 0, late: 0, without: 0 }, cap_usd: 0 }, rig.now);
    expect(judged.find(({ id }) => id === "replica")).toMatchObject({
      state: "not_ok",
      says: expect.stringContaining(`Nothing is read from 127.0.0.1:${replica.port}: it is`),
    });
    await on(replica, "select pg_wal_replay_resume()");
    await until(true);
    expect(await found("lark")).toEqual(["The lark was seen"]);
  });

  it("a dead replica is left out, and every question is answered", async () => {
    await replica.kill();
    for (let n = 0; n < 5; n++) expect(await found("lark")).toEqual(["The lark was seen"]);
    await until(false);
    expect(use()).toMatchObject({ reason: expect.stringContaining("does not answer") });
    await store("The gull was seen");
    expect(await found("gull")).toEqual(["The gull was seen"]);
    expect(told).toEqual(expect.arrayContaining([expect.stringMatching(/behind$/), expect.stringMatching(/is back$/)]));
    expect(told.at(-1)).toMatch(/does not answer/);
  });
});
