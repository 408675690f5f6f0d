import { acquireLock } from "../../src/engine/adapters/files/lock.ts";

const uid = Number(process.argv[3] ?? 0);
if (uid !== 0) {
  process.setgid?.(uid);
  process.setuid?.(uid);
}

/** Prints `held` or `refused`; a holder stays until it is killed or its stdin ends. */
const lock = await acquireLock(process.argv[2] ?? "");
process.stdout.write(lock === undefined ? "refused\n" : "held\n");
if (lock !== undefined) {
  process.stdin.resume();
  process.stdin.on("end", () => lock.release());
}
