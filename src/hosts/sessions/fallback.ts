/**
 * Reads a butler's configuration without an owner and without its checks: a fault elsewhere in the roster must not keep an agent from
 * its work.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { readIfThere } from "../../daemon/home.ts";
import { MemoryError } from "../../engine/domain/errors.ts";
import { type AgentRuntime, DEFAULT_RUNTIME, instructionsIn, type PreparedSession, whichButler } from "./prepare.ts";

/** Throws only when there is no such butler. */
export function ownConfiguration(
  roster: string | undefined,
  settingsFile: string,
  asked: string | undefined,
): PreparedSession {
  const names = roster === undefined ? ["general"] : namesIn(roster);
  const name = asked ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined || !names.includes(name)) {
    const { code, message } = whichButler(name, names).error;
    throw new MemoryError(code, message, { field: "butler" });
  }
  const folder = roster === undefined ? undefined : join(roster, name);
  const file = folder === undefined ? settingsFile : join(folder, "butler.toml");
  const document = existsSync(file) ? readToml(file) : undefined;
  const off = document !== undefined && isOff(document);
  return {
    butler: name,
    runtime: runtimeIn(document),
    instructions: instructionsIn(folder),
    context: null,
    ...(off ? { off } : {}),
  };
}

function namesIn(roster: string): string[] {
  try {
    return readdirSync(roster)
      .filter((name) => !name.startsWith(".") && existsSync(join(roster, name, "butler.toml")))
      .sort();
  } catch {
    return [];
  }
}

type Table = Readonly<Record<string, unknown>>;

function readToml(file: string): Table | undefined {
  try {
    return parse(readIfThere(file) ?? "");
  } catch {
    return undefined;
  }
}

const tableIn = (table: unknown, name: string): Table | undefined => {
  const value = typeof table === "object" && table !== null ? (table as Table)[name] : undefined;
  return typeof value === "object" && value !== null ? (value as Table) : undefined;
};

/** Memory is on only where the table `[modules.memory]` is present. */
function isOff(document: Table): boolean {
  const memory = tableIn(tableIn(document, "modules"), "memory");
  return memory === undefined || memory.enabled === false;
}

function runtimeIn(document: Table | undefined): AgentRuntime {
  const { command, args, timeout_seconds, env } = tableIn(tableIn(document, "butler"), "runtime") ?? {};
  const texts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");
  return {
    command: typeof command === "string" && command !== "" ? command : DEFAULT_RUNTIME.command,
    args: texts(args) ? (args as string[]) : DEFAULT_RUNTIME.args,
    timeout_seconds:
      typeof timeout_seconds === "number" && timeout_seconds > 0 ? timeout_seconds : DEFAULT_RUNTIME.timeout_seconds,
    env: texts(Object.values(env ?? {})) ? ((env ?? {}) as Record<string, string>) : DEFAULT_RUNTIME.env,
  };
}
