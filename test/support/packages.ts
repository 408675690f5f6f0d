/** Debian packages that tests need. Where they cannot be installed (another system, no root, no network) the attempt fails quickly. */
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireLock } from "../../src/engine/adapters/files/lock.ts";

/** Of all test runs on this machine: apt-get refuses to run beside another one. */
const LOCK = join(tmpdir(), "butler-tests-apt");
const POLL_MS = 500;

/** Does nothing if `wanted` says so once the lock is held: another run may have installed them meanwhile. Returns what went wrong. */
export async function installPackages(
  names: readonly string[],
  wanted: () => boolean = () => true,
): Promise<string | undefined> {
  if (process.platform !== "linux") return "Only Debian's packages can be installed";
  if (process.getuid?.() !== 0) return "Only root may install packages";
  let lock = await acquireLock(LOCK);
  while (lock === undefined) {
    await new Promise((done) => setTimeout(done, POLL_MS));
    lock = await acquireLock(LOCK);
  }
  try {
    if (!wanted()) return undefined;
    // Lists may be old or missing; an install that works without new ones is not held up by an update that fails.
    const updated = await aptGet(["update", "-qq"]);
    const installed = await aptGet(["install", "-y", "-qq", "--no-install-recommends", ...names]);
    return installed === undefined ? undefined : (updated ?? installed);
  } finally {
    await lock.release();
  }
}

/** What it complained about, if it failed. */
function aptGet(args: readonly string[]): Promise<string | undefined> {
  const child = spawn("apt-get", ["-o", "DPkg::Lock::Timeout=600", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  return new Promise((done) => {
    child.once("error", (error) => done(error.message));
    child.once("close", (code) => done(code === 0 ? undefined : said.trim().split("\n").at(-1) || `status ${code}`));
  });
}
