/** Runs an owner with its doors in this process: what `butler up` and `butler own` have in common. */
import { basename } from "node:path";
import type { RefusalBook } from "../../daemon/audit/refusal-book.ts";
import { markChanged } from "../../daemon/change-marks.ts";
import { readDaemonSettings } from "../../daemon/config/daemon-config.ts";
import type { LimitSettings } from "../../daemon/config/daemon-schema.ts";
import { type Home, ownPaths } from "../../daemon/home.ts";
import { callLimits } from "../../daemon/limits/limited-call.ts";
import { createOwner, type Owner } from "../../daemon/owner/owner.ts";
import { databaseMark } from "../../daemon/owner/owner-file.ts";
import type { OwnerChanges } from "../../daemon/owner/owner-state.ts";
import { reasonToLeave } from "../../daemon/owner/reason-to-leave.ts";
import { type RunningOwner, serveOwner } from "../../daemon/owner/serve-owner.ts";
import type { Roster } from "../../daemon/roster/roster.ts";
import { watchRoster } from "../../daemon/roster/watch.ts";
import { notesInFile, notesInMemory } from "../../daemon/schedule/notes.ts";
import { ensureHomeToken } from "../../daemon/tokens/tokens.ts";
import { through } from "../../doors/backend.ts";
import type { Refusals } from "../../doors/refusals.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Lock } from "../../engine/adapters/files/lock.ts";
import { closeTree } from "../../engine/adapters/files/private-files.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import { policyOf } from "../../engine/domain/redaction/policy.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";
import { hookAnswerer } from "../../hosts/hooks/answer-hook.ts";
import { createPickup, type Pickup } from "../../hosts/hooks/spool/pickup.ts";
import type { Openings } from "../../hosts/openings/keep-openings.ts";
import { prepareSession } from "../../hosts/sessions/prepare.ts";
import { noteSession } from "../../hosts/sessions/session-log.ts";
import type { Environment } from "../environment.ts";
import { version } from "../version.ts";
import type { EarlyStore } from "../wiring/early-store.ts";
import { clockAt, engineOpener } from "../wiring/engines.ts";
import { sharedModels } from "../wiring/models.ts";
import { remoteOf } from "../wiring/remote.ts";
import { checkDatabase, peekInto, storeJobs } from "../wiring/stores.ts";
import { followers, homeReads } from "./home-reads.ts";
import { hostNames } from "./host-names.ts";
import { programFiles } from "./launch.ts";
import { collectGarbage, makeRoomSoon } from "./light-process.ts";
import { type LocalCallers, localCallers } from "./local-callers.ts";
import { mcpLines } from "./mcp-lines.ts";
import { type News, newsCounter } from "./news.ts";
import { openingsFor } from "./openings.ts";
import { ownerDoors } from "./owner-doors.ts";
import { refusalsOf } from "./refusals.ts";

export interface OwnerProcessParts {
  readonly environment: Environment;
  readonly home: Home;
  readonly lock: Lock;
  readonly roster: Roster;
  readonly log: Log;
  /** `up` listens on a port and stays; `auto` serves only the socket and leaves when nobody needs it. */
  readonly mode: "up" | "auto";
  readonly early?: EarlyStore | undefined;
}

export async function runOwner(parts: OwnerProcessParts): Promise<RunningOwner> {
  const { environment, home, lock, log, mode } = parts;
  // What this process and its children write is for its user alone.
  process.umask(0o077);
  closeHome(home, log);
  const settings = readDaemonSettings(home);
  const clock = clockAt(environment.now);
  await ensureHomeToken(home, clock.now());

  const news = newsCounter();
  const following = followers();
  let openings: Openings | undefined;
  const metrics = mode === "up" ? (await import("../metrics/registry.ts")).openMetrics(version) : undefined;
  const refusals: RefusalBook = refusalsOf({ home, log, clock, meter: metrics?.meter, owner: () => owner });
  const owner: Owner = ownerOf(parts, clock, metrics?.meter, refusals, settings.limits, {
    changed(butler, tool) {
      markChanged(home, butler, clock.now());
      news.changed(butler, tool);
      following.changed(butler);
      openings?.changed(butler);
    },
    taking: (butler) => openings?.taking(butler) ?? (() => undefined),
  });
  // A client has started this owner and waits for it.
  if (mode === "auto") owner.warm();
  const callers = localCallers(owner.roster);
  openings = openingsFor(parts, owner, callers, clock);
  const pickup = pickupFor(parts, owner, callers, clock);
  const watch = watchRoster({
    folder: environment.roster,
    settingsFile: home.settingsFile,
    log,
    apply: (roster) => {
      const reloaded = owner.reload(roster);
      openings?.reloaded();
      return reloaded;
    },
  });
  const throughHook = through(owner, "hook");
  const streams = new AbortController();
  let boundPort = environment.port;
  const doors = ownerDoors({
    home,
    settings,
    log,
    owner,
    refusals,
    callers,
    hook: hookAnswerer({
      home,
      clock,
      log,
      pickup,
      remembers: remembersIn(owner),
      notices: noticesIn(owner, news),
      policy: policyIn(owner),
      invoke: throughHook.invoke,
      outcome(butler, outcome) {
        owner.hooked(butler, outcome);
        makeRoomSoon();
      },
      seen: (butler, folder) => openings?.seen(butler, folder),
    }),
    reads: homeReads({ environment, home, owner, clock, follow: following.follow }),
    meter: metrics?.meter,
    metrics: metrics?.door(
      { standings: owner.standings, now: () => clock.now(), inFlight: owner.inFlight },
      environment.metricsOpen,
    ),
    rosterFault: watch.fault,
    hostNames: () => hostNames(environment, boundPort),
    signal: streams.signal,
  });

  const running = await serveOwner({
    home,
    lock,
    owner,
    mode,
    version,
    started: clock.now(),
    fixed: clock.fixed,
    database: databaseMark(environment.databaseUrl),
    log,
    local: callers.local,
    localListener: doors.socket,
    mcp: mcpLines(through(owner, "mcp"), callers, log, metrics?.meter),
    session: (asked) =>
      prepareSession(
        {
          butlers: owner.roster,
          call: (butler, request) => owner.invoke(callers.local(butler, true), butler, request),
        },
        asked,
      ),
    busy: () => pickup.busy() || (openings?.busy() ?? false),
    closing: async () => {
      watch.stop();
      await refusals.flush();
      const stored = pickup.stop();
      await (openings?.stop(stored) ?? stored);
    },
    onStop: () => streams.abort(),
    ...(mode === "up"
      ? { http: { host: environment.host, port: environment.port, listener: doors.port } }
      : { idleMs: environment.idleSeconds * 1_000, leaveEarly: reasonToLeave(home, programFiles()) }),
  });
  boundPort = running.note.port ?? boundPort;
  owner.startJobs();
  pickup.start();
  openings?.start();
  process.on("SIGHUP", watch.reload);
  return running;
}

