/** Reads the environment, for all of the program. Paths become absolute here: an owner runs in another folder than the process that starts it. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { invalid } from "../engine/domain/errors.ts";

export interface Environment {
  readonly home: string;
  readonly databaseUrl: string | undefined;
  /** That server without the pooler that the former may lead to. */
  readonly directUrl: string | undefined;
  /** Replicas of that server, from which is read. */
  readonly readUrls: readonly string[];
  readonly host: string;
  readonly port: number;
  /** Names besides this machine's own under which requests may come to the port: those of a service or a proxy in front of it. */
  readonly allowedHosts: readonly string[];
  readonly modelDir: string | undefined;
  readonly roster: string | undefined;
  /** Undefined: each command has its own default. */
  readonly logLevel: LogLevel | undefined;
  readonly now: string | undefined;
  readonly idleSeconds: number;
  /** An explicit project key, which wins over that of the folder. */
  readonly project: string | undefined;
  /** True: `/metrics` is answered without a token. */
  readonly metricsOpen: boolean;
  /** False: no owner is started in the background, only a running one is used. */
  readonly autostart: boolean;
  /** True in sessions that `butler run` or the extractor started, and where hooks are switched off: their hooks do nothing. */
  readonly hooksOff: boolean;
  /** False when NO_COLOR asks for plain text. */
  readonly colour: boolean;
}

/** Ten hours: an owner at rest takes little, and starting one takes a busy machine seconds. */
const WORKING_DAY_SECONDS = "36000";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Variables = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as one that is not set. */
export function readEnvironment(variables: Variables = process.env): Environment {
  const value = (name: string) => variables[name] || undefined;
  const path = (name: string) => {
    const given = value(name);
    return given === undefined ? undefined : resolve(given);
  };
  return {
    home: path("BUTLER_HOME") ?? join(homedir(), ".butler"),
    databaseUrl: value("BUTLER_DATABASE_URL"),
    directUrl: value("BUTLER_DIRECT_URL"),
    readUrls: listIn(value("BUTLER_READ_URL")),
    host: value("BUTLER_HOST") ?? "127.0.0.1",
    port: readPort(value("BUTLER_PORT") ?? "4270", "BUTLER_PORT"),
    allowedHosts: listIn(value("BUTLER_ALLOWED_HOSTS")).map(readHostName),
    modelDir: path("BUTLER_MODEL_DIR"),
    roster: path("BUTLER_ROSTER"),
    logLevel: readLogLevel(value("BUTLER_LOG")),
    now: readNow(value("BUTLER_NOW")),
    idleSeconds: readSeconds(value("BUTLER_IDLE_SECONDS") ?? WORKING_DAY_SECONDS),
    project: value("BUTLER_PROJECT"),
    metricsOpen: readMetrics(value("BUTLER_METRICS")),
    autostart: !isOff(value("BUTLER_AUTOSTART")),
    hooksOff: value("BUTLER_CONSOLIDATION") === "1" || value("BUTLER_SPAWNED") === "1" || isOff(value("BUTLER_HOOKS")),
    colour: value("NO_COLOR") === undefined,
  };
}

/** Separated by blanks or commas. */
const listIn = (text = ""): string[] => text.split(/[\s,]+/).filter(Boolean);

const isOff = (text: string | undefined): boolean => text === "0" || text === "off" || text === "false";

/** The flags that `butler up` takes and `butler config show` understands; a flag goes before the environment. */
export const ENVIRONMENT_FLAGS = {
  port: { type: "string" },
  host: { type: "string" },
  roster: { type: "string" },
  "database-url": { type: "string" },
  "model-dir": { type: "string" },
} as const;

export function withFlags(
  environment: Environment,
  flags: { readonly [K in keyof typeof ENVIRONMENT_FLAGS]?: string },
): Environment {
  const { port, host, roster, "database-url": databaseUrl, "model-dir": modelDir } = flags;
  return {
    ...environment,
    ...(port === undefined ? {} : { port: readPort(port, "--port") }),
    ...(host === undefined ? {} : { host }),
    ...(roster === undefined ? {} : { roster: resolve(roster) }),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(modelDir === undefined ? {} : { modelDir: resolve(modelDir) }),
  };
}

/** The environment of an owner: that of the process that starts it, with its paths made absolute. */
export function ownerVariables(
  environment: Environment,
  variables: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  return {
    ...variables,
    BUTLER_HOME: environment.home,
    ...(environment.modelDir === undefined ? {} : { BUTLER_MODEL_DIR: environment.modelDir }),
    ...(environment.roster === undefined ? {} : { BUTLER_ROSTER: environment.roster }),
  };
}

export function readPort(text: string, name: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw invalid(name, `${name} is "${text}"; it must be a port between 0 and 65535 (0 takes any free one).`);
}

/** As a Host header has it without its port. A pattern is refused: whoever names the host of a page also chooses what the pattern matches. */
function readHostName(text: string): string {
  const name = text.toLowerCase();
  const written = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])$/.test(name);
  // What looks like a name and is a short form of an address ("127.1", "4270") is none: no Host header would equal it.
  if (written && URL.canParse(`http://${name}/`) && new URL(`http://${name}/`).hostname === name) return name;
  throw invalid(
    "BUTLER_ALLOWED_HOSTS",
    `BUTLER_ALLOWED_HOSTS names "${text}"; each entry must be one whole host name such as memory.example.org, without "*", http://, port, path or a dot at its end; separate several by blanks or commas.`,
  );
}

function readLogLevel(text: string | undefined): LogLevel | undefined {
  if (text === undefined) return undefined;
  const level = LOG_LEVELS.find((known) => known === text);
  if (level) return level;
  throw invalid("BUTLER_LOG", `BUTLER_LOG is "${text}"; it must be one of ${LOG_LEVELS.join(", ")}.`);
}

function readMetrics(text: string | undefined): boolean {
  if (text === undefined || text === "token" || text === "open") return text === "open";
  throw invalid("BUTLER_METRICS", `BUTLER_METRICS is "${text}"; it must be token (the default) or open.`);
}

function readNow(text: string | undefined): string | undefined {
  if (text === undefined || !Number.isNaN(Date.parse(text))) return text;
  throw invalid("BUTLER_NOW", `BUTLER_NOW is "${text}"; it must be an ISO time such as 2026-01-31T09:00:00Z.`);
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw invalid("BUTLER_IDLE_SECONDS", `BUTLER_IDLE_SECONDS is "${text}"; it must be a number of seconds above 0.`);
}
