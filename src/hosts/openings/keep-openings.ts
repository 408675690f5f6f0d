/**
 * Keeps the openings of an owner's butlers: one for each project that was used lately, and one of the butler itself. They are written when
 * memory has been quiet for a moment after a change, never while somebody waits, and at least twice a day.
 */

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../daemon/home.ts";
import { within } from "../../daemon/pause.ts";
import type { Roster } from "../../daemon/roster/roster.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { faultOf } from "../hooks/fault.ts";
import type { SessionContext } from "../hooks/session-context.ts";
import { projectOf, rootPlace } from "../projects/project.ts";
import { type KnownProjects, knownProjects } from "./known-projects.ts";
import {
  markChanging,
  openingFile,
  removeOpening,
  removeOpenings,
  unmarkChanging,
  writeOpening,
} from "./opening-file.ts";
import { butlersIn } from "./openings-state.ts";

export interface OpeningsParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly log: Log;
  /** Butlers whose memory is in a store of this home. Of others nobody here knows when they change. */
  butlers(): Roster;
  readonly roster: string | undefined;
  /** What a session of the project is told that starts now, or without a project what belongs to the butler itself; rejects when memory does not answer. */
  compose(butler: string, project: string | undefined): Promise<Pick<SessionContext, "text" | "tokens" | "told">>;
  readonly quietMs?: number;
  readonly everyMs?: number;
}

export interface Openings {
  /** A session is in this folder. */
  seen(butler: string, folder: string): void;
  /** Before something is taken out of a memory; the returned function is to be called when it is out. */
  taking(butler: string): () => void;
  /** A memory was written to. */
  changed(butler: string): void;
  /** The roster is another one. */
  reloaded(): void;
  start(): void;
  /** Writes what is due; resolves when it is done. */
  flush(): Promise<void>;
  busy(): boolean;
  /** Writes what is due after the last work has been stored, if that is soon done. */
  stop(stored?: Promise<void>): Promise<void>;
}

const QUIET_MS = 1_000;
/** In a memory that is written to all the time, openings are this old at most. */
const LONGEST_MS = 10_000;
const EVERY_MS = 30 * 60_000;
/** An opening may be told for a day. */
const RENEWED_AFTER_MS = 12 * 3_600_000;
/** A starting owner has others to answer first. */
const CALM_MS = 2_000;
/** Each of them has its store opened at the start. */
const MOST_AT_START = 3;
const STOP_MS = 2_000;

/** Stands for the butler's own opening among the roots. */
const OWN = "";

interface Kept {
  readonly butler: string;
  readonly projects: KnownProjects;
  /** Roots whose openings are to be written. */
  readonly due: Set<string>;
  /** When each was written by this process, in milliseconds since 1970. */
  readonly written: Map<string, number>;
  /** Calls under way that take something out. */
  taking: number;
  /** Hooks know that memory has changed since the openings were written. */
  changing: boolean;
  /** Grows with each of them: what was read before is not written any more. */
  generation: number;
}

interface OpeningsState {
  readonly parts: OpeningsParts;
  readonly kept: Map<string, Kept>;
  readonly timers: Set<NodeJS.Timeout>;
  quiet: NodeJS.Timeout | undefined;
  dueSince: number | undefined;
  writing: Promise<void> | undefined;
  /** The owner is leaving, and may refuse to be asked. */
  leaving: boolean;
  stopped: boolean;
}

export function keepOpenings(parts: OpeningsParts): Openings {
  const state: OpeningsState = {
    parts,
    kept: new Map(),
    timers: new Set(),
    quiet: undefined,
    dueSince: undefined,
    writing: undefined,
    leaving: false,
    stopped: false,
  };
  return {
    seen: (butler, folder) => seen(state, butler, folder),
    taking: (butler) => taking(state, butler),
    changed: (butler) => changed(state, keptOf(state, butler)),
    reloaded() {
      dropOthers(state);
      // Its tenant may be another one, or its memory switched off.
      for (const { name } of parts.butlers()) taking(state, name)();
    },
    start: () => start(state),
    flush: () => flush(state),
    busy: () => state.quiet !== undefined || state.writing !== undefined,
    stop: (stored) => stop(state, stored),
  };
}

