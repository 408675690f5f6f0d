/**
 * An answer as MCP sends it: text, and JSON beside it. Claude Code and Codex hand their model the JSON and not the text, other clients the
 * text, so both are useful, both are neutral, and the JSON is never longer than the text. Programs may ask for the whole answer.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type Log, silentLog } from "../../engine/adapters/log.ts";
import { isRecord } from "../../engine/domain/record.ts";
import { fitJson } from "../../engine/domain/text/fit-json.ts";
import { neutral, neutralDeep } from "../../engine/domain/text/neutral.ts";
import type { Tool } from "../../engine/tools/define.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import { mcpFailure } from "../failures.ts";

/** In the `_meta` of a request, which no model writes: `{ "butler-memory/answer": "whole" }`. */
export const ANSWER_KEY = "butler-memory/answer";
export const WHOLE = "whole";
/** In the `_meta` of a result: the `request_id` that was given. */
const REQUEST_KEY = "butler-memory/request_id";

/** Whether the caller asks for everything: a program in `_meta`, or anybody by the argument `explain`. */
export function wantsWhole(meta: unknown, input: unknown): boolean {
  return (isRecord(meta) && meta[ANSWER_KEY] === WHOLE) || (isRecord(input) && input.explain === true);
}

/** The answers of these tools are context blocks, which are neutral line by line already; the tag around a block must stay. */
const BLOCK_TOOLS: ReadonlySet<string> = new Set(["memory_context", "memory_context_batch"]);

/** Stored text must not speak to a model, in whichever form it gets there. */
export function forModels(tool: string, outcome: Outcome): Outcome {
  return BLOCK_TOOLS.has(tool) ? outcome : (neutralDeep(outcome) as Outcome);
}

/** `outcome` has been made neutral. */
export function toolResult(tool: Tool, outcome: Outcome, whole = false, log: Log = silentLog): CallToolResult {
  if (!outcome.ok) return mcpFailure(outcome.error);
  const { answer } = outcome;
  const text = answerText(tool, answer, log);
  const { request_id } = answer;
  return {
    content: [{ type: "text", text }],
    structuredContent: whole ? answer : briefly(tool, answer, text.length, log),
    ...(request_id === undefined ? {} : { _meta: { [REQUEST_KEY]: request_id } }),
  };
}

/** The call has succeeded: a form that cannot be made must not turn it into an error, or the agent would repeat a write. */
function answerText(tool: Tool, answer: Record<string, unknown>, log: Log): string {
  try {
    const text = tool.text(answer);
    return BLOCK_TOOLS.has(tool.name) ? text : neutral(text);
  } catch (error) {
    log.error({ err: error, tool: tool.name }, "mcp: the text of an answer failed; JSON is sent instead");
    return JSON.stringify(answer);
  }
}

function briefly(tool: Tool, answer: Record<string, unknown>, chars: number, log: Log): Record<string, unknown> {
  try {
    return fitJson(tool.brief?.tell(answer) ?? answer, chars);
  } catch (error) {
    log.error({ err: error, tool: tool.name }, "mcp: the short form of an answer failed; it is left out");
    return {};
  }
}
