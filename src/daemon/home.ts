/** Where everything of one home lies on disk. All folders are 0700, all secrets 0600. */

import { createHash, randomBytes } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { realPath } from "../engine/adapters/files/real-path.ts";
import { forbidden, isMissing, MemoryError, reasonOf, unavailable } from "../engine/domain/errors.ts";
import { foreignLinks } from "./foreign-links.ts";
import { refuseForeignSocket } from "./line/socket-folder.ts";

export interface Home {
  readonly root: string;
  readonly models: string;
  readonly logs: string;
  readonly run: string;
  /** What hooks left for the owner: transcripts that were announced, and how far each has been read. */
  readonly spool: string;
  /** What sessions start with, ready to be printed by a hook. */
  readonly openings: string;
  /** The admin token in clear text, for the person who owns this home. */
  readonly tokenFile: string;
  readonly tokensFile: string;
  /** The day of each token's last use. */
  readonly tokenUsesFile: string;
  /** The `butler.toml` of the one butler that there is without a roster. */
  readonly settingsFile: string;
  /** Settings of the whole home: an issuer of tokens, limits. */
  readonly daemonFile: string;
  readonly socket: string;
  readonly ownerFile: string;
  /** Why the last owner could not start; for the clients that waited for it. */
  readonly failureFile: string;
  /** What the scheduler knows of embedded stores while they are closed. */
  readonly scheduleFile: string;
  readonly ownerLog: string;
  /** Names of kernel locks, not files that must exist. */
  readonly ownerLock: string;
  readonly spawnLock: string;
  readonly tokensLock: string;
  store(butler: string): string;
}

/** sun_path holds 108 bytes on Linux and 104 on macOS; a longer name is cut or refused. */
const SOCKET_PATH_LIMIT = 100;

export function homeAt(folder: string): Home {
  // Anything else that is wrong with the path shows when something is written there.
  const root = realPath(resolve(folder), isMissing, "keep");
  const run = join(root, "run");
  return {
    root,
    models: join(root, "models"),
    logs: join(root, "logs"),
    run,
    spool: join(root, "spool"),
    openings: join(root, "openings"),
    tokenFile: join(root, "token"),
    tokensFile: join(root, "tokens.json"),
    tokenUsesFile: join(run, "token-uses.json"),
    settingsFile: join(root, "butler.toml"),
    daemonFile: join(root, "daemon.toml"),
    socket: socketPath(root, run),
    ownerFile: join(run, "owner.json"),
    failureFile: join(run, "owner.error"),
    scheduleFile: join(run, "schedule.json"),
    ownerLog: join(root, "logs", "owner.log"),
    ownerLock: join(run, "owner"),
    spawnLock: join(run, "spawn"),
    tokensLock: join(run, "tokens"),
    store: (butler) => join(root, "butlers", butler, "store"),
  };
}

function socketPath(root: string, run: string): string {
  const inside = join(run, "owner.sock");
  if (Buffer.byteLength(inside) <= SOCKET_PATH_LIMIT) return inside;
  const mark = createHash("sha256").update(root).digest("hex").slice(0, 16);
  return join(tmpdir(), `butler-${userId()}-${mark}`, "owner.sock");
}

const userId = () => process.getuid?.() ?? 0;

/** What we write in a home. Other files there are not ours: BUTLER_HOME may point to a folder that had some before. */
export const ownPaths = (home: Home): string[] => [
  ...[home.models, home.logs, home.run, home.spool, home.openings, home.tokenFile, home.tokensFile],
  ...["butlers", "installs", "plugins"].map((name) => join(home.root, name)),
];

/** Makes the folders; throws one sentence when it cannot. */
export function prepareHome(home: Home): void {
  try {
    for (const folder of [home.root, home.models, home.logs, home.run, home.spool, join(home.root, "butlers")])
      privateFolder(folder);
    refuseForeignLinks(home);
    const socketFolder = dirname(home.socket);
    if (socketFolder !== home.run) mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
    refuseForeignSocket(home.socket);
    probeWritable(home.run);
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    throw unavailable(
      `The home ${home.root} cannot be written (${reasonOf(error)}); set BUTLER_HOME to a folder of yours.`,
      error,
    );
  }
}

function refuseForeignLinks(home: Home): void {
  for (const path of ownPaths(home))
    for (const link of foreignLinks(path))
      throw forbidden(`${link} is a link that another user has made; look where it leads, and remove it.`);
}

function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  // A folder under the shared temporary directory may have been put there by somebody else, and so may one in a home that was open once.
  const foreign = found.uid !== userId() && found.uid !== 0;
  if (found.isSymbolicLink() && (foreign || folder.startsWith(tmpdir()))) throw new Error(`${folder} is a link`);
  const { uid, mode } = statSync(folder);
  if (uid !== userId()) throw new Error(`${folder} belongs to another user`);
  if ((mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

function probeWritable(folder: string): void {
  const probe = join(folder, `.probe-${process.pid}-${randomBytes(4).toString("hex")}`);
  writeFileSync(probe, "", { mode: 0o600 });
  rmSync(probe);
}

const draftOf = (file: string): string => `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;

/** Readers see the old text or the new one, never a part. */
export function writePrivate(file: string, text: string): void {
  const draft = draftOf(file);
  writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  renameSync(draft, file);
}

/**
 * The same beside other work. ext4 writes a file to the disk before it takes the place of another one: beside a busy disk a rename over an
 * older file took 10 ms in one case of twenty and 110 in one of a hundred, a rename to a new name 0.02.
 */
export async function writePrivateAside(file: string, text: string): Promise<void> {
  const draft = draftOf(file);
  await writeFile(draft, text, { mode: 0o600, flag: "wx" });
  await rename(draft, file);
}

export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
