/** Command line flags made from a tool's input schema. Values are read, never judged: the tool says what is wrong with them. */
import { isRecord } from "../../engine/domain/record.ts";
import { editDistance } from "../../engine/domain/text/spelling.ts";
import type { Tool } from "../../engine/tools/define.ts";
import type { Failure } from "../../engine/tools/outcome.ts";
import { inputSchema } from "../mcp/advertise.ts";
import { type FlagKind, readArgv } from "./argv.ts";

type Schema = Record<string, unknown>;
export type Kind = "string" | "number" | "boolean" | "list" | "json";

export interface Flag {
  /** The argument's name in the tool: `session_id`. */
  readonly name: string;
  /** As typed: `--session-id`. */
  readonly flag: string;
  readonly kind: Kind;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface FlagSet {
  readonly input: Record<string, unknown>;
  /** The whole input when `--json` gave something other than an object; the tool refuses it as it would at any door. */
  readonly whole?: unknown;
  readonly positionals: readonly string[];
  /** `--butler`: whom to talk to. It also fills the tool's own `butler` argument. */
  readonly butler?: string;
  /** `--project`: in which of its projects; no tool has it among its arguments. */
  readonly project?: string;
  /** Answer in JSON. */
  readonly json: boolean;
  readonly help: boolean;
}

export type Usage<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Failure };

export const wrongUsage = (message: string, field?: string) =>
  ({ ok: false, error: { code: "invalid_input", message, ...(field === undefined ? {} : { field }) } }) as const;

export function flagsOf(tool: Tool): Flag[] {
  const schema = inputSchema(tool);
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    flag: `--${name.replaceAll("_", "-")}`,
    kind: kindOf(property, schema),
    required: required.has(name),
    schema: resolved(property, schema),
  }));
}

/**
 * Reads `argv` by the flags. `--json` alone asks for a JSON answer; followed by a value it is also the whole input, which
 * single flags then override. `bareJson`: only a value that looks like an object counts, for commands that take plain words.
 */
export function readFlags(flags: readonly Flag[], argv: readonly string[], bareJson = false): Usage<FlagSet> {
  const kinds = new Map<string, FlagKind>(
    flags.map(({ flag, kind }) => [flag.slice(2), kind === "boolean" ? kind : "string"]),
  );
  for (const name of ["butler", "project"]) kinds.set(name, "string");
  kinds.set("json", "optional");
  const read = readArgv(argv, { kinds, takes: (word) => !bareJson || /^\s*\{/.test(word) });
  const input: Record<string, unknown> = {};
  const about: { butler?: string; project?: string } = {};
  let whole: { value: unknown } | undefined;
  let json = false;
  for (const { name: dashed, typed, value, lacks } of read.flags) {
    const name = dashed.replaceAll("-", "_");
    const flag = flags.find((known) => known.name === name);
    const negated =
      name.startsWith("no_") && value === undefined && flags.find((known) => known.name === name.slice(3));
    if (lacks) return wrongUsage(`--${typed} needs a value (write --${typed}=… if it begins with dashes).`, name);
    if (name === "json") {
      json = true;
      whole = value === undefined ? whole : parsedJson(value);
      if (value !== undefined && whole === undefined)
        return wrongUsage('--json is not valid JSON; quote it: --json \'{"key": "value"}\'.', "json");
    } else if (flag?.kind === "boolean") {
      input[name] = value === undefined || value === "true" ? true : value === "false" ? false : value;
    } else if (flag === undefined && negated && negated.kind === "boolean") {
      input[negated.name] = false;
    } else if (flag === undefined && name !== "butler" && name !== "project") {
      return wrongUsage(`There is no flag --${typed}${nearest(name, flags)}.`, name);
    } else if (value !== undefined) {
      if (name === "butler" || name === "project") about[name] = value;
      if (flag !== undefined) input[name] = readValue(flag, value, input[name]);
    }
  }
  const base = isRecord(whole?.value) ? whole.value : {};
  return {
    ok: true,
    value: {
      input: { ...base, ...input },
      ...(whole !== undefined && !isRecord(whole.value) ? { whole: whole.value } : {}),
      positionals: [...read.positionals, ...read.rest],
      ...about,
      json,
      help: read.help,
    },
  };
}

function readValue(flag: Flag, text: string, before: unknown): unknown {
  if (flag.kind === "string") return text;
  if (flag.kind === "number") return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  const parsed = parsedJson(text);
  if (flag.kind === "json") return parsed === undefined ? text : parsed.value;
  if (text.trimStart().startsWith("[") && parsed !== undefined) return parsed.value;
  const items = itemsAreWords(flag.schema) ? text.split(",").map((item) => item.trim()) : [parsed?.value ?? text];
  return [...(Array.isArray(before) ? before : []), ...items.filter((item) => item !== "")];
}

function kindOf(property: Schema, root: Schema): Kind {
  const schema = resolved(property, root);
  switch (schema.type) {
    case "string":
      return "string";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return "list";
    default:
      return Array.isArray(schema.enum) || typeof schema.const === "string" ? "string" : "json";
  }
}

/** Follows a local `$ref` and looks through "this or null", so that a flag shows its real type. */
function resolved(property: Schema, root: Schema): Schema {
  const name = typeof property.$ref === "string" ? /^#\/\$defs\/(.+)$/.exec(property.$ref)?.[1] : undefined;
  const defs = root.$defs;
  if (name !== undefined && isRecord(defs) && isRecord(defs[name]))
    return { ...resolved(defs[name], root), ...property };
  const variants = property.anyOf ?? property.oneOf;
  if (!Array.isArray(variants)) return property;
  const real = variants.filter((variant) => isRecord(variant) && variant.type !== "null");
  return real.length === 1 && isRecord(real[0]) ? { ...resolved(real[0], root), ...property } : property;
}

function itemsAreWords(schema: Schema): boolean {
  const items = schema.items;
  return !isRecord(items) || items.type === "string" || Array.isArray(items.enum);
}

/** A likely meant flag, when one is at most two letters away or shares its beginning. */
function nearest(name: string, flags: readonly Flag[]): string {
  const close = flags.find((flag) => flag.name.startsWith(name) || editDistance(flag.name, name) <= 2);
  return close === undefined
    ? `; known are ${flags.map((flag) => flag.flag).join(", ")}`
    : `; did you mean ${close.flag}?`;
}

function parsedJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
