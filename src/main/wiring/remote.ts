/** Opens the connection to a shared Memory Butler, with the token from the environment or from a file. */
import { readFileSync } from "node:fs";
import type { ButlerConfig } from "../../daemon/config/config.ts";
import { type RemoteMemory, remoteMemory } from "../../daemon/owner/remote-memory.ts";
import { version } from "../version.ts";

type Variables = Readonly<Record<string, string | undefined>>;

export function remoteOf({ memory }: ButlerConfig, variables: Variables = process.env): RemoteMemory {
  const { service = "", service_token_env: name, service_token_file: file } = memory;
  return remoteMemory({
    url: service,
    version,
    token: () => (file === undefined ? variables[name] || undefined : readFileSync(file, "utf8").trim()),
  });
}
