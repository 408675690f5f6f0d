import { resolve } from "node:path";
import { type ButlerConfig, configError, defaultButler } from "../../daemon/config/config.ts";
import { checkDaemonToml } from "../../daemon/config/daemon-config.ts";
import type { Written } from "../../daemon/config/faults.ts";
import { configSchema } from "../../daemon/config/json-schema.ts";
import { butlerValues, type Presets } from "../../daemon/config/values.ts";
import { warningsOf } from "../../daemon/config/warnings.ts";
import { homeAt, readIfThere } from "../../daemon/home.ts";
import { type RosterEntry, rosterEntries } from "../../daemon/roster/roster.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid, notFound } from "../../engine/domain/errors.ts";
import { nearest } from "../../engine/domain/text/spelling.ts";
import { ENVIRONMENT_FLAGS, type Environment, withFlags } from "../environment.ts";
import { type Context, readOptions } from "../program/command.ts";
import { type CheckedButler, checkLines, type ShownButler, showLines } from "../words/config.ts";
import { environmentValues, type GivenFlags } from "../words/environment-values.ts";

export const usage = `butler config check [--roster <folder>] [--json]
butler config show [--butler <name>] [--all] [--json] [--roster <folder>] [--port <n>] [--host <address>]
                   [--database-url <url>] [--model-dir <folder>]
butler config schema

check reads every butler.toml of the roster (without one, that of BUTLER_HOME, if there is any) and the daemon.toml of BUTLER_HOME, and reports all faults at once, each with its file, line and key (exit code 2),
and settings that are valid but surely not meant (exit code 0). show lists the settings in force and where each came from: a flag,
the environment, a line of butler.toml, or the default; --all shows the defaults too. schema prints the JSON schema of
butler.toml, for editors. Secrets are masked. A flag wins over the environment, the environment over butler.toml, and
butler.toml over the default.`;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const [verb, ...rest] = args;
  if (verb === "check") return check(rest, context);
  if (verb === "show") return show(rest, context);
  if (verb === "schema") {
    readOptions(rest, { json: { type: "boolean" } });
    context.say(JSON.stringify(configSchema(), null, 2));
    return 0;
  }
  throw invalid("arguments", verb === undefined ? usage : `butler config has no "${verb}": check, show or schema.`);
}

async function check(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, { roster: { type: "string" }, json: { type: "boolean" } });
  const roster = values.roster === undefined ? environment.roster : resolve(values.roster);
  const { settingsFile, daemonFile } = homeAt(environment.home);
  const found = checkedOf(rosterEntries(roster, settingsFile));
  const butlers = found.length > 0 ? found : [{ name: "general", faults: [], warnings: [] }];
  const daemon = checkedDaemon(daemonFile);
  const ok = [...butlers, ...daemon].every(({ faults }) => faults.length === 0);
  if (values.json) {
    const told = butlers.map((butler) => ({ ok: butler.faults.length === 0, ...butler }));
    const [limits = null] = daemon.map((one) => ({ ok: one.faults.length === 0, ...one }));
    say(JSON.stringify({ ok, roster: roster ?? null, butlers: told, daemon: limits }, null, 2));
  } else for (const line of checkLines(butlers, daemon, roster, onTerminal(environment))) say(line);
  return ok ? 0 : 2;
}

/** The settings of the daemon itself, if it has a file of them. */
function checkedDaemon(file: string): CheckedButler[] {
  const text = readIfThere(file);
  if (text === undefined) return [];
  const checked = checkDaemonToml(text, file);
  return [{ name: "daemon.toml", file, faults: checked.ok ? [] : checked.faults, warnings: [] }];
}

const checkedOf = (entries: readonly RosterEntry[]): CheckedButler[] =>
  entries.map(({ name, file, checked }) => ({
    name,
    file,
    faults: checked.ok ? [] : checked.faults,
    warnings: checked.ok ? warningsOf(checked.config, checked.written, process.env) : [],
  }));

async function show(args: readonly string[], context: Context): Promise<ExitCode> {
  const { values } = readOptions(args, {
    butler: { type: "string" },
    all: { type: "boolean" },
    json: { type: "boolean" },
    ...ENVIRONMENT_FLAGS,
  });
  const environment = withFlags(context.environment, values);
  const flags: GivenFlags = {
    ...(values.port === undefined ? {} : { port: "--port" }),
    ...(values.host === undefined ? {} : { host: "--host" }),
    ...(values.roster === undefined ? {} : { roster: "--roster" }),
    ...(values["database-url"] === undefined ? {} : { databaseUrl: "--database-url" }),
    ...(values["model-dir"] === undefined ? {} : { modelDir: "--model-dir" }),
  };
  const presets = await usualTimes();
  const butlers = chosen(environment, values.butler).map(({ config, written }): ShownButler => {
    const { enabled, service } = config.memory;
    const here = enabled && service === undefined;
    return {
      name: config.name,
      ...(written === undefined ? {} : { file: written.file }),
      memory: here ? "on" : enabled ? "shared" : "off",
      values: butlerValues(config, written, here ? presets : {}),
    };
  });
  const shown = { house: environmentValues(environment, flags), butlers };
  if (values.json) context.say(JSON.stringify(asJson(shown, values.all ?? false), null, 2));
  else for (const line of showLines(shown, values.all ?? false, onTerminal(environment))) context.say(line);
  return 0;
}

interface Chosen {
  readonly config: ButlerConfig;
  readonly written: Written | undefined;
}

/** A butler that was asked for is shown even when the file of another one has faults. */
function chosen({ roster, home }: Environment, asked: string | undefined): Chosen[] {
  const entries = rosterEntries(roster, homeAt(home).settingsFile);
  const names = entries.length > 0 ? entries.map(({ name }) => name) : ["general"];
  if (asked !== undefined && !names.includes(asked)) {
    const meant = nearest(asked, names);
    throw notFound(
      `There is no butler "${asked}"${meant === undefined ? "" : `; did you mean "${meant}"?`} Known are ${names.join(", ")}.`,
    );
  }
  if (entries.length === 0) return [{ config: defaultButler("general"), written: undefined }];
  const wanted = entries.filter(({ name }) => asked === undefined || name === asked);
  const faults = wanted.flatMap(({ checked }) => (checked.ok ? [] : checked.faults));
  if (faults.length > 0) throw configError(faults);
  return wanted.flatMap(({ checked }) => (checked.ok ? [checked] : []));
}

/** Loaded only here: the jobs import the whole memory. */
async function usualTimes(): Promise<Presets> {
  const { jobs } = await import("../../engine/memory/keep/jobs.ts");
  return Object.fromEntries(jobs.map(({ name, cron }) => [name, cron]));
}

const onTerminal = ({ colour }: Environment): boolean => colour && process.stdout.isTTY === true;

/** A value that is not set is null: JSON would leave it out. */
function asJson({ house, butlers }: { house: ShownButler["values"]; butlers: readonly ShownButler[] }, all: boolean) {
  const told = (values: ShownButler["values"]) => ({
    values: values
      .filter(({ differs }) => all || differs)
      .map(({ key, value, source }) => ({ key, value: value ?? null, source })),
    at_default: values.filter(({ differs }) => !differs).length,
  });
  return { house: told(house), butlers: butlers.map(({ values, ...butler }) => ({ ...butler, ...told(values) })) };
}
