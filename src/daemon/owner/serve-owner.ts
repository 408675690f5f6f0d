/** Serves an owner on its socket, and on a port if it has one, until it is stopped. */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Lock } from "../../engine/adapters/files/lock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { errorCode, reasonOf, unavailable } from "../../engine/domain/errors.ts";
import type { Home } from "../home.ts";
import { within } from "../pause.ts";
import type { Owner } from "./owner.ts";
import { type OwnerNote, writeOwnerNote } from "./owner-file.ts";
import { type OwnerRouteParts, ownerRoutes } from "./owner-routes.ts";

export interface ServeOwnerParts {
  readonly home: Home;
  /** Held from before the first store is opened until after the last one is closed. */
  readonly lock: Lock;
  readonly owner: Owner;
  readonly mode: OwnerNote["mode"];
  readonly version: string;
  readonly started: Date;
  readonly fixed: boolean;
  readonly database: string | null;
  readonly log: Log;
  local: OwnerRouteParts["local"];
  /** Everything that is not `/owner/…` on the socket. */
  readonly localListener: RequestListener;
  readonly http?: { readonly host: string; readonly port: number; readonly listener: RequestListener } | undefined;
  readonly session?: OwnerRouteParts["session"];
  readonly mcp?: OwnerRouteParts["mcp"];
  /** True while there is work that nobody waits for and that must not be cut off when an idle owner leaves. */
  busy?(): boolean;
  /** Called at a stop, before calls under way are waited for. */
  closing?(): Promise<void>;
  /** Ends the long-lived streams of the HTTP doors. */
  onStop(): void;
  /** The owner stops after this long without clients and calls; absent: it stays. */
  readonly idleMs?: number | undefined;
  /** Why an idle owner should leave before that, with clients attached too: they find or start the next one. */
  leaveEarly?(): string | undefined;
}

export interface RunningOwner {
  readonly note: OwnerNote;
  stop(why: string): void;
  /** Resolves when everything is closed and the lock is free. */
  readonly stopped: Promise<void>;
}

/** At a stop calls under way have this long to end; the rest is cut off, and none of it was acknowledged. */
const DRAIN_MS = 20_000;
/** At a stop connections have this long to close; long-lived streams do not end by themselves. */
const LINGER_MS = 1_000;

interface ServedOwner {
  readonly parts: ServeOwnerParts;
  note: OwnerNote;
  readonly servers: Server[];
  /** One open response for each attached client. */
  readonly attached: Set<ServerResponse>;
  /** Local questions under way, those of attached clients included: an idle owner does not leave before it has answered. */
  readonly answering: Set<ServerResponse>;
  draining: boolean;
  /** When the last local question ended, on the clock of `performance.now()`. */
  lastAnswered: number;
  idleWatch: NodeJS.Timeout | undefined;
  finished(): void;
}

export async function serveOwner(parts: ServeOwnerParts): Promise<RunningOwner> {
  let finished: () => void = () => undefined;
  const stopped = new Promise<void>((done) => {
    finished = done;
  });
  const served: ServedOwner = {
    parts,
    note: firstNote(parts),
    servers: [],
    attached: new Set(),
    answering: new Set(),
    draining: false,
    lastAnswered: performance.now(),
    idleWatch: undefined,
    finished,
  };
  try {
    await listenEverywhere(served);
  } catch (error) {
    for (const server of served.servers) server.close();
    throw error;
  }
  const { note } = served;
  const { pid, mode, version, address } = note;
  parts.log.info({ pid, mode, version, address }, "the owner is ready");
  if (parts.idleMs !== undefined) served.idleWatch = watchIdle(served, parts.idleMs);
  return { note, stop: (why) => stop(served, why), stopped };
}

const firstNote = ({ version, mode, started, fixed, database }: ServeOwnerParts): OwnerNote => ({
  pid: process.pid,
  version,
  mode,
  address: null,
  port: null,
  started: started.toISOString(),
  fixed,
  database,
});

/**
 * By default Node closes a connection after five idle seconds, and a client that uses it at that very moment may get ECONNRESET instead of
 * an answer. Agents often pause for longer than five seconds between two calls.
 */
const CONNECTIONS = { keepAliveTimeout: 75_000 };