/** Where no opening may be kept: those of an earlier owner would tell what they hold for the rest of their day. */
export const removeAllOpenings = (home: Home): void => rmSync(home.openings, { recursive: true, force: true });

function keptOf({ parts, kept }: OpeningsState, butler: string): Kept | undefined {
  if (!parts.butlers().some(({ name }) => name === butler)) return undefined;
  const known = kept.get(butler);
  if (known) return known;
  const projects = knownProjects(parts.home, butler);
  // Of an owner that was killed; this one writes them all anew.
  unmarkChanging(parts.home, butler);
  const made = {
    butler,
    projects,
    due: new Set<string>(),
    written: new Map(),
    taking: 0,
    changing: false,
    generation: 0,
  };
  kept.set(butler, made);
  return made;
}

function seen(state: OpeningsState, butler: string, folder: string): void {
  const kept = keptOf(state, butler);
  const root = rootPlace(folder)?.root;
  if (!kept || root === undefined || openingFile(state.parts.home, butler, root) === undefined) return;
  for (const gone of kept.projects.use(root, state.parts.clock.now())) drop(state, kept, gone);
  // One that is due already is not put off by being wanted again.
  const old = [OWN, root].filter((one) => !kept.due.has(one) && isOld(state, kept, one));
  for (const one of old) kept.due.add(one);
  if (old.length > 0) schedule(state);
}

function isOld({ parts }: OpeningsState, { butler, written }: Kept, root: string): boolean {
  const file = openingFile(parts.home, butler, root === OWN ? undefined : root);
  const since = parts.clock.now().getTime() - (written.get(root) ?? 0);
  return since >= RENEWED_AFTER_MS || file === undefined || !existsSync(file);
}

function changed(state: OpeningsState, kept: Kept | undefined): void {
  if (!kept || !allDue(state, kept) || kept.changing) return;
  kept.changing = true;
  attempt(state, kept, () => markChanging(state.parts.home, kept.butler));
}

/** The files are a copy: that they cannot be written or removed fails no call. */
function attempt({ parts }: OpeningsState, { butler }: Kept, work: () => void): void {
  try {
    work();
  } catch (error) {
    parts.log.error({ butler, reason: faultOf(error) }, "openings cannot be written; they are told for a day at most");
  }
}

function taking(state: OpeningsState, butler: string): () => void {
  const kept = keptOf(state, butler);
  if (!kept) return () => undefined;
  kept.taking += 1;
  kept.generation += 1;
  attempt(state, kept, () => removeOpenings(state.parts.home, butler));
  let done = false;
  return () => {
    if (done) return;
    done = true;
    kept.taking -= 1;
    kept.generation += 1;
    allDue(state, kept);
  };
}

/** False: nothing is kept for a butler that no hook has ever come from. */
function allDue(state: OpeningsState, kept: Kept): boolean {
  const roots = kept.projects.roots();
  if (roots.length === 0) return false;
  for (const root of [OWN, ...roots]) kept.due.add(root);
  schedule(state);
  return true;
}

function schedule(state: OpeningsState): void {
  if (state.stopped) return;
  state.dueSince ??= performance.now();
  const left = state.dueSince + LONGEST_MS - performance.now();
  clearTimeout(state.quiet);
  const wait = Math.max(0, Math.min(state.parts.quietMs ?? QUIET_MS, left));
  state.quiet = setTimeout(() => void flush(state), wait).unref();
}

function flush(state: OpeningsState): Promise<void> {
  clearTimeout(state.quiet);
  state.quiet = undefined;
  state.dueSince = undefined;
  const before = state.writing ?? Promise.resolve();
  const writing = before
    .then(async () => {
      for (const kept of state.kept.values()) await writeDue(state, kept);
    })
    .finally(() => {
      if (state.writing === writing) state.writing = undefined;
    });
  state.writing = writing;
  return writing;
}

