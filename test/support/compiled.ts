/** Scripts that tests start as processes of their own, compiled once a run: each start would else compile all of `src` anew (1 s of work). */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** By the global set-up. */
export function compileVictims(): void {
  const args = ["--no-install", "tsc", "-p", at("../tsconfig.victims.json")];
  const { status, stdout } = spawnSync("npx", args, { encoding: "utf8", cwd: at("../..") });
  if (status !== 0) throw new Error(`the scripts of the tests do not compile:\n${stdout}`);
}

/** What to give to node for `test/support/<name>.ts`. */
export const compiled = (name: string): string => at(`../../.cache/test/build/test/support/${name}.js`);
