/** Behind a real pgbouncer in transaction mode, with fewer connections than callers: calls keep to their tenant, and nothing stays on a connection. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type Pooler, startPooler } from "../../scripts/pgbouncer/runtime.ts";
import { PLAN_KEPT } from "../../src/engine/adapters/db/port.ts";
import { openPostgres, SESSION_SQL } from "../../src/engine/adapters/db/postgres.ts";
import { freshDatabase, type TestDatabase } from "../support/postgres.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { openRig } from "../support/stores.ts";

const url = inject("postgresUrl");

describe.skipIf(url === undefined)("behind pgbouncer in transaction mode", () => {
  let pooler: Pooler;
  let database: TestDatabase;
  const through = () => {
    const parsed = new URL(database.url);
    parsed.port = new URL(pooler.url).port;
    return parsed.href;
  };
  beforeAll(async () => {
    database = await freshDatabase(url ?? "");
    pooler = await startPooler(url ?? "", 3, SESSION_SQL);
    for (let up = false; !up && pooler.running(); )
      up = await openPostgres({ url: through(), max: 1 }).then(
        (db) => db.close().then(() => true),
        () => new Promise<boolean>((again) => setTimeout(() => again(false), 100)),
      );
  });
  afterAll(async () => {
    await pooler?.stop();
    await database?.drop();
  });

  it("many tenants at once on three connections: migrations, writes, searches, an index, replay", async () => {
    const db = await openPostgres({ url: through(), directUrl: url, max: 12 });
    const rig = await openRig(db, { model: false });
    const tenants = Array.from({ length: 12 }, (_, n) => `t${n}`);
    await Promise.all(
      tenants.map(async (tenant) => {
        const as = { as: { tenant } };
        for (let n = 0; n < 4; n++) {
          await rig.call("memory_store_episode", { content: `The heron of ${tenant} w${n}w was seen` }, as);
          const { results } = await rig.call("memory_search", { query: "heron", limit: 20 }, as);
          expect(results).toHaveLength(n + 1);
          for (const { content } of results) expect(content).toContain(`of ${tenant} `);
        }
      }),
    );
    await rig.settled();
    await db.exec("create index concurrently by_speaker on episodes (speaker)");
    await db.withSettings({ "butler.work": "lab" }).exec("vacuum episodes");
    // Whatever connection answers: no tenant, no work and no role is left on it, and what every connection is set to is there.
    const left = await Promise.all(
      Array.from({ length: 20 }, () =>
        db.query(
          `select coalesce(current_setting('butler.tenant', true), '') as tenant, coalesce(current_setting('butler.work', true), '') as work,
             current_user = session_user as itself, current_setting('statement_timeout') as timeout, current_setting('hnsw.ef_search') as ef`,
        ),
      ),
    );
    const clean = { tenant: "", work: "", itself: true, timeout: "1min", ef: "200" };
    expect(left.flat()).toEqual(left.map(() => clean));
    const owner = db.withSettings({ "butler.work": "lab" });
    expect((await verifyInScratch(owner)).equal).toBe(true);
    await rig.memory.close();
  });

  it("a statement whose plan is kept is answered where its name is another connection's", async () => {
    const db = await openPostgres({ url: through(), max: 6 });
    const text = `select $1::int4 as n, current_setting('butler.tenant') as tenant ${PLAN_KEPT}`;
    const ask = (n: number) => db.withSettings({ "butler.tenant": `t${n}` }).query(text, [n]);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => ask(n)));
      expect(answers.flat()).toEqual(answers.map((_, n) => ({ n, tenant: `t${n}` })));
    }
    await db.close();
  });
});
