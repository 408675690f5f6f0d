/** A tool as MCP lists it: its schemas in JSON Schema, and hints that follow from its effect. */
import type { Tool as ListedTool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import { ERROR_CODES } from "../../engine/domain/errors.ts";
import type { Effect, Tool } from "../../engine/tools/define.ts";

export type Toolset = "core" | "full";

type Json = Record<string, unknown>;
export interface ObjectSchema extends Json {
  type: "object";
  properties?: Record<string, Json>;
  required?: string[];
}

/** A read counts references, but changes nothing that a caller could notice, so it is announced as read-only. */
const ANNOTATIONS: Readonly<Record<Effect, ToolAnnotations>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  forget: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

/** Patterns longer than this are generated (ISO times, UUIDs) and no help to a model. `format` says the same. */
const READABLE_PATTERN = 60;

const ERROR_SCHEMA: Json = {
  type: "object",
  description: "Present instead of the answer when the call failed.",
  properties: {
    code: { enum: [...ERROR_CODES] },
    message: { type: "string" },
    field: { type: "string" },
    request_id: { type: "string" },
  },
  required: ["code", "message"],
};

/** Arguments for programs: a model has no use for them, and each that is shown costs tokens in every session. */
const FOR_PROGRAMS: ReadonlySet<string> = new Set([
  "request_context",
  "idempotency_key",
  "metadata",
  "matcher",
  "butler",
  "confidence",
  "except",
  "except_session",
  "min_fit",
  "min_confidence",
  "min_relevance",
  "mode",
  "rank",
  "source_episode_id",
  "tier",
  "lasting",
  "opening",
  "memory_context.explain",
  "memory_recall.explain",
]);

const inputs = new WeakMap<Tool, ObjectSchema>();
const listings: Readonly<Record<Toolset, WeakMap<Tool, ListedTool>>> = { core: new WeakMap(), full: new WeakMap() };

/** The input schema as advertised; the command line makes its flags from the same one. */
export function inputSchema(tool: Tool): ObjectSchema {
  return cached(inputs, tool, () => compact(z.toJSONSchema(tool.input, { io: "input", unrepresentable: "any" })));
}

export function listedTools(tools: readonly Tool[], toolset: Toolset): ListedTool[] {
  return tools.filter((tool) => toolset === "full" || tool.core).map((tool) => listedTool(tool, toolset));
}

function listedTool(tool: Tool, toolset: Toolset): ListedTool {
  return cached(listings[toolset], tool, () => ({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: { ...inputFor(tool, toolset), additionalProperties: false } as ListedTool["inputSchema"],
    outputSchema: outputSchema(tool) as NonNullable<ListedTool["outputSchema"]>,
    annotations: { title: tool.title, ...ANNOTATIONS[tool.effect] },
    // Some agents list tools by name only and load them on demand; a memory tool that has to be searched for first is not used.
    ...(tool.core ? { _meta: { "anthropic/alwaysLoad": true } } : {}),
  }));
}

const inputFor = (tool: Tool, toolset: Toolset): ObjectSchema =>
  toolset === "full" ? inputSchema(tool) : forModels(tool.name, inputSchema(tool));

/** An argument or a bound that is not shown still holds: it is accepted when a program sends it, or refused in a sentence that says so. */
function forModels(tool: string, { properties = {}, ...rest }: ObjectSchema): ObjectSchema {
  const isForPrograms = (name: string) => FOR_PROGRAMS.has(name) || FOR_PROGRAMS.has(`${tool}.${name}`);
  const shown = Object.entries(properties).filter(([name]) => !isForPrograms(name));
  const slim = shown.map(([name, property]) => [name, without(property, (key) => SIZES.has(key))]);
  return { ...rest, properties: Object.fromEntries(slim) };
}

/** How long a text or a list may be: a model rarely comes near, and each bound costs tokens in every session. */
const SIZES: ReadonlySet<string> = new Set(["minLength", "maxLength", "minItems", "maxItems"]);

/** What is sent by default, and nothing of it required: what does not fit is left out, and a program may have asked for more. */
function outputSchema(tool: Tool): ObjectSchema {
  const sent = tool.brief === undefined ? tool.output : z.object(tool.brief.shape);
  const schema = compact(z.toJSONSchema(sent, { io: "output", unrepresentable: "any" }));
  const open = without(schema, (key) => key === "required" || key === "additionalProperties") as ObjectSchema;
  return { ...open, properties: { ...open.properties, error: ERROR_SCHEMA } };
}

function compact(schema: object): ObjectSchema {
  const slim = without(schema, isNoise) as ObjectSchema;
  delete slim.$schema;
  return { ...slim, type: "object" };
}

/** A schema without the keywords that are left out. A property may have the name of a keyword: names are no keywords. */
function without(node: unknown, leftOut: (key: string, value: unknown) => boolean): unknown {
  if (Array.isArray(node)) return node.map((part) => without(part, leftOut));
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([key, value]) => !leftOut(key, value));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === "properties" ? eachProperty(value, leftOut) : without(value, leftOut)]),
  );
}

const eachProperty = (properties: object, leftOut: (key: string, value: unknown) => boolean) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, without(schema, leftOut)]));

/** Above this the bound of a text is ours alone. Grammars that are made from schemas (llama.cpp) refuse large repetitions. */
const SMALL_LENGTH = 1_000;

function isNoise(key: string, value: unknown): boolean {
  // Look-around is refused by the makers of grammars, and by Gemini.
  if (key === "pattern") return typeof value === "string" && (value.length > READABLE_PATTERN || value.includes("(?"));
  if (key === "maxLength") return Number(value) >= SMALL_LENGTH;
  if (key === "propertyNames") return true;
  // zod writes the safe-integer bounds for every z.int().
  if (key === "maximum") return value === Number.MAX_SAFE_INTEGER;
  if (key === "minimum") return value === Number.MIN_SAFE_INTEGER;
  return false;
}

function cached<K extends object, V>(cache: WeakMap<K, V>, key: K, make: () => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
