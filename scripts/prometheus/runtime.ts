/**
 * Prometheus and its promtool, for tests only: those of this machine, or Debian's package, unpacked into the cache. Nothing is installed, so
 * no service of the system is started, and no root is needed where the lists of packages are there.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL("../../.cache/prometheus", import.meta.url));

export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
}

/** Throws with the reason when there is none to be had. */
export async function ensurePrometheus(): Promise<PrometheusPrograms> {
  const here = { prometheus: "prometheus", promtool: "promtool" };
  if (await works(here)) return here;
  const cached = inFolder(join(CACHE, "usr", "bin"));
  if (await works(cached)) return cached;
  await unpack();
  if (await works(cached)) return cached;
  throw new Error("Debian's package of Prometheus was unpacked, but its programs do not run here");
}

const inFolder = (folder: string): PrometheusPrograms => ({
  prometheus: join(folder, "prometheus"),
  promtool: join(folder, "promtool"),
});

async function works({ prometheus, promtool }: PrometheusPrograms): Promise<boolean> {
  try {
    await Promise.all([run(prometheus, ["--version"]), run(promtool, ["--version"])]);
    return true;
  } catch {
    return false;
  }
}

/** Built beside the target and renamed: a run that is killed leaves no half-made folder. */
async function unpack(): Promise<void> {
  await mkdir(dirname(CACHE), { recursive: true });
  const draft = await mkdtemp(`${CACHE}-`);
  try {
    await download(draft);
    const [file] = (await readdir(draft)).filter((name) => name.endsWith(".deb"));
    if (file === undefined) throw new Error("apt-get fetched no package");
    await run("dpkg", ["-x", join(draft, file), draft]);
    await rm(join(draft, file));
    if (existsSync(CACHE)) await rm(CACHE, { recursive: true });
    await rename(draft, CACHE);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function download(folder: string): Promise<void> {
  const fetch = () => run("apt-get", ["download", "-qq", "prometheus"], { cwd: folder });
  try {
    await fetch();
  } catch {
    // The lists of packages are missing or old; only root may renew them.
    await run("apt-get", ["update", "-qq"]).catch(() => undefined);
    await fetch();
  }
}
