/** What `butler up` and `butler own` have in common: an owner with its doors, in this process. */
import { hostname, networkInterfaces } from "node:os";
import { basename } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { type Home, ownPaths } from "../../daemon/home.ts";
import { createOwner } from "../../daemon/owner/owner.ts";
import { databaseMark } from "../../daemon/owner/owner-file.ts";
import { type RunningOwner, serveOwner } from "../../daemon/owner/serve-owner.ts";
import { type Roster, tenantOf } from "../../daemon/roster/roster.ts";
import { watchRoster } from "../../daemon/roster/watch.ts";
import { notesInFile, notesInMemory } from "../../daemon/schedule/notes.ts";
import { ensureHomeToken, tokenChecker } from "../../daemon/tokens/tokens.ts";
import { type Host, inTenant, type Principal, TENANT_OF_BUTLER } from "../../doors/host.ts";
import { loopbackHosts } from "../../doors/http/guards.ts";
import { httpApp } from "../../doors/http/http.ts";
import type { Lock } from "../../engine/adapters/files/lock.ts";
import { closeTree } from "../../engine/adapters/files/private-files.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { Trust } from "../../engine/domain/learning/trust.ts";
import { tools } from "../../engine/tools/index.ts";
import type { ToolRequest } from "../../engine/tools/outcome.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";
import { hookAnswerer } from "../../hosts/hooks/answer-hook.ts";
import { createPickup } from "../../hosts/hooks/pickup.ts";
import { prepareSession } from "../../hosts/sessions/prepare.ts";
import { noteSession } from "../../hosts/sessions/session-log.ts";
import type { Environment } from "../environment.ts";
import { checkDatabase, clockAt, engineOpener, modelShelf, storeJobs } from "../store-parts.ts";
import { version } from "../version.ts";
import type { EarlyStore } from "./early-store.ts";
import { remoteOf } from "./remote.ts";

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

const LOCAL = { name: "local", butler: "*", admin: true } as const;

export async function runOwner(parts: OwnerProcessParts): Promise<RunningOwner> {
  const { environment, home, roster, log, mode } = parts;
  // Whatever this process writes, and what it starts to write for it, is for its user alone.
  process.umask(0o077);
  // An embedded store is looked at when it is opened.
  const closed = ownPaths(home).reduce((sum, path) => sum + closeTree(path, (at) => basename(at) === "store"), 0);
  if (closed > 0) log.warn({ files: closed }, "files of this home could be read by others; they are closed now");
  const clock = clockAt(environment.now);
  await ensureHomeToken(home, clock.now());

  const { databaseUrl } = environment;
  const place = { folder: home.store, databaseUrl, early: parts.early };
  const models = { modelDir: environment.modelDir, cacheDir: home.models };
  const owner = createOwner({
    version,
    roster,
    log,
    open: engineOpener({ place, clock, log, models }),
    jobs: storeJobs(place, clock, databaseUrl === undefined ? notesInFile(home.scheduleFile, log) : notesInMemory()),
    model: modelShelf({ place: models, fetch: true, log }),
    remote: remoteOf,
    reach: databaseUrl === undefined ? undefined : async () => void (await checkDatabase(databaseUrl)),
  });

  // Somebody waits for an owner that was started by a client.
  if (mode === "auto") owner.warm();

  const local = (butler: string, agent = false, voice: Trust = agent ? "agent" : "user"): Principal => {
    const tenant = tenantOf(owner.roster(), butler);
    return agent ? { name: "agent", tenant, butler, admin: false, voice } : { ...LOCAL, tenant, voice };
  };
  /** What an agent's program writes down of its own sessions on this machine: the person's words in it are theirs. */
  const transcriptOf = (butler: string): Principal => local(butler, true, "user");
  const asAgent = (butler: string, request: ToolRequest) => owner.invoke(local(butler, true), butler, request);
  const pickup = createPickup({
    home,
    clock,
    log,
    ingest: (by, butler, project, episodes) =>
      typedCall((request) => owner.invoke(by === "local" ? transcriptOf(butler) : by, butler, request))(
        "memory_ingest_batch",
        { episodes: [...episodes] },
        project === undefined ? {} : { project },
      ),
    ended: ({ session: id, key }, episodes) =>
      noteSession(home, { ended: { id, key, at: clock.now().toISOString(), state: "done", episodes } }),
  });
  const remembers = (butler: string) => owner.roster().some(({ name, memory }) => name === butler && memory.enabled);
  const hook = hookAnswerer({ home, clock, log, pickup, remembers, invoke: owner.invoke });
  const check = tokenChecker(home);
  const streams = new AbortController();
  let boundPort = environment.port;
  const watch =
    environment.roster === undefined
      ? undefined
      : watchRoster({ folder: environment.roster, log, apply: owner.reload });
  const health = async () => {
    const fault = watch?.fault();
    return { ...(await owner.health()), ...(fault === undefined ? {} : { roster: fault }) };
  };
  const common = {
    host: { ...owner, health },
    tools,
    authenticate: async (token: string) => check(token),
    log,
    version,
    tokenPlace: home.tokenFile,
    signal: streams.signal,
    allowedHosts: () => hostNames(environment.host, boundPort),
  };
  // On the socket a hook speaks for the butler it names, as an agent and not as the person who owns the home.
  const localHook: Host["hook"] = (_, told) => hook(transcriptOf(told.butler), told, true);
  const portHook: Host["hook"] = (principal, told) =>
    hook(inTenant(principal, tenantOf(owner.roster(), told.butler)), told, false);
  const onSocket: Principal = { ...LOCAL, tenant: TENANT_OF_BUTLER, voice: "agent" };
  const localApp = httpApp({ ...common, host: { ...common.host, hook: localHook }, local: onSocket });
  const portApp = httpApp({ ...common, host: { ...common.host, hook: portHook } });

  const running = await serveOwner({
    home,
    lock: parts.lock,
    owner,
    mode,
    version,
    started: clock.now(),
    fixed: clock.fixed,
    database: databaseMark(environment.databaseUrl),
    log,
    local,
    localListener: getRequestListener(localApp.fetch),
    session: (asked) => prepareSession({ butlers: owner.roster, call: asAgent }, asked),
    busy: pickup.busy,
    closing: () => {
      watch?.stop();
      return pickup.stop();
    },
    onStop: () => streams.abort(),
    ...(mode === "up"
      ? { http: { host: environment.host, port: environment.port, listener: getRequestListener(portApp.fetch) } }
      : { idleMs: environment.idleSeconds * 1_000 }),
  });
  boundPort = running.note.port ?? boundPort;
  owner.startJobs();
  pickup.start();
  // Without a roster there is nothing to read again; unheard, the signal would end the process.
  process.on("SIGHUP", () => watch?.reload());
  return running;
}

/** The names a request may come under: this machine's own, and what the person bound the port to. */
function hostNames(host: string, port: number): string[] {
  const names = [...loopbackHosts(port), host];
  if (host !== "0.0.0.0" && host !== "::") return names;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [
    ...names,
    hostname(),
    ...addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
  ];
}

/** `npm start` passes Ctrl-C on to a child that had it from the terminal already: that is one wish, not two. */
const SAME_SIGNAL_MS = 500;

/** The first signal drains, a second one ends at once. */
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
