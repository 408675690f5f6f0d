/**
 * The lock on Linux: sockets in a folder of mode 0700. Each contender listens on a socket of its own, then tries all the others; it
 * does not get the lock if one of them is alive. Of two contenders, the one that listened later looks after the other had begun to
 * listen, so both may give up but never do both get the lock. The kernel closes a socket with its process, and other users can
 * neither enter the folder nor, as with an abstract socket, take its name first.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { unavailable } from "../../domain/errors.ts";
import type { Lock } from "./lock.ts";

/** sun_path ends at 108 bytes; a longer name goes through the open folder. */
const SOCKET_PATH_LIMIT = 100;
/** How long a contender is waited for that may still give up: its process may have been suspended. */
const PATIENCE_MS = 10_000;
/** The ending of a file beside the socket of a holder: without it a socket is that of a contender that may still give up. */
const HELD = ".held";

export async function lockInFolder(folder: string): Promise<Lock | undefined> {
  const { uid, gid } = ownFolder(folder);
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const me = randomBytes(12).toString("hex");
  const at = (name: string) => {
    const path = join(folder, name);
    return Buffer.byteLength(path) <= SOCKET_PATH_LIMIT ? path : `/proc/self/fd/${fd}/${name}`;
  };
  let server: Server | undefined;
  const leave = async () => {
    await new Promise<void>((closed) => (server ? server.close(() => closed()) : closed()));
    rmSync(join(folder, `${me}${HELD}`), { force: true });
    closeSync(fd);
  };
  try {
    server = await listenAt(at(me), uid, gid);
    if (await isFirst(folder, me, at)) {
      writeFileSync(join(folder, `${me}${HELD}`), "", { mode: 0o600 });
      await sweep(folder, me, at);
      let released: Promise<void> | undefined;
      const release = () => {
        released ??= leave();
        return released;
      };
      return { release };
    }
  } catch (error) {
    await leave();
    throw error;
  }
  await leave();
  return undefined;
}

/** A folder that somebody else made, or can write to, would let them hold the lock or take it away. */
function ownFolder(folder: string): Stats {
  const parent = dirname(folder);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const around = statSync(parent);
  const us = process.getuid?.();
  try {
    mkdirSync(folder, { mode: 0o700 });
    // Root in a folder of a user: the user must be able to lock after it.
    if (us === 0 && around.uid !== 0) chownSync(folder, around.uid, around.gid);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  const found = lstatSync(folder);
  const ours = found.uid === us || (us === 0 && found.uid === around.uid);
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0)
    throw unavailable(
      `The lock ${folder} must be a folder of yours that only you can enter (mode 0700), and it is not; remove it, or choose another place.`,
    );
  return found;
}

function listenAt(path: string, uid: number, gid: number): Promise<Server> {
  return new Promise((done, failed) => {
    const server = createServer((socket) => socket.destroy());
    const refused = (error: Error) =>
      failed(
        unavailable(`The lock ${path} cannot be taken (${codeOf(error)}); choose a folder on a local disk.`, error),
      );
    server.once("error", refused);
    server.listen({ path, exclusive: true }, () => {
      server.off("error", refused);
      server.unref();
      try {
        chmodSync(path, 0o600);
        // A user has to reach the lock that root holds in their home.
        if (process.getuid?.() === 0) chownSync(path, uid, gid);
        done(server);
      } catch (error) {
        // A socket that is bound and does not listen yet looks dead, and a holder has removed it: `isFirst` sees that.
        if (codeOf(error) === "ENOENT") done(server);
        else server.close(() => failed(error));
      }
    });
  });
}

/** Waits for contenders that give up for this one; among contenders the smallest name goes first. */
async function isFirst(folder: string, me: string, at: (name: string) => string): Promise<boolean> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const names = readdirSync(folder);
    const others = names.filter((name) => name !== me && !name.endsWith(HELD));
    const alive = await Promise.all(others.map(async (name) => ((await isAlive(at(name))) ? [name] : [])));
    const rivals = alive.flat();
    // A holder that looked before this socket listened may have removed it as dead: no later contender would see it.
    if (rivals.length === 0) return readdirSync(folder).includes(me);
    if (rivals.some((name) => name < me || names.includes(`${name}${HELD}`))) return false;
    if (performance.now() >= until) return false;
    await pause(2);
  }
}

/** Removes what killed holders left. */
async function sweep(folder: string, me: string, at: (name: string) => string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const socket = name.endsWith(HELD) ? name.slice(0, -HELD.length) : name;
    if (socket !== me && !(await isAlive(at(socket)))) rmSync(join(folder, name), { force: true });
  }
}

const NOBODY = new Set(["ECONNREFUSED", "ENOENT"]);

/** Whatever is not known to be dead counts as alive: a full backlog (EAGAIN) is a busy holder. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((done) => {
    const line = connect(path);
    line.once("connect", () => {
      line.destroy();
      done(true);
    });
    line.once("error", (error) => done(!NOBODY.has(codeOf(error))));
  });
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
