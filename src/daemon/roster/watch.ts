/** Applies a changed roster while the owner runs. A faulty one is logged and not applied: the former one stays in force. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../engine/adapters/log.ts";
import { messageOf, reasonOf } from "../../engine/domain/errors.ts";
import type { Reloaded } from "../owner/served-butlers.ts";
import { loadRoster, type Roster } from "./roster.ts";

export interface WatchParts {
  readonly folder: string | undefined;
  /** Where there is no roster. */
  readonly settingsFile: string;
  readonly log: Log;
  apply(roster: Roster): Reloaded;
  readonly everyMs?: number;
}

export interface RosterWatch {
  /** Reads the roster again, changed or not. */
  reload(): void;
  /** Why the roster on disk is not in force. */
  fault(): string | undefined;
  stop(): void;
}

/** The folder is polled: file system events are lost on network drives and in containers. */
const EVERY_MS = 2_000;

export function watchRoster({ folder, settingsFile, log, apply, everyMs = EVERY_MS }: WatchParts): RosterWatch {
  const stamp = () => (folder === undefined ? stampOfFile(settingsFile) : stampOf(folder));
  let seen = stamp();
  let fault: string | undefined;

  function reload(): void {
    seen = stamp();
    try {
      const { added, changed, removed } = apply(loadRoster(folder, settingsFile));
      fault = undefined;
      if (added.length + changed.length + removed.length > 0)
        log.info({ added, changed, removed }, "the roster has changed");
    } catch (error) {
      fault = messageOf(error);
      log.error({ reason: fault }, "the changed roster cannot be used; the former one goes on");
    }
  }

  const timer = setInterval(() => {
    if (stamp() !== seen) reload();
  }, everyMs).unref();

  return { reload, fault: () => fault, stop: () => clearInterval(timer) };
}

function stampOfFile(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat ? `${stat.mtimeMs} ${stat.ino} ${stat.size}` : "";
  } catch (error) {
    return `unreadable: ${reasonOf(error)}`;
  }
}

function stampOf(folder: string): string {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => `${name} ${stampOfFile(join(folder, name, "butler.toml"))}`)
      .join("\n");
  } catch (error) {
    return `unreadable: ${reasonOf(error)}`;
  }
}
