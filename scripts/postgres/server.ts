import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { ensureRuntime, NOBODY } from "./runtime.ts";

export interface PostgresServer {
  /** The superuser's URL of the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** The folder of its data. */
  readonly data: string;
  stop(): Promise<void>;
  /** kill -9. It does not come back. */
  kill(): Promise<void>;
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

interface Made {
  readonly home: string;
  readonly password: string;
}

const newHome = () => mkdtemp(join(tmpdir(), "butler-pg-run-"));

async function launch(
  runtime: string,
  port: number,
  settings: Record<string, string>,
  made?: Made,
): Promise<PostgresServer> {
  const home = made?.home ?? (await newHome());
  const password = made?.password ?? randomBytes(12).toString("hex");
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
  keeper.stdin.write(
    `${JSON.stringify({ runtime, home, port, password, settings, ...uid, made: made !== undefined })}\n`,
  );
  await ready();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    data: join(home, "data"),
    async kill() {
      keeper.stdin.write("kill\n");
      await ready();
    },
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

/** Settings of a server that has replicas. */
export const PRIMARY = {
  wal_level: "replica",
  max_wal_senders: "10",
  wal_keep_size: "256MB",
  synchronous_commit: "on",
};

/** A copy of a server's data, taken while it runs, as pg_basebackup takes it: the package has no pg_basebackup. */
export async function copyServer({ data, url }: PostgresServer, signal: "standby" | "recovery"): Promise<Made> {
  const home = await newHome();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('copy', fast => true)");
    await promisify(execFile)("cp", ["-a", data, join(home, "data")]);
    const { rows } = await client.query("select labelfile from pg_backup_stop(wait_for_archive => false)");
    await rm(join(home, "data", "postmaster.pid"), { force: true });
    for (const [name, text] of [
      ["backup_label", rows[0].labelfile],
      [`${signal}.signal`, ""],
    ]) {
      const file = join(home, "data", name);
      await writeFile(file, text);
      if (process.getuid?.() === 0) await chown(file, NOBODY, NOBODY);
    }
  } finally {
    await client.end();
  }
  return { home, password: decodeURIComponent(new URL(url).password) };
}

/** A streaming replica of a server that was started with `PRIMARY`. `over`: the port of another way to it. */
export async function startReplica(primary: PostgresServer, over: number = primary.port): Promise<PostgresServer> {
  const made = await copyServer(primary, "standby");
  const upstream = `host=127.0.0.1 port=${over} user=postgres password=${made.password} application_name=replica`;
  const follow = { primary_conninfo: upstream, hot_standby_feedback: "on", wal_retrieve_retry_interval: "200ms" };
  return startCopy(made, follow);
}

export const startCopy = async (made: Made, settings: Record<string, string>): Promise<PostgresServer> =>
  launch(await ensureRuntime(), await freePort(), { ...SETTINGS, ...PRIMARY, ...settings }, made);

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("No free port on 127.0.0.1");
  return address.port;
}
