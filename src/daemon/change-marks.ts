/**
 * A small file for each butler that the owner writes when the memory has changed. Whoever follows a memory watches these files: that
 * costs nothing while nothing happens, and keeps no owner awake and no store open.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUTLER_NAME } from "./config/config.ts";
import type { Home } from "./home.ts";

const ENDING = ".changed";

export const changeMark = (home: Home, butler: string): string => join(home.logs, `${butler}${ENDING}`);

/** Never fails: a full disk must not keep a memory from being written. */
export function markChanged(home: Home, butler: string, now: Date): void {
  try {
    writeFileSync(changeMark(home, butler), `${now.toISOString()}\n`, { mode: 0o600 });
  } catch {
    // Whoever follows sees it with the next change.
  }
}

/** The butler whose mark a file in the logs is. */
export function butlerOfMark(name: string): string | undefined {
  const butler = name.endsWith(ENDING) ? name.slice(0, -ENDING.length) : "";
  return BUTLER_NAME.test(butler) ? butler : undefined;
}
