/** Lets a thread of this process give way to the others where cores are short: what it does is waited for by nobody, or by fewer. */
import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** `steps` of "nice". Only Linux has a priority for each thread; elsewhere nothing changes. */
export function giveWay(steps: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(thread) + steps));
  } catch {
    // Not Linux, or not allowed: all threads are equal then.
  }
}
