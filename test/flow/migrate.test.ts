/** A memory is moved from the embedded store to a server and back, and is the same. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openPglite, type PgliteDb } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { moveStore, planMove } from "../../src/engine/memory/move/move-store.ts";
import { everything, furnishForMove, openMoved } from "../support/moved-life.ts";
import { administer, freshDatabase, type TestDatabase } from "../support/postgres.ts";
import { migratedSnapshot } from "../support/stores.ts";

const tell = () => undefined;

describe.skipIf(inject("postgresUrl") === undefined)("moving a memory", () => {
  const closing: (() => Promise<unknown>)[] = [];
  let life: Uint8Array;

  const embedded = async (snapshot?: Uint8Array): Promise<PgliteDb> => {
    const db = await openPglite({ dir: undefined, snapshot: snapshot ?? (await migratedSnapshot()) });
    closing.push(() => db.close());
    return db;
  };
  const server = async (): Promise<Db & { database: TestDatabase }> => {
    const database = await freshDatabase(inject("postgresUrl") ?? "");
    const db = await openPostgres({ url: database.url, applicationName: "mover" });
    closing.push(async () => {
      await db.close();
      await database.drop();
    });
    return Object.assign(db, { database });
  };

  beforeAll(async () => {
    const db = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
    await furnishForMove({ ...db, close: async () => undefined });
    life = await db.dump();
    await db.close();
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  it("there and back: every row of every table is the same, replay agrees, and the copy answers alike", async () => {
    const source = await embedded(life);
    const before = await everything(source);
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([
      ["event_checkpoints", []],
      ["job_runs", []],
    ]);
    // Drawn so that one refers to a later one: the order of ids is not enough.
    const [waited] = await source.query<{ older: boolean }>(
      "select bool_or(id < supersedes_id) as older from facts where supersedes_id is not null",
    );
    expect(waited?.older).toBe(true);

    const away = await server();
    const shown: string[] = [];
    const scratch = async () => openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
    const there = await moveStore({
      ...{ source, target: away, scratch },
      tell: ({ what, done, total }) => {
        expect(done).toBeLessThanOrEqual(total);
        if (!shown.includes(what)) shown.push(what);
      },
    });
    expect(there).toMatchObject({ start: "new", replayed: before.memory_events?.length });
    expect(there.compared).toBe(Object.values(before).flat().length);
    expect(shown).toEqual(expect.arrayContaining(["copying episodes", "comparing memory events", "replaying events"]));
    expect(await everything(away)).toEqual(before);
    expect(await everything(source)).toEqual(before);

    const home = await embedded();
    const back = await moveStore({ source: away, target: home, scratch, tell });
    expect(back).toMatchObject({ start: "new", compared: there.compared });
    expect(await everything(home)).toEqual(before);

    const [here, copy] = [await openMoved(source), await openMoved(home)];
    const found = async (rig: typeof here) =>
      (await rig.call("memory_search", { query: "heron w17w", limit: 5 })).results.map(({ id }: { id: string }) => id);
    expect(await found(copy)).toEqual(await found(here));
    // Numbers go on where they were: new rows meet no old ones.
    await copy.call("memory_store_episode", { content: "Something new after the move" });
    await Promise.all([here, copy].map((rig) => rig.settled()));
  });

  it("goes on after an interruption, starts anew when the memory has changed, and is not opened meanwhile", async () => {
    const source = await embedded(life);
    const target = await server();
    const move = (into: Db) => moveStore({ source, target: into, scratch: undefined, tell });
    const stopped = (into: Db, at: string) =>
      moveStore({
        ...{ source, target: into, scratch: undefined },
        tell: ({ what }) => {
          if (what === at) throw new Error("stopped");
        },
      });
    await expect(stopped(target, "copying memory events")).rejects.toThrow("stopped");
    await expect(openMoved(target)).rejects.toThrow(/unfinished copy.*butler migrate/);
    expect(await planMove(source, target)).toMatchObject({ start: "resume" });
    const rest = await move(target);
    expect(rest.start).toBe("resume");
    expect(rest.copied).toBeLessThan(rest.compared);
    expect(await everything(target)).toEqual(await everything(source));

    const second = await server();
    await expect(stopped(second, "comparing episodes")).rejects.toThrow("stopped");
    const rig = await openMoved(source);
    await rig.call("memory_store_episode", { content: "Said between two attempts" });
    await rig.settled();
    expect(await move(second)).toMatchObject({ start: "anew" });
    expect(await everything(second)).toEqual(await everything(source));
  });

  it("refuses a target with other memories, a database in use, and a store that has nothing or is not ready", async () => {
    const source = await embedded(life);
    const other = await embedded();
    const rig = await openMoved(other);
    await rig.call("memory_store_fact", { subject: "cat", predicate: "name", content: "Molly" });
    await rig.settled();
    const before = await everything(other);
    const refused = moveStore({ source, target: other, scratch: undefined, tell });
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", message: /holds other memories/ });
    expect(await everything(other)).toEqual(before);

    const busy = await server();
    await administer(busy.database.url, async () => {
      const move = moveStore({ source, target: busy, scratch: undefined, tell });
      await expect(move).rejects.toMatchObject({ code: "unavailable", message: /in use.*butler stop/ });
    });
    expect(await planMove(await embedded(), undefined)).toMatchObject({ start: "nothing" });
    // An empty memory that was opened once makes way.
    const opened = await embedded();
    await openMoved(opened);
    expect(await moveStore({ source, target: opened, scratch: undefined, tell })).toMatchObject({ start: "new" });
    expect(await everything(opened)).toEqual(await everything(source));
  });

  it("says so when rows do not follow from their events, and moves them all the same if asked to", async () => {
    const source = await embedded(life);
    await source.query("update facts set content = 'changed' where subject = 's1'");
    const target = await embedded();
    const scratch = async () => openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
    await expect(moveStore({ source, target, scratch, tell })).rejects.toMatchObject({
      code: "integrity",
      message: /butler replay --verify.*--skip-replay/,
    });
    expect(await moveStore({ source, target, scratch: undefined, tell })).toMatchObject({ start: "resume" });
    expect(await everything(target)).toEqual(await everything(source));
  });
});
