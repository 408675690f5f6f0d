/** How this very program is started again. Apart from `launch.ts`: a hook or a session must not wait for what that loads. */
import { fileURLToPath } from "node:url";
import type { Launch } from "../daemon/owner/start-owner.ts";
import { type Environment, ownerVariables } from "./environment.ts";

export function ownEntry(): { readonly command: string; readonly args: readonly string[] } {
  const entry = fileURLToPath(import.meta.url).replace(/own-entry(\.[jt]s)$/, "butler$1");
  return { command: process.execPath, args: [...process.execArgv, entry] };
}

/** As an owner in the background. */
export function ownLaunch(environment: Environment): Launch {
  const { command, args } = ownEntry();
  return { command, args: [...args, "own", "--report"], env: ownerVariables(environment) };
}
