/** kill -9 in the middle of a move, then the same move again: the copy is whole, and what was moved is as it was. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { moveStore } from "../../src/engine/memory/move/move-store.ts";
import { compiled } from "../support/compiled.ts";
import { openPlace, type Place } from "../support/job-victim.ts";
import { type Death, gatedTarget } from "../support/move-victim.ts";
import { everything, furnishForMove } from "../support/moved-life.ts";
import { administer, freshDatabase, type TestDatabase } from "../support/postgres.ts";
import { migratedSnapshot } from "../support/stores.ts";

/** The moment of death is drawn anew in every run; a failure tells the seed. */
const SEED = Number(process.env.SEED ?? randomInt(1_000_000));
describe.skipIf(inject("postgresUrl") === undefined)("a move that is killed", () => {
  const root = mkdtempSync(join(tmpdir(), "butler-move-kill-"));
  const databases: TestDatabase[] = [];
  let wanted: Record<string, string[]>;
  let writes = 0;
  /** Transactions until rows are copied: the schema is made in them. */
  let prepared = Number.POSITIVE_INFINITY;
  const database = async (): Promise<Place> => {
    const made = await freshDatabase(inject("postgresUrl") ?? "");
    databases.push(made);
    return { url: made.url };
  };
  const laptop: Place = { dir: join(root, "laptop") };
  let server: Place;

  beforeAll(async () => {
    server = await database();
    await furnishForMove(
      await openPglite({ ...laptop, dir: join(root, "laptop"), snapshot: await migratedSnapshot(), durable: false }),
    );
    const [source, target] = [await openPlace(laptop, false), await openPlace(server)];
    wanted = await everything(source);
    const gated = gatedTarget(target, (late) => {
      if (!late) writes += 1;
    });
    const tell = () => {
      prepared = Math.min(prepared, writes);
    };
    await moveStore({ source, target: gated, scratch: undefined, tell });
    await Promise.all([source.close(), target.close()]);
  });
  afterAll(async () => {
    for (const made of databases) await made.drop();
    rmSync(root, { recursive: true });
  });

  /** A killed client's connections are gone when the server has noticed. */
  const buried = async () => {
    const names = databases.map(({ url }) => new URL(url).pathname.slice(1));
    const open = () =>
      administer(inject("postgresUrl") ?? "", async (client) => {
        const { rows } = await client.query("select 1 from pg_stat_activity where datname = any($1)", [names]);
        return rows.length;
      });
    while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  };

  it.each([
    { name: "from the laptop to a server, before a write", from: () => laptop, to: database, late: false },
    { name: "from the laptop to a server, at a commit", from: () => laptop, to: database, late: true },
    {
      name: "from a server to the laptop",
      from: () => server,
      to: async () => ({ dir: join(root, "back") }),
      late: true,
    },
  ])("$name", async ({ name, from, to, late }) => {
    const death: Death = { from: from(), to: await to(), at: (SEED + name.length) % writes, late };
    const words = `seed ${SEED}: ${JSON.stringify(death)} of ${writes}`;
    const child = spawn(process.execPath, [compiled("move-victim"), JSON.stringify(death)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    await once(child, "close");
    expect(child.signalCode, words).toBe("SIGKILL");
    await buried();
    const [source, target] = [await openPlace(death.from, false), await openPlace(death.to, false)];
    const moved = await moveStore({ source, target, scratch: undefined, tell: () => undefined });
    if (death.at >= prepared) expect(moved.start, words).toBe("resume");
    else expect(["new", "anew", "resume"], words).toContain(moved.start);
    expect(await everything(target), words).toEqual(wanted);
    expect(await everything(source), words).toEqual(wanted);
    await Promise.all([source.close(), target.close()]);
  });
});
