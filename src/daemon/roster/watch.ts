/** Applies a changed roster while the owner runs. A faulty one is logged and not applied: the former one stays in force. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../engine/adapters/log.ts";
import { messageOf, reasonOf } from "../../engine/domain/errors.ts";
import type { Reloaded } from "../owner/served-butlers.ts";
import { loadRoster, type Roster } from "./roster.ts";

export interface WatchParts {
  readonly folder: string;
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

export function watchRoster({ folder, log, apply, everyMs = EVERY_MS }: WatchParts): RosterWatch {
  let seen = stampOf(folder);
  let fault: string | undefined;

  function reload(): void {
    seen = stampOf(folder);
    try {
      const { added, changed, removed } = apply(loadRoster(folder));
      fault = undefined;
      if (added.length + changed.length + removed.length > 0)
        log.info({ added, changed, removed }, "the roster has changed");
    } catch (error) {
      fault = messageOf(error);
      log.error({ reason: fault }, "the changed roster cannot be used; the former one goes on");
    }
  }

  const timer = setInterval(() => {
    if (stampOf(folder) !== seen) reload();
  }, everyMs).unref();

  return { reload, fault: () => fault, stop: () => clearInterval(timer) };
}

function stampOf(folder: string): string {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => {
        const stat = statSync(join(folder, name, "butler.toml"), { throwIfNoEntry: false });
        return stat ? `${name} ${stat.mtimeMs} ${stat.ino} ${stat.size}` : "";
      })
      .join("\n");
  } catch (error) {
    return `unreadable: ${reasonOf(error)}`;
  }
}
