/** What `butler up` and `butler own` have in common: an owner with its doors, in this process. */
import { hostname, networkInterfaces } from "node:os";
import { getRequestListener } from "@hono/node-server";
import type { Lock } from "../adapters/lock.ts";
import type { Log } from "../adapters/log.ts";
import type { Home } from "../butler/home.ts";
import { type House, openHouse } from "../butler/house.ts";
import { createOwner } from "../butler/owner.ts";
import { databaseMark } from "../butler/owner-file.ts";
import type { Roster } from "../butler/roster.ts";
import { notesInFile, notesInMemory } from "../butler/schedule-notes.ts";
import { ensureHomeToken, tokenChecker } from "../butler/tokens.ts";
import { maintain } from "../memory/maintain.ts";
import type { OpenMemory } from "../memory/open.ts";
import { loopbackHosts } from "../serve/guards.ts";
import type { Principal } from "../serve/host.ts";
import { httpApp } from "../serve/http.ts";
import { callTool } from "../tools/call.ts";
import { toolNamed, tools } from "../tools/index.ts";
import type { Environment } from "./environment.ts";
import { clockAt, memoryOpener, modelShelf, storeJobs } from "./store-parts.ts";
import { verifyInScratch } from "./verify-in-scratch.ts";
import { version } from "./version.ts";

export interface OwnerProcessParts {
  readonly environment: Environment;
  readonly home: Home;
  readonly lock: Lock;
  readonly roster: Roster;
  readonly log: Log;
  /** `up` listens on a port and stays; `auto` serves only the socket and leaves when nobody needs it. */
  readonly mode: "up" | "auto";
}

const LOCAL = { name: "local", butler: "*", admin: true } as const;

export async function runOwner(parts: OwnerProcessParts): Promise<House> {
  const { environment, home, roster, log, mode } = parts;
  const clock = clockAt(environment.now);
  await ensureHomeToken(home, clock.now());

  const place = { folder: home.store, databaseUrl: environment.databaseUrl };
  const models = { modelDir: environment.modelDir, cacheDir: home.models };
  const owner = createOwner<OpenMemory>({
    version,
    roster,
    log,
    open: memoryOpener({ place, clock, log, models }),
    call: callTool,
    adopt: (memory, embedder) => memory.adopt(embedder),
    maintain,
    jobs: storeJobs(
      place,
      clock,
      environment.databaseUrl === undefined ? notesInFile(home.scheduleFile, log) : notesInMemory(),
    ),
    verify: verifyInScratch,
    writes: (tool) => toolNamed(tool)?.effect !== "read",
    model: modelShelf({ place: models, fetch: true, log }),
  });

  // Somebody waits for an owner that was started by a client.
  if (mode === "auto") owner.warm();

  const tenants = new Map(roster.map(({ name, tenant }) => [name, tenant]));
  const local = (butler: string, agent = false): Principal => {
    const tenant = tenants.get(butler) ?? "default";
    return agent ? { name: "agent", tenant, butler, admin: false } : { ...LOCAL, tenant };
  };
  const check = tokenChecker(home);
  const streams = new AbortController();
  let boundPort = environment.port;
  const common = {
    host: owner,
    tools,
    authenticate: async (token: string) => check(token),
    log,
    version,
    tokenPlace: home.tokenFile,
    signal: streams.signal,
    allowedHosts: () => hostNames(environment.host, boundPort),
  };
  const localApp = httpApp({ ...common, local: local("") });
  const portApp = httpApp(common);

  const house = await openHouse({
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
    onStop: () => streams.abort(),
    ...(mode === "up"
      ? { http: { host: environment.host, port: environment.port, listener: getRequestListener(portApp.fetch) } }
      : { idleMs: environment.idleSeconds * 1_000 }),
  });
  boundPort = house.note.port ?? boundPort;
  owner.startJobs();
  return house;
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
export function untilStopped(house: House): Promise<void> {
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first !== undefined && performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
    first ??= performance.now();
    house.stop(signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onSignal);
  return house.stopped;
}