/** Earlier versions made files that others could read. Embedded stores are left out: each is closed when it is opened. */
function closeHome(home: Home, log: Log): void {
  const closed = ownPaths(home).reduce((sum, path) => sum + closeTree(path, (at) => basename(at) === "store"), 0);
  if (closed > 0) log.warn({ files: closed }, "files of this home could be read by others; they are closed now");
}

function ownerOf(
  { environment, home, roster, log, early }: OwnerProcessParts,
  clock: Clock,
  meter: Meter | undefined,
  refusals: Refusals,
  limits: LimitSettings,
  changes: OwnerChanges,
): Owner {
  const { databaseUrl, directUrl, readUrls, modelDir } = environment;
  const stores = { folder: home.store, databaseUrl, directUrl, readUrls, early };
  const models = { modelDir, cacheDir: home.models };
  return createOwner({
    version,
    roster,
    log,
    meter,
    refusals,
    limits: callLimits(limits),
    open: engineOpener({ stores, clock, log, models, meter, rehearses: true }),
    jobs: storeJobs(stores, clock, databaseUrl === undefined ? notesInFile(home.scheduleFile, log) : notesInMemory()),
    model: sharedModels({ folders: models, fetch: true, apart: true, log }),
    remote: remoteOf,
    rested: collectGarbage,
    changes,
    peek: databaseUrl === undefined ? undefined : (butler, work) => peekInto(databaseUrl, butler, clock, work),
    reach: databaseUrl === undefined ? undefined : async () => void (await checkDatabase(databaseUrl)),
  });
}

/** Stores what hooks have announced, as the caller that announced it. */
function pickupFor({ home, log }: OwnerProcessParts, owner: Owner, callers: LocalCallers, clock: Clock): Pickup {
  return createPickup({
    home,
    clock,
    log,
    ingest: (by, butler, project, episodes) =>
      typedCall((request) =>
        through(owner, "hook").invoke(by === "local" ? callers.transcript(butler) : by, butler, request),
      )("memory_ingest_batch", { episodes: [...episodes] }, project === undefined ? {} : { project }),
    ended: ({ session: id, key }, episodes) =>
      noteSession(home, { ended: { id, key, at: clock.now().toISOString(), state: "done", episodes } }),
  });
}

const remembersIn = (owner: Owner) => (butler: string) =>
  owner.roster().some(({ name, memory }) => name === butler && memory.enabled);

/** Made for each session once: own patterns are read then. */
const policyIn = (owner: Owner) => (butler: string) => {
  const found = owner.roster().find(({ name }) => name === butler);
  return found && policyOf(found.memory.privacy);
};

const noticesIn = (owner: Owner, news: News) => (butler: string) => {
  const told = owner.roster().some(({ name, memory }) => name === butler && memory.hooks.notices);
  return told ? news.of(butler) : undefined;
};

/** `npm start` passes Ctrl-C on to a child that has it from the terminal already: two signals within this time are one. */
const SAME_SIGNAL_MS = 500;

/** The first signal stops the owner in good order, a second one ends the process at once. */
export function untilStopped(running: RunningOwner): Promise<void> {
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first !== undefined && performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
    first ??= performance.now();
    running.stop(signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onSignal);
  return running.stopped;
}
