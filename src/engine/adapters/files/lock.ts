import { createHash } from "node:crypto";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { codeOf, lockInFolder } from "./lock-folder.ts";
import { realPath } from "./real-path.ts";

export type Lock = { release(): Promise<void> };

/** BSD and macOS flags that Node passes through but does not name: lock while opening, do not wait. */
const O_EXLOCK = 0x20;
const O_NONBLOCK = 0x4;

/**
 * An exclusive lock on a path, which need not exist. The kernel frees it when the holder dies, kill -9 included, so there are no
 * stale locks. Undefined when it is held, in this process or another. It is named after the real path alone: with the
 * user's id in the name, root and the user could both open one store.
 */
export async function acquireLock(path: string): Promise<Lock | undefined> {
  const real = realPath(resolve(path), (error) => codeOf(error) === "ENOENT", "throw");
  if (process.platform === "linux") return lockInFolder(`${real}.locks`);
  if (process.platform === "win32") return listen(`\\\\.\\pipe\\butler-${sha256(real).slice(0, 40)}`);
  return lockFile(`${real}.lock`);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function listen(path: string): Promise<Lock | undefined> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => (codeOf(error) === "EADDRINUSE" ? done(undefined) : fail(error)));
    // Exclusive: otherwise the workers of a cluster would share one listener, and each would believe it holds the lock.
    server.listen({ path, exclusive: true }, () => {
      server.unref();
      let released: Promise<void> | undefined;
      const release = () => {
        released ??= new Promise<void>((closed) => {
          server.close(() => closed());
        });
        return released;
      };
      done({ release });
    });
  });
}

async function lockFile(file: string): Promise<Lock | undefined> {
  mkdirSync(dirname(file), { recursive: true });
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDWR | constants.O_CREAT | O_EXLOCK | O_NONBLOCK, 0o600);
  } catch (error) {
    if (["EAGAIN", "EWOULDBLOCK"].includes(codeOf(error))) return undefined;
    throw error;
  }
  const release = async () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  return { release };
}
