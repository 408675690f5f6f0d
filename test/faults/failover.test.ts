/**
 * The primary is killed while a real daemon and its clients write, the replica is promoted, and they go on by themselves. With synchronous
 * replication nothing that was acknowledged is lost; without it, only what was acknowledged last.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, inject, test } from "vitest";
import { type PostgresServer, PRIMARY, startReplica, startServer } from "../../scripts/postgres/server.ts";
import { type Agent, agent, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { administer, withDatabase } from "../support/postgres.ts";
import { standingAddress } from "../support/standing-address.ts";

const name = `f${randomBytes(4).toString("hex")}`;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(cleanUp);

const on = <R>(server: PostgresServer, text: string): Promise<R[]> =>
  administer(server.url, async (client) => (await client.query(text)).rows as R[]);

/** Until the answer is a yes; a server that is promoted takes a moment. */
async function untilTrue(ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** A primary, its replica, and a daemon that knows both by one address. */
async function startFleet() {
  const primary = await startServer(PRIMARY);
  closing.push(() => primary.stop());
  const link = await standingAddress(primary.port);
  closing.push(() => link.close());
  const replica = await startReplica(primary, link.port);
  closing.push(() => replica.stop());
  const address = await standingAddress(primary.port);
  closing.push(() => address.close());
  const url = new URL(primary.url);
  url.port = String(address.port);
  const readFrom = replica.url;
  const home = emptyHome();
  const roster = join(home, "roster");
  mkdirSync(join(roster, name), { recursive: true });
  writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n[modules.memory]\n`);
  const variables = { BUTLER_DATABASE_URL: url.href, BUTLER_READ_URL: readFrom, BUTLER_ROSTER: roster };
  const daemon = await up(home, [], variables);
  closing.push(async () => {
    daemon.child.kill("SIGTERM");
    await daemon.ended;
  });
  const client = await agent(home, variables, ["--butler", name]);
  return { primary, replica, address, link, client, daemon };
}

/** Writes until `end`; a write that failed is repeated under its key, as a client does, until it is acknowledged. */
async function writeUntil(
  client: Agent,
  end: () => boolean,
  acknowledged: string[],
  failures: string[],
): Promise<void> {
  while (!end()) {
    const n = acknowledged.length;
    const content = `The heron number ${n} w${n}w was seen`;
    for (let done = false; !done; ) {
      try {
        await client.call("memory_store_episode", { content, idempotency_key: `k${n}` });
        acknowledged.push(content);
        done = true;
      } catch (error) {
        failures.push(String(error));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

const stored = async (server: PostgresServer): Promise<string[]> => {
  const rows = await administer(
    withDatabase(server.url, `butler_${name}`),
    async (client) => (await client.query("select content from episodes order by created_at, id")).rows,
  );
  return rows.map(({ content }) => content);
};

describe.skipIf(inject("postgresUrl") === undefined)("failover", () => {
  test("synchronous: nothing that was acknowledged is lost, nothing is there twice, and clients go on by themselves", async () => {
    const { primary, replica, address, client, daemon } = await startFleet();
    await on(primary, "alter system set synchronous_standby_names = '*'");
    await on(primary, "select pg_reload_conf()");
    const inStep = "select bool_or(sync_state = 'sync') as yes from pg_stat_replication";
    await untilTrue(async () => (await on<{ yes: boolean }>(primary, inStep))[0]?.yes ?? false);

    const acknowledged: string[] = [];
    const failures: string[] = [];
    let wanted = 15;
    const writing = writeUntil(client, () => acknowledged.length >= wanted, acknowledged, failures);
    await untilTrue(async () => acknowledged.length >= 8);
    wanted = Number.POSITIVE_INFINITY;
    await primary.kill();
    const before = acknowledged.length;
    await untilTrue(async () => failures.length > 0);
    await on(replica, "select pg_promote()");
    address.point(replica.port);
    await untilTrue(async () => acknowledged.length >= before + 5);
    wanted = 0;
    await writing;

    const there = await stored(replica);
    expect(new Set(there).size).toBe(there.length);
    expect(acknowledged.filter((content) => !there.includes(content))).toEqual([]);
    const { results } = (await client.call("memory_search", { query: "heron number" })) as { results: unknown[] };
    expect(results.length).toBeGreaterThan(0);
    expect(daemon.child.exitCode).toBeNull();
  });

  test("asynchronous: what is lost is what was acknowledged last, after the replica stopped receiving", async () => {
    const { primary, replica, address, link, client } = await startFleet();
    const acknowledged: string[] = [];
    const write = (n: number) => writeUntil(client, () => acknowledged.length >= n, acknowledged, []);
    await write(5);
    const [{ at } = { at: "" }] = await on<{ at: string }>(primary, "select pg_current_wal_insert_lsn()::text as at");
    const received = `select pg_last_wal_receive_lsn() >= '${at}' as yes`;
    await untilTrue(async () => (await on<{ yes: boolean }>(replica, received))[0]?.yes ?? false);
    await link.close();
    await write(8);
    await primary.kill();
    await on(replica, "select pg_promote()");
    address.point(replica.port);
    await untilTrue(
      async () => !(await on<{ still: boolean }>(replica, "select pg_is_in_recovery() as still"))[0]?.still,
    );
    // Everything up to the cut and nothing after it: what is lost is as much as the replica was behind.
    expect(await stored(replica)).toEqual(acknowledged.slice(0, 5));
    await write(9);
    expect((await stored(replica)).length).toBe(6);
  });
});
