/** Moves a store and is killed on the way: a real kill -9 by its own hand, before a write to the target that the test chose. */
import { fileURLToPath } from "node:url";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { moveStore } from "../../src/engine/memory/move/move-store.ts";
import { openPlace, type Place } from "./job-victim.ts";

export interface Death {
  readonly from: Place;
  readonly to: Place;
  /** The number of the transaction of the target in which it dies, from 0. */
  readonly at: number;
  /** With all statements done and the commit asked for. */
  readonly late: boolean;
}

/** Tells each transaction of a target, before it begins and before it ends. */
export const gatedTarget = (db: Db, pass: (late: boolean) => void): Db =>
  wrapDb(db, (given) => ({
    tx: (work) => {
      pass(false);
      return given.tx(async (sql) => {
        const result = await work(sql);
        pass(true);
        return result;
      });
    },
  }));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { from, to, at, late } = JSON.parse(process.argv[2] ?? "") as Death;
  let passed = 0;
  const target = gatedTarget(await openPlace(to), (ending) => {
    if (ending === late && passed++ === at) process.kill(process.pid, "SIGKILL");
  });
  await moveStore({ source: await openPlace(from), target, scratch: undefined, tell: () => undefined });
}
