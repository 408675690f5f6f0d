/** Lets a thread give way to the others where cores are short. */
import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** Stands this thread so many steps of "nice" behind where it is now. Only Linux has a priority for each thread; elsewhere nothing changes. */
export function stepBehind(steps: number): void {
  if (steps === 0) return;
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(thread) + steps));
  } catch {
    // Not Linux, or not allowed: all are equal then.
  }
}
