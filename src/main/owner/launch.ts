/** How this program is started again. It imports little: a hook or a session must not wait for what `owner-client.ts` loads. */
import { fileURLToPath } from "node:url";
import type { Launch } from "../../daemon/owner/start-owner.ts";
import { type Environment, ownerVariables } from "../environment.ts";

const entry = () => new URL(`../butler${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

/** Files of this program that every upgrade and every build writes anew. */
export const programFiles = (): string[] =>
  [entry(), new URL("../../../package.json", import.meta.url)].map((file) => fileURLToPath(file));

/** The command that starts this program, from its sources or from the build as it runs now. */
export function programCommand(): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [...process.execArgv, fileURLToPath(entry())] };
}

/**
 * As an owner in the background, which stays for the day. V8 has one thread for its own work instead of four, and glibc gives
 * back what is freed in pieces of 128 KB: without these an owner at rest keeps more memory. With 4 MB instead of 16 of room for new objects its
 * main thread took a fifth more of CPU time under load, and the whole process no less memory. The heap is collected when it has grown by two fifths:
 * left to itself V8 let it grow to four times what is alive under load (213 MB where 50 were), in no less CPU time.
 */
export const ownerLaunch = (environment: Environment): Launch =>
  asOwner({ ...programCommand(), env: ownerVariables(environment) });

export function asOwner({ command, args, env }: Launch): Launch {
  const flags = ["--max-semi-space-size=16", "--v8-pool-size=1", "--heap-growing-percent=40"];
  return { command, args: [...flags, ...args, "own", "--report"], env: { MALLOC_TRIM_THRESHOLD_: "131072", ...env } };
}
