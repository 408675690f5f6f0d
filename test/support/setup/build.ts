/** Set-up of the projects whose tests start the built program: `dist` is made anew unless it is what these sources make. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { once } from "./once.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A folder of this run for homes that tests copy. */
    seeds: string;
  }
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await once("build", () => {
    if (run(process.execPath, ["scripts/build-stamp.mjs", "--check"])) return;
    if (!run("npm", ["run", "--silent", "build"])) throw new Error("the build failed");
  });
  const seeds = await once(
    "seeds",
    () => mkdtempSync(join(tmpdir(), "bs-")),
    async (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  );
  project.provide("seeds", seeds.value);
  return seeds.release;
}

function run(command: string, args: readonly string[]): boolean {
  const shell = process.platform === "win32" && command === "npm";
  // The runner says "test", which would build the pages with React's larger and slower half for developers.
  const env = { ...process.env, NODE_ENV: "production" };
  return spawnSync(command, args, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"], shell }).status === 0;
}
