/** Which statements a replica answers, by where it and the primary are: real replicas are in flow/planes.test.ts. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { planesDb } from "../../src/engine/adapters/db/planes.ts";
import type { Db, Row } from "../../src/engine/adapters/db/port.ts";

const MEGABYTE = 1 << 20;

/** A primary and one replica that are wherever a test puts them, and answer with their names. */
function planes(at: { primary: number; replica: number }) {
  const places = { ...at, down: false };
  let nowMs = 0;
  const position = (n: number) => `0/${n.toString(16)}`;
  const server = (name: string, where: () => Row[], rows: () => Row[] = () => [{ by: name }]): Db => {
    const db: Db = {
      kind: "postgres",
      query: async <R>(text: string) => {
        if (name === "primary" && places.down) throw Object.assign(new Error("gone"), { code: "08006" });
        return (/pg_/.test(text) ? where() : rows()) as R[];
      },
      tx: () => Promise.reject(new Error("no transactions here")),
      exec: () => Promise.reject(new Error("no scripts here")),
      withSettings: () => db,
      close: async () => undefined,
    };
    return db;
  };
  const primary = server("primary", () => [{ at: position(places.primary) }]);
  let rows = (): Row[] => [{ by: "replica" }];
  const replica = server(
    "replica",
    () => [{ follows: true, at: position(places.replica) }],
    () => rows(),
  );
  const told: (string | undefined)[] = [];
  const db = planesDb(primary, [{ name: "r", open: async () => replica }], {
    ...{ tenantSetting: "tenant", mostLagSeconds: 10, nowMs: () => nowMs },
    tell: (_, reason) => told.push(reason),
  });
  const read = async () => {
    const [row] = (await db.reading?.().query<{ by: string }>("select 1")) ?? [];
    return row?.by;
  };
  return {
    ...{ db, places, told, read },
    answer(with_: () => Row[]) {
      rows = with_;
    },
    /** The time goes on, everybody is asked where it is, and has answered. */
    async later(seconds: number) {
      nowMs += seconds * 1_000;
      await read();
      await new Promise((done) => setImmediate(done));
    },
  };
}

it("one that is behind when it is first asked is not read until it has what the primary had then", async () => {
  const { places, read, later } = planes({ primary: 100, replica: 40 });
  for (let second = 0; second < 8; second++) {
    await later(1);
    expect(await read()).toBe("primary");
  }
  // The primary has gone on meanwhile; what it had at first is what counts, as for one that is read already.
  Object.assign(places, { primary: 300, replica: 120 });
  await later(1);
  expect(await read()).toBe("replica");
});

it("one that stood still while nobody looked is not read before somebody has", async () => {
  const { places, read, later } = planes({ primary: 100, replica: 100 });
  await later(1);
  expect(await read()).toBe("replica");
  places.primary = 200;
  await later(3_600);
  expect(await read()).toBe("primary");
  places.replica = 200;
  await later(1);
  expect(await read()).toBe("replica");
  // Where both have moved on, nobody waits for the next look.
  Object.assign(places, { primary: 300, replica: 300 });
  await later(3_600);
  expect(await read()).toBe("replica");
});

it("without the primary one that was read before goes on, also after a time without looks", async () => {
  const { places, read, later, told } = planes({ primary: 100, replica: 100 });
  await later(1);
  places.down = true;
  await later(3_600);
  expect(await read()).toBe("replica");
  expect(told).toEqual([undefined]);
});

it("what a replica has answered is not kept", async () => {
  const { read, later, answer, db } = planes({ primary: 100, replica: 100 });
  await later(1);
  expect(await read()).toBe("replica");
  answer(() => [{ by: "x".repeat(MEGABYTE).split("").join("-") }]);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as () => void;
  const used = async () => {
    for (let time = 0; time < 3; time++) {
      await new Promise((done) => setImmediate(done));
      collect();
    }
    return process.memoryUsage().heapUsed;
  };
  const before = await used();
  for (let time = 0; time < 20; time++) await db.reading?.().query("select 1");
  expect((await used()) - before).toBeLessThan(8 * MEGABYTE);
});
