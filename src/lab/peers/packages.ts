/** Packages of peers are no dependencies of this program: they are fetched when somebody asks for it, each peer's into a folder of its own. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { reasonOf, unavailable } from "../../engine/domain/errors.ts";
import type { Peer } from "./peer.ts";

type Packaged = Pick<Peer, "name" | "packages">;

const folderOf = (cache: string, { name }: Packaged) => join(cache, name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase());
const NOTE = "installed.json";
const LAST_WORDS = 300;

/** Undefined: everything is there, in the wanted versions. */
export async function missing(cache: string, peer: Packaged): Promise<string | undefined> {
  const wanted = Object.entries(peer.packages).map(([name, version]) => `${name}@${version}`);
  if (wanted.length === 0) return undefined;
  const note = join(folderOf(cache, peer), NOTE);
  const have = existsSync(note) ? ((await readFile(note, "utf8")) as string) : "";
  return have === JSON.stringify(peer.packages)
    ? undefined
    : `not installed: ${wanted.join(", ")}; --install fetches it`;
}

/** Resolves with the reason if it could not be had. */
export async function install(cache: string, peer: Packaged): Promise<string | undefined> {
  const folder = folderOf(cache, peer);
  await mkdir(folder, { recursive: true });
  const manifest = { private: true, type: "commonjs", dependencies: peer.packages };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  // Peer dependencies of these packages name dozens of database drivers that are not measured.
  const failure = await npm(folder, ["install", "--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error"]);
  if (failure === undefined) await writeFile(join(folder, NOTE), JSON.stringify(peer.packages));
  return failure;
}

function npm(cwd: string, words: readonly string[]): Promise<string | undefined> {
  return new Promise((done) => {
    const child = spawn("npm", words, { cwd, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    child.once("error", (error) => done(`npm could not be started: ${reasonOf(error)}`));
    child.once("close", (code) =>
      done(code === 0 ? undefined : `npm install ended with ${code}: ${said.trim().slice(-LAST_WORDS)}`),
    );
  });
}

export function loaderOf(cache: string, peer: Packaged): <T>(name: string) => T {
  const load = createRequire(join(folderOf(cache, peer), "package.json"));
  return <T>(name: string) => {
    try {
      return load(name) as T;
    } catch (error) {
      throw unavailable(`${name} could not be loaded: ${reasonOf(error)}`, error);
    }
  };
}
