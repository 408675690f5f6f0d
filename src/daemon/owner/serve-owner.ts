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
  /** Work that nobody waits for but that must not be cut off by an idle owner's leaving. */
  busy?(): boolean;
  /** Before the calls are waited for. */
  closing?(): Promise<void>;
  /** Ends long-lived streams of the doors. */
  onStop(): void;
  /** Leave after this long without clients and calls; absent: stay. */
  readonly idleMs?: number | undefined;
}

export interface RunningOwner {
  readonly note: OwnerNote;
  stop(why: string): void;
  /** Resolves when everything is closed and the lock is free. */
  readonly stopped: Promise<void>;
}

/** Calls under way get this long at a stop; what is cut off then was never acknowledged. */
const DRAIN_MS = 20_000;
/** Long-lived streams do not end by themselves. */
const LINGER_MS = 1_000;

export async function serveOwner(parts: ServeOwnerParts): Promise<RunningOwner> {
  const { home, owner, log } = parts;
  const attached = new Set<ServerResponse>();
  /** Local questions under way, those of attached clients included: an idle owner does not leave before it has answered. */
  const answering = new Set<ServerResponse>();
  let draining = false;
  let lastLeft = performance.now();
  let finish: () => void = () => undefined;
  const stopped = new Promise<void>((done) => {
    finish = done;
  });

  const servers: Server[] = [];
  let note: OwnerNote = {
    pid: process.pid,
    version: parts.version,
    mode: parts.mode,
    address: null,
    port: null,
    started: parts.started.toISOString(),
    fixed: parts.fixed,
    database: parts.database,
  };

  const routes = ownerRoutes({
    host: owner,
    local: parts.local,
    jobs: owner.jobs,
    session: parts.session,
    verifyReplay: owner.verifyReplay,
    note: () => note,
    stopping: () => draining,
    stop,
    attached,
  });
  const socketServer = createServer((incoming, outgoing) => {
    outgoing.on("close", () => {
      lastLeft = performance.now();
      answering.delete(outgoing);
    });
    if (routes(incoming, outgoing)) {
      answering.add(outgoing);
      return;
    }
    // Whoever comes now is sent to the next owner.
    if (draining) outgoing.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify(note));
    else parts.localListener(incoming, outgoing);
  });

  try {
    if (parts.http) {
      const httpServer = createServer(parts.http.listener);
      servers.push(httpServer);
      const { port, address } = await listenOnPort(httpServer, parts.http.host, parts.http.port);
      note = { ...note, port, address };
    }
    // Whoever left it there is dead: this process holds the lock.
    rmSync(home.socket, { force: true });
    servers.push(socketServer);
    await listen(socketServer, (done) => socketServer.listen(home.socket, done));
    chmodSync(home.socket, 0o600);
    writeOwnerNote(home, note);
    rmSync(home.failureFile, { force: true });
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }

  log.info({ pid: note.pid, mode: note.mode, version: note.version, address: note.address }, "the owner is ready");
  const idleWatch = parts.idleMs === undefined ? undefined : watchIdle(parts.idleMs);

  function watchIdle(idleMs: number): NodeJS.Timeout {
    return setInterval(
      () => {
        if (answering.size > 0 || !owner.atRest() || parts.busy?.()) return;
        if (performance.now() - Math.max(lastLeft, owner.lastCall()) >= idleMs) stop("nobody needs it");
      },
      Math.min(1_000, Math.max(50, idleMs / 4)),
    );
  }

  function stop(why: string): void {
    if (draining) return;
    draining = true;
    log.info({ why }, "the owner stops");
    clearInterval(idleWatch);
    void shutDown()
      .catch((error: unknown) => log.error({ reason: reasonOf(error) }, "the owner did not stop cleanly"))
      .finally(finish);
  }

  async function shutDown(): Promise<void> {
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

  return { note, stop, stopped };
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
