import { acquireLock } from "../../src/adapters/lock.ts";

/** Prints `held` or `refused`; a holder stays until it is killed or its stdin ends. */
const lock = await acquireLock(process.argv[2] ?? "");
process.stdout.write(lock === undefined ? "refused\n" : "held\n");
if (lock !== undefined) {
  process.stdin.resume();
  process.stdin.on("end", () => lock.release());
}
