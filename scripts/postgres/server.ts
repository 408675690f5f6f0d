import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ensureRuntime, NOBODY } from "./runtime.ts";

export interface PostgresServer {
  /** The superuser's URL of the database `postgres`. */
  readonly url: string;
  stop(): Promise<void>;
  /** Ends every connection and comes back on the same port with the same data. */
  restart(): Promise<void>;
}

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  max_connections: "200",
  // The data does not outlive the server, so nothing has to reach the disk.
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  autovacuum_naptime: "10s",
  // A parallel index build would outgrow the 64 MB of shared memory that containers get by default.
  dynamic_shared_memory_type: "mmap",
};

const ATTEMPTS = 3;

/** A new, empty server on a free port of this machine. It stops with this process, however that ends. */
export async function startServer(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const runtime = await ensureRuntime();
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch(runtime, await freePort(), { ...SETTINGS, ...settings });
    } catch (error) {
      // Between finding a free port and using it, somebody else may have taken it.
      const taken = error instanceof Error && error.message.includes("Address already in use");
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function launch(runtime: string, port: number, settings: Record<string, string>): Promise<PostgresServer> {
  const home = await mkdtemp(join(tmpdir(), "butler-pg-run-"));
  const password = randomBytes(12).toString("hex");
  // A process group of its own: Ctrl-C in a terminal must not kill the keeper before it has cleaned up.
  const keeper = spawn(process.execPath, [fileURLToPath(new URL("keeper.mjs", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const exited = once(keeper, "exit");
  const answers = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  const ready = async () => {
    const { value } = await answers.next();
    if (value === "ready") return;
    await exited;
    throw new Error(value === undefined ? "The server's keeper ended unexpectedly" : JSON.parse(value).error);
  };
  // After the keeper's end a write fails with EPIPE; the reason is what `ready` reads.
  keeper.stdin.on("error", () => keeper.stdin.destroy());

  const uid = process.getuid?.() === 0 ? { uid: NOBODY } : {};
  keeper.stdin.write(`${JSON.stringify({ runtime, home, port, password, settings, ...uid })}\n`);
  await ready();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async stop() {
      keeper.stdin.end();
      await exited;
    },
    async restart() {
      keeper.stdin.write("restart\n");
      await ready();
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("No free port on 127.0.0.1");
  return address.port;
}
