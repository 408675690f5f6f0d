/** The time of the processes under test: see `slow-time/slow-time.mjs`. */
import { fileURLToPath } from "node:url";

const at = (path: string) => new URL(path, import.meta.url);

export const SLOW_TIME = { NODE_OPTIONS: `--import=${at("slow-time/slow-time.mjs")}` };

/** For tests about somebody who does not answer in time. */
export const REAL_TIME = { NODE_OPTIONS: "" };

/** A `curl` before the others, where time is slow. */
export const pathOf = (path: string, { NODE_OPTIONS = "" }: Readonly<Record<string, string>>): string =>
  NODE_OPTIONS === SLOW_TIME.NODE_OPTIONS ? `${fileURLToPath(at("slow-time"))}:${path}` : path;

/** For a script that ends with `process.exit()`: loading a thread from its sources may take longer than the five seconds that an exit waits. */
export const PATIENT_EXIT =
  "const wait = Atomics.wait; Atomics.wait = (gate, at, value, ms) => wait(gate, at, value, 20 * ms);";
