/** How this program starts another copy of itself as owner, and how its commands reach that owner. */
import { fileURLToPath } from "node:url";
import { connectOwner, type OwnerClient } from "../butler/client.ts";
import { homeAt } from "../butler/home.ts";
import type { Launch } from "../butler/start-owner.ts";
import { type Environment, ownerVariables } from "./environment.ts";
import { version } from "./version.ts";

export function ownLaunch(environment: Environment): Launch {
  const here = fileURLToPath(import.meta.url);
  const entry = here.replace(/launch(\.[jt]s)$/, "butler$1");
  return {
    command: process.execPath,
    args: [...process.execArgv, entry, "own", "--report"],
    env: ownerVariables(environment),
  };
}

interface Options {
  readonly agent?: boolean;
  readonly project?: string | undefined;
}

export function ownerClient(environment: Environment, options: Options = {}): OwnerClient {
  const { now, databaseUrl } = environment;
  const home = homeAt(environment.home);
  const launch = environment.autostart ? ownLaunch(environment) : undefined;
  return connectOwner({ home, launch, version, now, databaseUrl, ...options });
}
