/**
 * Answers that are the same for every memory: the introduction and the lists. The build records them from the protocol's own library
 * (record-answers.ts); an agent's server reads them from a file and has answered before that library would have been loaded.
 */
import type { Failure } from "../../../engine/tools/outcome.ts";
import type { Toolset } from "../advertise.ts";
import { CAPABILITIES, type Era, isCapabilities, isImplementation, isModern, optional, VERSION } from "./era.ts";
import type { Request } from "./json-rpc.ts";

/** JSON texts of results. They hold BUTLER where the butler is named. */
export interface KnownAnswers {
  readonly version: string;
  readonly legacy: KnownResults;
  readonly modern: KnownResults;
}

export interface KnownResults {
  /** The versions of the protocol; the first is offered to a client that asks for none of them. */
  readonly versions: readonly string[];
  /** Of `initialize`, or of `server/discover`: for an agent without our hooks, and for one with them. */
  readonly greeting: { readonly plain: string; readonly hooks: string };
  readonly lists: Readonly<Record<Toolset, Readonly<Record<string, string>>>>;
  /** Of a tool call that failed. It holds CODE and MESSAGE. */
  readonly failed: string;
}

/** Stand-ins for what the build does not know. In an address the name of the butler is encoded. */
export const BUTLER = "«butler»";
export const CODE = "«code»";
export const MESSAGE = "«message»";

export interface Introduction {
  readonly known: KnownAnswers;
  readonly butler: string;
  readonly toolset: Toolset;
  readonly hooks: boolean;
}

/** The response to a request, as JSON; undefined when the owner has to be asked. */
export function knownAnswer(introduction: Introduction, era: Era, request: Request): string | undefined {
  const { known, toolset, hooks } = introduction;
  const modern = isModern(request, (version) => known.modern.versions.includes(version));
  // Whether a request of the other family is refused, and how, is not decided here.
  if (modern ? era !== "modern" && era !== "probed" : era !== "legacy") return undefined;
  const { greeting, lists, versions } = modern ? known.modern : known.legacy;
  const { method, params = {} } = request;
  const greets = greeting[hooks ? "hooks" : "plain"];
  if (method === (modern ? "server/discover" : "initialize")) {
    if (modern) return respond(request, named(introduction, greets));
    if (!isIntroduction(params)) return undefined;
    const protocolVersion = versions.includes(params.protocolVersion) ? params.protocolVersion : versions[0];
    return respond(request, JSON.stringify({ ...JSON.parse(named(introduction, greets)), protocolVersion }));
  }
  if (method === "ping" && !modern) return respond(request, "{}");
  const list = Object.hasOwn(lists[toolset], method) ? lists[toolset][method] : undefined;
  const pages = optional(params.cursor, (cursor) => typeof cursor === "string");
  return list !== undefined && pages ? respond(request, named(introduction, list)) : undefined;
}

/**
 * The lines that plugins/mcp.sh prints, by the names of their files: for an agent with our hooks and the usual tools. They hold `@butler@` and
 * `@id@`.
 */
export function linesForShell(known: KnownAnswers): Record<string, string> {
  const introduction: Introduction = { known, butler: "@butler@", toolset: "core", hooks: true };
  const line = (era: Era, method: string, params: Record<string, unknown>) => {
    const answer = knownAnswer(introduction, era, { jsonrpc: "2.0", id: "@id@", method, params });
    if (answer === undefined) throw new Error(`the answer to ${method} is not known`);
    return `${answer.replaceAll(encodeURIComponent("@butler@"), "@butler@").replace('"@id@"', "@id@")}\n`;
  };
  const lines: Record<string, string> = { "legacy/ping": line("legacy", "ping", {}) };
  for (const protocolVersion of known.legacy.versions) {
    const client = { protocolVersion, capabilities: {}, clientInfo: { name: "shell", version: "1" } };
    lines[`legacy/initialize/${protocolVersion}`] = line("legacy", "initialize", client);
  }
  const claim = (version = known.modern.versions[0]) => ({ _meta: { [VERSION]: version, [CAPABILITIES]: {} } });
  for (const version of known.modern.versions)
    lines[`modern/server/discover/${version}`] = line("modern", "server/discover", claim(version));
  for (const method of Object.keys(known.legacy.lists.core)) lines[`legacy/${method}`] = line("legacy", method, {});
  for (const method of Object.keys(known.modern.lists.core))
    lines[`modern/${method}`] = line("modern", method, claim());
  return lines;
}

/** The response to a request for which no owner could be asked. A tool's is a result, so that the model reads the sentence. */
export function failedAnswer({ known }: Introduction, era: Era, request: Request, { code, message }: Failure): string {
  const { method, params } = request;
  // Reasons may quote a path, and models read this: nothing in it may look like a tag.
  const said = message.replaceAll("<", "(").replaceAll(">", ")");
  if (method === "tools/call") {
    const { failed } = era === "modern" ? known.modern : known.legacy;
    return respond(request, failed.replaceAll(CODE, code).replaceAll(MESSAGE, inJson(said)));
  }
  const uri = method === "resources/read" ? { uri: params?.uri } : {};
  const error = { code: code === "unavailable" ? INTERNAL : INVALID_PARAMS, message: said };
  return JSON.stringify({ jsonrpc: "2.0", id: request.id, error: { ...error, data: { ...uri, code, message: said } } });
}

const INTERNAL = -32603;
const INVALID_PARAMS = -32602;

const respond = ({ id }: Request, result: string): string =>
  `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;

const named = ({ butler }: Introduction, text: string): string =>
  text.replaceAll(BUTLER, () => inJson(butler)).replaceAll(ENCODED, () => inJson(encodeURIComponent(butler)));

const ENCODED = encodeURIComponent(BUTLER);
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function isIntroduction(params: Readonly<Record<string, unknown>>): params is { protocolVersion: string } {
  const { protocolVersion, capabilities, clientInfo } = params;
  return (
    typeof protocolVersion === "string" &&
    isCapabilities(capabilities) &&
    // A word of one older version, whose checks are left to the library.
    !Object.hasOwn(capabilities as object, "tasks") &&
    isImplementation(clientInfo)
  );
}
