/** Set-up of the projects whose tests start the built program: `dist` is made anew when a source is younger than it. */
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { once } from "./once.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const STEPS = ["scripts/empty-store.mjs", "scripts/mcp-line.mjs", "scripts/token-files.mjs", "scripts/web.mjs"];
const SOURCES = ["src", "web", ...STEPS, "tsconfig.json", "tsconfig.build.json", "package.json"];
/** Written by the last step of the build. */
const LAST = "dist/web/index.html.br";

export async function setup(): Promise<void> {
  await once("build", () => {
    if (isFresh()) return;
    const { status } = spawnSync("npm", ["run", "--silent", "build"], {
      cwd: ROOT,
      stdio: ["ignore", "inherit", "inherit"],
      shell: process.platform === "win32",
    });
    if (status !== 0) throw new Error("the build failed");
  });
}

function isFresh(): boolean {
  const built = statSync(join(ROOT, LAST), { throwIfNoEntry: false })?.mtimeMs;
  return built !== undefined && SOURCES.every((path) => youngest(join(ROOT, path)) < built);
}

/** A folder's own time counts too: it moves when a file goes. */
function youngest(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => youngest(join(path, name))));
}
