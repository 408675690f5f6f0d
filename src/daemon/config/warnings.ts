/** Settings of a `butler.toml` that are valid but surely not meant. */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { ButlerConfig } from "./config.ts";
import { type Fault, faultAt, type Written } from "./faults.ts";
import { ownLine } from "./lines.ts";
import { maskText, quoted } from "./mask.ts";

type Variables = Readonly<Record<string, string | undefined>>;

export function warningsOf(config: ButlerConfig, written: Written, variables: Variables): Fault[] {
  return [
    ...commandWarnings(config, written, variables),
    ...scheduleWarnings(config, written),
    ...serviceWarnings(config, written, variables),
    ...instructionWarnings(config),
  ];
}

/** Only for a command that is written in the file: who does not use `butler run` need not have the default one. */
function commandWarnings({ runtime }: ButlerConfig, written: Written, variables: Variables): Fault[] {
  const path = ["butler", "runtime", "command"];
  if (ownLine(written.lines, path) === undefined) return [];
  if (isRunnable(runtime.command, runtime.env.PATH ?? variables.PATH ?? "")) return [];
  const where = isAbsolute(runtime.command) ? "cannot be run" : "is not on the PATH";
  return [faultAt(written, path, `found ${quoted(maskText(runtime.command))}, which ${where}; butler run needs it.`)];
}

const ENDINGS = process.platform === "win32" ? [".exe", ".cmd", ".bat", ""] : [""];

function isRunnable(command: string, path: string): boolean {
  // A relative path starts at the folder of a session, which is not known yet.
  if (/[\\/]/.test(command)) return !isAbsolute(command) || canRun(command);
  return path.split(delimiter).some((folder) => ENDINGS.some((ending) => canRun(join(folder, `${command}${ending}`))));
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Whatever the reason, it cannot be run.
    return false;
  }
}

function scheduleWarnings({ memory, role }: ButlerConfig, written: Written): Fault[] {
  const scheduled = ownLine(written.lines, ["butler", "schedule"]) !== undefined;
  const warn = (key: string, message: string) => [faultAt(written, ["butler", key], message)];
  const off = memory.enabled
    ? []
    : role === "memory"
      ? warn("role", "a Memory Butler without [modules.memory] keeps nothing.")
      : [];
  if (!scheduled) return off;
  if (!memory.enabled)
    return [...off, ...warn("schedule", "nothing runs without memory; [modules.memory] switches it on.")];
  if (memory.service === undefined) return [];
  return warn("schedule", "nothing runs here; the shared Memory Butler has a schedule of its own.");
}

function serviceWarnings({ memory }: ButlerConfig, written: Written, variables: Variables): Fault[] {
  if (!memory.enabled || memory.service === undefined) return [];
  const { service_token_env: variable, service_token_file: file } = memory;
  if (file !== undefined) {
    const fault = tokenFileFault(file);
    return fault === undefined ? [] : [faultAt(written, ["modules", "memory", "service_token_file"], fault)];
  }
  if (variables[variable]) return [];
  const message = `no token is to be found: ${maskText(variable)} is not set here, and there is no service_token_file.`;
  return [faultAt(written, ["modules", "memory", "service"], message)];
}

function tokenFileFault(file: string): string | undefined {
  try {
    if (readFileSync(file, "utf8").trim() === "") return `${file} is empty.`;
    return (statSync(file).mode & 0o077) === 0 ? undefined : `${file} can be read by others; chmod 600 it.`;
  } catch {
    // Missing, a folder, or another user's: the owner could not read it either.
    return `${file} cannot be read.`;
  }
}

function instructionWarnings({ folder }: ButlerConfig): Fault[] {
  if (folder === undefined) return [];
  const file = join(folder, "CLAUDE.md");
  try {
    accessSync(file, constants.R_OK);
    return [];
  } catch {
    return [
      { file, key: "", message: "it is not there; an agent that is started as this butler gets no instructions." },
    ];
  }
}
