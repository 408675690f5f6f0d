/**
 * Owns one throw-away server: makes the cluster, runs it, removes it. It lives as long as its standard input is open, so
 * the server ends with whoever started it, also when that process is killed. Plain JavaScript: it is run by bare `node`.
 *
 * In, one JSON line first: { runtime, home, port, password, uid?, settings, made? }; with `made` the folder `data` is there already. Then
 * `restart` and `kill` lines, the latter as a loss of power would; the end of input stops.
 * Out: `ready` after each start, or one line of JSON { error }.
 */
import { spawn } from "node:child_process";
import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** @type {import("node:child_process").ChildProcess | undefined} */
let server;
let stopping = false;
/** @type {{ runtime: string, home: string, port: number, password: string, uid?: number, settings: Record<string, string>, made?: boolean }} */
let plan;

const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
// The reader may be gone already; then there is nobody to tell, and the end of input stops the server.
process.stdout.on("error", () => {});

const start = (/** @type {string} */ binary, /** @type {string[]} */ args) =>
  spawn(join(plan.runtime, "bin", binary), args, {
    cwd: plan.home,
    // A PG* variable of the caller (PGDATA, PGPORT, …) must not reach this server.
    env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", TZ: "UTC" },
    stdio: ["ignore", "pipe", "pipe"],
    ...(plan.uid === undefined ? {} : { uid: plan.uid, gid: plan.uid }),
  });

async function initialise() {
  const secret = join(plan.home, "password");
  await mkdir(join(plan.home, "socket"));
  await writeFile(secret, plan.password, { mode: 0o600 });
  if (plan.uid !== undefined)
    for (const path of [plan.home, secret, join(plan.home, "socket")]) await chown(path, plan.uid, plan.uid);
  if (plan.made) return;
  const child = start("initdb", [
    ...["-D", join(plan.home, "data"), "-U", "postgres", "--pwfile", secret, "--auth=scram-sha-256", "--no-sync"],
    ...[
      "--encoding=UTF8",
      "--locale=C.UTF-8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
    ],
  ]);
  server = child;
  const output = collect(child);
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0) throw new Error(`initdb failed (${code}): ${output()}`);
}

function launch() {
  const settings = { ...plan.settings, port: String(plan.port), unix_socket_directories: join(plan.home, "socket") };
  const child = start("postgres", [
    ...["-D", join(plan.home, "data")],
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ]);
  server = child;
  const output = collect(child);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => reject(new Error(`postgres ended (${code}): ${output()}`)));
    child.stderr?.on("data", () => {
      if (/ready to accept (read-only )?connections/.test(output())) resolve(undefined);
    });
  });
}

/** Keeps the end of what a child says, for an error message, and keeps its pipes from filling up. */
function collect(/** @type {import("node:child_process").ChildProcess} */ child) {
  let tail = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      tail = (tail + chunk).slice(-4000);
    });
  return () => tail.trim();
}

function end(/** @type {NodeJS.Signals} */ signal) {
  const child = server;
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill("SIGKILL"), 10_000);
    child.on("close", () => {
      clearTimeout(force);
      resolve(undefined);
    });
    child.kill(signal);
  });
}

async function stop(/** @type {number} */ code) {
  if (stopping) return;
  stopping = true;
  // Immediate shutdown: the data is thrown away, so a checkpoint would be wasted. initdb cleans up on SIGTERM.
  await end(server?.spawnfile.endsWith("initdb") ? "SIGTERM" : "SIGQUIT");
  if (plan !== undefined) await rm(plan.home, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}

async function attempt(/** @type {() => Promise<unknown>} */ work) {
  try {
    await work();
    say("ready");
  } catch (error) {
    if (stopping) return;
    say(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
    await stop(1);
  }
}

const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  if (plan === undefined) {
    plan = JSON.parse(line);
    void attempt(async () => {
      await initialise();
      await launch();
    });
  } else if (line === "restart") {
    void attempt(async () => {
      await end("SIGINT");
      await launch();
    });
  } else if (line === "kill") {
    void attempt(() => end("SIGKILL"));
  }
});
input.on("close", () => void stop(0));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void stop(0));
