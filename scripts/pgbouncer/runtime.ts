/** pgbouncer for tests: Debian's package with the two libraries that it needs, unpacked into the cache. Nothing is installed. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NOBODY } from "../postgres/runtime.ts";

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL("../../.cache/pgbouncer", import.meta.url));
const PACKAGES = ["pgbouncer", "libevent-2.1-7", "libc-ares2"];
const LIBRARIES = join(CACHE, "usr", "lib", "x86_64-linux-gnu");

export interface Pooler {
  /** The server's URL with the pooler's port. */
  readonly url: string;
  running(): boolean;
  stop(): Promise<void>;
}

async function ensureProgram(): Promise<string> {
  const program = join(CACHE, "usr", "sbin", "pgbouncer");
  if (existsSync(program)) return program;
  await mkdir(dirname(CACHE), { recursive: true });
  const draft = await mkdtemp(`${CACHE}-`);
  const fetch = () => run("apt-get", ["download", "-qq", ...PACKAGES], { cwd: draft });
  try {
    await fetch().catch(async () => {
      // The lists of packages are missing or old; only root may renew them.
      await run("apt-get", ["update", "-qq"]).catch(() => undefined);
      await fetch();
    });
    for (const file of (await readdir(draft)).filter((name) => name.endsWith(".deb")))
      await run("dpkg", ["-x", join(draft, file), draft]);
    await run("chmod", ["-R", "a+rX", draft]);
    await rename(draft, CACHE);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return program;
}

/** In front of a server, in transaction mode, with so few connections to it that they change hands. */
export async function startPooler(server: string, connections: number, connectQuery: string): Promise<Pooler> {
  const program = await ensureProgram();
  const target = new URL(server);
  const folder = await mkdtemp(join(tmpdir(), "butler-pgbouncer-"));
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  probe.close();
  await once(probe, "close");
  const users = join(folder, "users.txt");
  const settings = join(folder, "pgbouncer.ini");
  const upstream = `host=${target.hostname} port=${target.port} connect_query='${connectQuery.replaceAll("'", "''")}'`;
  await writeFile(users, `"${target.username}" "${decodeURIComponent(target.password)}"\n`);
  await writeFile(
    settings,
    `[databases]\n* = ${upstream}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =
auth_type = scram-sha-256\nauth_file = ${users}\npool_mode = transaction\ndefault_pool_size = ${connections}
max_client_conn = 200\n`,
  );
  const root = process.getuid?.() === 0;
  await chmod(folder, 0o755);
  if (root) for (const file of [folder, users, settings]) await chown(file, NOBODY, NOBODY);
  const child = spawn(program, ["-q", settings], {
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: LIBRARIES },
    stdio: ["ignore", "inherit", "inherit"],
    ...(root ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const ended = once(child, "close");
  const url = new URL(server);
  url.port = String(port);
  return {
    url: url.href,
    running: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
