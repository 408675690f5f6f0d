/** Command line flags made from a tool's input schema. Values are converted and not checked: the tool says what is wrong with them. */
import { isRecord } from "../../engine/domain/record.ts";
import { editDistance } from "../../engine/domain/text/spelling.ts";
import type { Tool } from "../../engine/tools/define.ts";
import type { Failure } from "../../engine/tools/outcome.ts";
import { inputSchema } from "../mcp/advertise.ts";
import { type FlagKind, readArgv, type TypedFlag } from "./argv.ts";

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
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const own = resolved(property, schema);
    const flag = `--${name.replaceAll("_", "-")}`;
    return { name, flag, kind: kindOf(own), required: required.has(name), schema: own };
  });
}

/**
 * Reads `argv` by the flags. `--json` alone asks for a JSON answer; followed by a value it is also the whole input, which
 * single flags then override. `bareJson`: only a value that looks like an object counts, for commands that take plain words.
 */
export function readFlags(flags: readonly Flag[], argv: readonly string[], bareJson = false): Usage<FlagSet> {
  const read = readArgv(argv, { kinds: argvKinds(flags), takes: (word) => !bareJson || /^\s*\{/.test(word) });
  const state: ReadState = { input: {}, callee: {}, whole: undefined, json: false };
  for (const typed of read.flags) {
    const wrong = readFlag(state, flags, typed);
    if (wrong !== undefined) return wrong;
  }
  const { input, callee, whole, json } = state;
  const base = isRecord(whole?.value) ? whole.value : {};
  return {
    ok: true,
    value: {
      input: { ...base, ...input },
      ...(whole !== undefined && !isRecord(whole.value) ? { whole: whole.value } : {}),
      positionals: [...read.positionals, ...read.rest],
      ...callee,
      json,
      help: read.help,
    },
  };
}

/** Flags of every tool that say whom the call goes to. */
const CALLEE = ["butler", "project"] as const;

interface ReadState {
  readonly input: Record<string, unknown>;
  readonly callee: { butler?: string; project?: string };
  whole: { value: unknown } | undefined;
  json: boolean;
}

function argvKinds(flags: readonly Flag[]): Map<string, FlagKind> {
  const kinds = new Map<string, FlagKind>(
    flags.map(({ flag, kind }) => [flag.slice(2), kind === "boolean" ? kind : "string"]),
  );
  for (const name of CALLEE) kinds.set(name, "string");
  return kinds.set("json", "optional");
}

/** What is wrong with it, if anything. */
function readFlag(state: ReadState, flags: readonly Flag[], { name: dashed, typed, value, lacks }: TypedFlag) {
  const name = dashed.replaceAll("-", "_");
  if (lacks) return wrongUsage(`--${typed} needs a value (write --${typed}=… if it begins with dashes).`, name);
  if (name === "json") return readJsonFlag(state, value);
  const callee = CALLEE.find((known) => known === name);
  const flag = flags.find((known) => known.name === name);
  if (callee !== undefined && value !== undefined) state.callee[callee] = value;
  if (flag !== undefined) state.input[name] = VALUES[flag.kind](value ?? "true", flag.schema, state.input[name]);
  if (callee !== undefined || flag !== undefined) return undefined;
  const negated = value === undefined && flags.find((known) => known.kind === "boolean" && `no_${known.name}` === name);
  if (!negated) return wrongUsage(`There is no flag --${typed}${nearest(name, flags)}.`, name);
  state.input[negated.name] = false;
  return undefined;
}

function readJsonFlag(state: ReadState, value: string | undefined) {
  state.json = true;
  if (value === undefined) return undefined;
  state.whole = parsedJson(value);
  return state.whole === undefined
    ? wrongUsage('--json is not valid JSON; quote it: --json \'{"key": "value"}\'.', "json")
    : undefined;
}

/** The text of a flag as the value its kind asks for. What does not fit stays text, and the tool refuses it. `before`: of the same flag. */
const VALUES: Readonly<Record<Kind, (text: string, schema: Schema, before: unknown) => unknown>> = {
  string: (text) => text,
  number: (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text),
  boolean: (text) => (text === "true" ? true : text === "false" ? false : text),
  json(text) {
    const parsed = parsedJson(text);
    return parsed === undefined ? text : parsed.value;
  },
  list(text, schema, before) {
    const parsed = parsedJson(text);
    if (text.trimStart().startsWith("[") && parsed !== undefined) return parsed.value;
    const items = itemsAreWords(schema) ? text.split(",").map((item) => item.trim()) : [parsed?.value ?? text];
    return [...(Array.isArray(before) ? before : []), ...items.filter((item) => item !== "")];
  },
};

/** Of the types of JSON Schema; a property with none of them is an enum of texts, or given as JSON. */
const KINDS = new Map<unknown, Kind>([
  ["string", "string"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
  ["array", "list"],
]);

function kindOf(schema: Schema): Kind {
  const isText = Array.isArray(schema.enum) || typeof schema.const === "string";
  return KINDS.get(schema.type) ?? (isText ? "string" : "json");
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
