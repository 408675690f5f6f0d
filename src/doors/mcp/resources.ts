/** Memories as MCP resources. Every read is a tool call, so rights, references and errors are those of the tool. */
import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { mcpProtocolError } from "./mcp-failures.ts";
import { OPENING_PROMPT } from "./opening-prompt.ts";

type Call = (request: ToolRequest) => Promise<Outcome>;

const TYPES = ["episode", "fact", "rule"];

export const resourceTemplates: ResourceTemplateType[] = [
  {
    name: "context",
    title: "Memory context",
    uriTemplate: "memory://context/{butler}",
    description:
      "What a butler should know at the start of a session, within its token budget. Add ?prompt=… for a task.",
    mimeType: "text/plain",
  },
  {
    name: "memory",
    title: "One memory",
    uriTemplate: "memory://{type}/{id}",
    description: "An episode, fact or rule with its links and history; type is episode, fact or rule.",
    mimeType: "application/json",
  },
];

export function listedResources(butler: string): Resource[] {
  return [
    {
      name: "context",
      title: `Memory context of ${butler}`,
      uri: `memory://context/${encodeURIComponent(butler)}`,
      description: "What this butler should know at the start of a session.",
      mimeType: "text/plain",
    },
    {
      name: "stats",
      title: "Memory statistics",
      uri: "memory://stats",
      description: "How much is remembered, in which state, and how healthy it is.",
      mimeType: "application/json",
    },
  ];
}

export async function readResource(uri: string, call: Call): Promise<ReadResourceResult> {
  const request = requestFor(uri);
  if (request === undefined) {
    const message = `There is no resource "${uri}"; known are memory://context/{butler}, memory://{type}/{id}, memory://stats.`;
    throw mcpProtocolError({ code: "not_found", message }, { uri });
  }
  const outcome = await call(request);
  if (!outcome.ok) throw mcpProtocolError(outcome.error, { uri });
  const text = outcome.answer.text;
  return {
    contents: [
      request.tool === "memory_context" && typeof text === "string"
        ? { uri, mimeType: "text/plain", text }
        : { uri, mimeType: "application/json", text: JSON.stringify(outcome.answer, null, 2) },
    ],
  };
}

function requestFor(uri: string): ToolRequest | undefined {
  const found = /^memory:\/\/([a-z]+)(?:\/([^/?#]+))?(?:\?([^#]*))?$/.exec(uri);
  const [, kind = "", name, query] = found ?? [];
  const value = name === undefined ? undefined : decoded(name);
  if (kind === "stats" && value === undefined) return { tool: "memory_stats", input: {} };
  if (value === undefined) return undefined;
  if (kind === "context") {
    const prompt = new URLSearchParams(query).get("prompt") || OPENING_PROMPT;
    return { tool: "memory_context", input: { trigger_prompt: prompt, butler: value } };
  }
  return TYPES.includes(kind) ? { tool: "memory_get", input: { type: kind, id: value } } : undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
