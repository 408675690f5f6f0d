/** Waits until something has happened in a home, without asking anybody. */
import { type FSWatcher, mkdirSync, readdirSync, statSync, watch } from "node:fs";
import { basename, join } from "node:path";
import { butlerOfMark } from "../../daemon/change-marks.ts";
import type { Home } from "../../daemon/home.ts";
import { sessionLogFile } from "../../hosts/sessions/session-log.ts";

export interface Wake {
  /** Butlers whose memory has changed. */
  readonly butlers: ReadonlySet<string>;
  /** An owner has started or gone, or sessions were logged. */
  readonly other: boolean;
}

export interface HomeWatch {
  /** Undefined when the signal has ended it. */
  next(): Promise<Wake | undefined>;
  close(): void;
}

/** Changes that come this soon after another are told together. */
const SETTLE_MS = 100;
/** Where the system cannot watch folders, or has no watch left, the files are looked at. */
const LOOK_MS = 1_000;

export function watchHome(home: Home, signal: AbortSignal): HomeWatch {
  const butlers = new Set<string>();
  let other = false;
  let wake: (() => void) | undefined;
  const happened = (name: string) => {
    const butler = butlerOfMark(name);
    if (butler !== undefined) butlers.add(butler);
    else if (name === basename(sessionLogFile(home)) || name === basename(home.ownerFile)) other = true;
    else return;
    wake?.();
  };
  const ends = [home.logs, home.run].map((folder) => watchFolder(folder, happened));
  const onAbort = () => wake?.();
  signal.addEventListener("abort", onAbort);
  return {
    async next() {
      while (butlers.size === 0 && !other && !signal.aborted)
        await new Promise<void>((done) => {
          wake = done;
        });
      if (!signal.aborted) await new Promise((done) => setTimeout(done, SETTLE_MS));
      if (signal.aborted) return undefined;
      const woken = { butlers: new Set(butlers), other };
      butlers.clear();
      other = false;
      return woken;
    },
    close() {
      signal.removeEventListener("abort", onAbort);
      for (const end of ends) end();
    },
  };
}

function watchFolder(folder: string, happened: (name: string) => void): () => void {
  let watcher: FSWatcher | undefined;
  let looking: (() => void) | undefined;
  const look = () => {
    watcher?.close();
    looking ??= lookAt(folder, happened);
  };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    watcher = watch(folder, (_, name) => {
      if (name !== null) happened(name);
    }).on("error", look);
  } catch {
    look();
  }
  return () => {
    watcher?.close();
    looking?.();
  };
}

function lookAt(folder: string, happened: (name: string) => void): () => void {
  let before = timesIn(folder);
  const timer = setInterval(() => {
    const now = timesIn(folder);
    for (const name of new Set([...now.keys(), ...before.keys()]))
      if (now.get(name) !== before.get(name)) happened(name);
    before = now;
  }, LOOK_MS);
  return () => clearInterval(timer);
}

function timesIn(folder: string): Map<string, number | undefined> {
  try {
    const names = readdirSync(folder);
    return new Map(names.map((name) => [name, statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs]));
  } catch {
    return new Map();
  }
}
