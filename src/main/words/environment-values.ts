/** The values that hold for the whole home, and where each came from: a flag, the environment or the default. */
import { maskText } from "../../daemon/config/mask.ts";
import type { Effective } from "../../daemon/config/values.ts";
import { type Environment, readEnvironment } from "../environment.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The flags that were given, by the name of the value they set. */
export type GivenFlags = Readonly<Partial<Record<keyof Environment, string>>>;

/** The log level of `butler up` when none is set. */
const USUAL_LOG = "warn";

const ROWS: readonly { key: string; of: keyof Environment; variable: string }[] = [
  { key: "home", of: "home", variable: "BUTLER_HOME" },
  { key: "roster", of: "roster", variable: "BUTLER_ROSTER" },
  { key: "database", of: "databaseUrl", variable: "BUTLER_DATABASE_URL" },
  { key: "database_direct", of: "directUrl", variable: "BUTLER_DIRECT_URL" },
  { key: "read_from", of: "readUrls", variable: "BUTLER_READ_URL" },
  { key: "host", of: "host", variable: "BUTLER_HOST" },
  { key: "port", of: "port", variable: "BUTLER_PORT" },
  { key: "allowed_hosts", of: "allowedHosts", variable: "BUTLER_ALLOWED_HOSTS" },
  { key: "model_dir", of: "modelDir", variable: "BUTLER_MODEL_DIR" },
  { key: "log", of: "logLevel", variable: "BUTLER_LOG" },
  { key: "idle_seconds", of: "idleSeconds", variable: "BUTLER_IDLE_SECONDS" },
  { key: "autostart", of: "autostart", variable: "BUTLER_AUTOSTART" },
  { key: "project", of: "project", variable: "BUTLER_PROJECT" },
  { key: "now", of: "now", variable: "BUTLER_NOW" },
];

export function environmentValues(
  environment: Environment,
  flags: GivenFlags,
  variables: Variables = process.env,
): Effective[] {
  const usual = readEnvironment({});
  return ROWS.map(({ key, of, variable }) => {
    const value = of === "logLevel" ? (environment.logLevel ?? USUAL_LOG) : environment[of];
    return {
      key,
      value: typeof value === "string" ? maskText(value) : Array.isArray(value) ? value.map(maskText).join(" ") : value,
      source: flags[of] ?? (variables[variable] ? variable : "default"),
      differs: String(value) !== String(of === "logLevel" ? USUAL_LOG : usual[of]),
    };
  });
}
