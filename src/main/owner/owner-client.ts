/** How commands reach the owner of this home. */

import { homeAt } from "../../daemon/home.ts";
import { connectOwner, type OwnerClient } from "../../daemon/line/client.ts";
import type { Environment } from "../environment.ts";
import { version } from "../version.ts";
import { ownerLaunch } from "./launch.ts";

interface Options {
  readonly agent?: boolean;
  readonly project?: string | undefined;
}

export function ownerClient(environment: Environment, options: Options = {}): OwnerClient {
  const { now, databaseUrl } = environment;
  const home = homeAt(environment.home);
  const launch = environment.autostart ? ownerLaunch(environment) : undefined;
  return connectOwner({ home, launch, version, now, databaseUrl, ...options });
}
