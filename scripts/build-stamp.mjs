/**
 * The last step of a build writes down what it was made from and what it made, by content. The tests build again unless both are still so:
 * `npm ci` has built already, and a build takes 25 s of CPU time.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { at } from "./bundle.mjs";

const ROOT = at("");
const STAMP = at(".cache/build-stamp");
const INPUTS = ["src", "web", "scripts", "package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];

/** True when a build now would make what is there. */
export const isBuilt = () => existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp();

function stamp() {
  return `${process.version}\n${digestOf(INPUTS)}\n${digestOf(["dist"])}\n`;
}

function digestOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths.map((name) => join(ROOT, name)).flatMap(filesBelow)) {
    const bytes = readFileSync(path);
    hash.update(`${relative(ROOT, path)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function filesBelow(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === at("scripts/build-stamp.mjs")) {
  if (process.argv[2] === "--check") process.exit(isBuilt() ? 0 : 1);
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, stamp());
}