async function writeDue(state: OpeningsState, kept: Kept): Promise<void> {
  const { butler, projects, due } = kept;
  const roots = projects.roots();
  if (roots.length === 0) due.clear();
  if (due.size === 0) return;
  // The one that was used last is wanted first.
  for (const root of [OWN, ...roots]) if (due.delete(root)) await writeOne(state, kept, root);
  for (const root of due) if (root !== OWN && !projects.roots().includes(root)) due.delete(root);
  attempt(state, kept, () => projects.save());
  // A change that came meanwhile is written next.
  if (due.size > 0) return;
  kept.changing = false;
  attempt(state, kept, () => unmarkChanging(state.parts.home, butler));
}

async function writeOne(state: OpeningsState, kept: Kept, root: string): Promise<void> {
  const { home, clock, log, compose } = state.parts;
  const { butler, generation } = kept;
  const began = clock.now();
  const place = root === OWN ? undefined : rootPlace(root);
  const file = openingFile(home, butler, place?.root);
  // The folder is gone, or belongs to another project now.
  if (file === undefined || (root !== OWN && place?.root !== root)) return drop(state, kept, root);
  try {
    const { text, tokens, told } = await compose(butler, place && projectOf(place.root).key);
    if (state.stopped || kept.taking > 0 || kept.generation !== generation) return;
    writeOpening(file, { text, tokens, ids: told, place, began, ...conditionsOf(state, butler) });
    kept.written.set(root, began.getTime());
  } catch (error) {
    // One that cannot be renewed is not told either; that an owner which leaves is not asked any more says nothing about it.
    if (state.leaving) return;
    attempt(state, kept, () => removeOpening(home, file));
    log.warn({ butler, reason: faultOf(error) }, "an opening could not be kept; its sessions ask the owner");
  }
}

/** The store may be deleted by hand, and the settings of the butler may change while no owner is running. */
function conditionsOf({ parts }: OpeningsState, butler: string) {
  const { home, roster } = parts;
  return {
    roster,
    needs: [home.store(butler)],
    after: [roster === undefined ? home.settingsFile : join(roster, butler, "butler.toml")].filter((file) =>
      existsSync(file),
    ),
  };
}

function drop({ parts }: OpeningsState, kept: Kept, root: string): void {
  const file = openingFile(parts.home, kept.butler, root);
  kept.projects.remove(root);
  kept.due.delete(root);
  if (file !== undefined) removeOpening(parts.home, file);
}

function start(state: OpeningsState): void {
  dropOthers(state);
  const later = setTimeout(() => {
    const lately = state.parts
      .butlers()
      .flatMap(({ name }) => keptOf(state, name) ?? [])
      .toSorted((a, b) => b.projects.lastUsed() - a.projects.lastUsed());
    for (const kept of lately.slice(0, MOST_AT_START)) allDue(state, kept);
  }, CALM_MS).unref();
  const often = setInterval(() => {
    for (const kept of state.kept.values())
      if (kept.written.size > 0 && [...kept.written.keys()].some((root) => isOld(state, kept, root)))
        allDue(state, kept);
  }, state.parts.everyMs ?? EVERY_MS).unref();
  state.timers.add(later).add(often);
}

/** Openings of butlers that are not served here any more. */
function dropOthers({ parts, kept }: OpeningsState): void {
  const served = new Set(parts.butlers().map(({ name }) => name));
  for (const name of butlersIn(parts.home)) {
    if (served.has(name)) continue;
    kept.delete(name);
    rmSync(join(parts.home.openings, name), { recursive: true, force: true });
  }
}

async function stop(state: OpeningsState, stored: Promise<void> | undefined): Promise<void> {
  state.leaving = true;
  for (const timer of state.timers) clearTimeout(timer);
  await stored;
  const due = state.quiet !== undefined || state.writing !== undefined;
  if (due) await within(STOP_MS, flush(state));
  state.stopped = true;
  clearTimeout(state.quiet);
}