/** On the port first: it may be taken, and then no client has seen this owner. */
async function listenEverywhere(served: ServedOwner): Promise<void> {
  const { home, http } = served.parts;
  if (http) {
    const httpServer = createServer(CONNECTIONS, http.listener);
    served.servers.push(httpServer);
    const { port, address } = await listenOnPort(httpServer, http.host, http.port);
    served.note = { ...served.note, port, address };
  }
  // A socket that lies there is of a process that has died: this one holds the lock.
  rmSync(home.socket, { force: true });
  const socketServer = createServer(CONNECTIONS, localListener(served));
  served.servers.push(socketServer);
  await listen(socketServer, (done) => socketServer.listen(home.socket, done));
  chmodSync(home.socket, 0o600);
  writeOwnerNote(home, served.note);
  rmSync(home.failureFile, { force: true });
}

function localListener(served: ServedOwner): RequestListener {
  const { parts, answering, attached } = served;
  const { owner, local, session, mcp } = parts;
  const routes = ownerRoutes({
    backend: owner,
    local,
    jobs: owner.jobs,
    session,
    mcp,
    verifyReplay: owner.verifyReplay,
    rest: owner.rest,
    note: () => served.note,
    stopping: () => served.draining,
    stop: (why) => stop(served, why),
    attached,
  });
  return (incoming, outgoing) => {
    outgoing.on("close", () => {
      served.lastAnswered = performance.now();
      answering.delete(outgoing);
    });
    if (routes(incoming, outgoing)) answering.add(outgoing);
    // The client repeats its question with the next owner.
    else if (served.draining)
      outgoing.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify(served.note));
    else parts.localListener(incoming, outgoing);
  };
}

/** An owner that has a reason to leave early still waits for so long a pause: an upgrade may be under way. */
const PAUSE_MS = 10_000;

function watchIdle(served: ServedOwner, idleMs: number): NodeJS.Timeout {
  const { parts, answering, attached } = served;
  const { owner } = parts;
  return setInterval(
    () => {
      if (answering.size > attached.size || !owner.atRest() || parts.busy?.()) return;
      const unused = performance.now() - Math.max(served.lastAnswered, owner.lastCall());
      if (attached.size === 0 && unused >= idleMs) return stop(served, "nobody needs it");
      const why = unused >= Math.min(idleMs, PAUSE_MS) ? parts.leaveEarly?.() : undefined;
      if (why !== undefined) stop(served, why);
    },
    Math.min(5_000, Math.max(50, idleMs / 4)),
  );
}

function stop(served: ServedOwner, why: string): void {
  if (served.draining) return;
  served.draining = true;
  const { log } = served.parts;
  log.info({ why }, "the owner stops");
  clearInterval(served.idleWatch);
  void shutDown(served)
    .catch((error: unknown) => log.error({ reason: reasonOf(error) }, "the owner did not stop cleanly"))
    .finally(served.finished);
}

async function shutDown({ parts, attached, servers }: ServedOwner): Promise<void> {
  const { home, owner, log } = parts;
  for (const stream of attached) stream.end();
  parts.onStop();
  const closed = servers.map(closeServer);
  if (parts.closing) await within(LINGER_MS * 5, parts.closing());
  if (!(await within(DRAIN_MS, owner.close())))
    log.error({ calls: owner.inFlight() }, "calls did not end in time and are cut off");
  await within(LINGER_MS, Promise.all(closed));
  for (const server of servers) server.closeAllConnections();
  rmSync(home.ownerFile, { force: true });
  await parts.lock.release();
}

/** A keep-alive connection that is between two requests would hold the server open. */
function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearInterval(sweep);
      done();
    });
    server.closeIdleConnections();
  });
}

async function listenOnPort(server: Server, host: string, port: number) {
  try {
    await listen(server, (done) => server.listen({ host, port }, done));
  } catch (error) {
    const code = errorCode(error);
    if (code === "EADDRINUSE")
      throw unavailable(`Port ${port} on ${host} is in use; choose another with --port or BUTLER_PORT.`, error);
    throw unavailable(
      `Cannot listen on ${host}:${port} (${code ?? reasonOf(error)}); check BUTLER_HOST and BUTLER_PORT.`,
      error,
    );
  }
  const bound = server.address() as AddressInfo;
  const shown = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return { port: bound.port, address: `http://${shown}:${bound.port}` };
}

function listen(server: Server, start: (done: () => void) => void): Promise<void> {
  return new Promise((done, failed) => {
    server.once("error", failed);
    start(() => {
      server.off("error", failed);
      done();
    });
  });
}
