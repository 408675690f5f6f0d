/** Trust in what npm installs rests on the hashes of the lock file: what has none is taken as it comes. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Entry {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const lock = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const entries = Object.entries(lock.packages).filter(([path, entry]) => path !== "" && entry.link !== true);
const without = entries.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""));

/** The machines that the project is built and tested on. */
const isForUs = ({ os, cpu, libc }: Entry): boolean =>
  (os?.includes("linux") ?? true) && (cpu?.includes("x64") ?? true) && (libc?.includes("glibc") ?? true);

test("every package that is a part of the program, or is installed where it is tested, carries its hash", () => {
  const bare = without.filter(([, entry]) => entry.dev !== true || entry.optional !== true || isForUs(entry));
  expect(bare.map(([path, { version }]) => `${path}@${version}`)).toEqual([]);
});

test("those without one are tools of developers on other machines, each known by name", () => {
  const families = new Set(without.map(([path]) => path.replace(/^node_modules\/(@[^/]+\/[a-z]+)-.*$/, "$1")));
  expect([...families].sort()).toEqual(["@biomejs/cli", "@oxc-parser/binding", "@rolldown/binding"]);
  expect(without).toHaveLength(40);
});

test("no entry names where it came from: the hash decides, not the host", () => {
  expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});

test("npm runs no script of a package that is a part of the program", () => {
  // onnxruntime-node's would download a GPU library. npm 11 reads `allowScripts`; older ones run a script only where the lock file names one.
  const named = entries.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
  expect(named).toEqual(["node_modules/esbuild"]);
  const { allowScripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(allowScripts).toEqual({ esbuild: false, "onnxruntime-node": false });
});
