/** Transcripts of Claude Code: a line for each content block, of which only `user` and `assistant` lines count. */
import { type Json, listIn, objectIn, textIn, timeIn } from "./lines.ts";
import type { LineReader, Step } from "./step.ts";
import { failureLine, onlyReads, shortPath, withoutHostText } from "./words.ts";

export function isClaudeLine(bytes: Buffer): boolean {
  return bytes.includes('"user"') || bytes.includes('"assistant"');
}

export function claudeCode(folder: string | undefined): LineReader {
  /** Calls of the tools that ask the person, by id, until they are answered. */
  const asked = new Map<string, Json>();
  return (line, position) => {
    if (line.isSidechain === true || line.isMeta === true) return [];
    if (line.type === "assistant") return assistantSteps(line, folder, asked);
    if (line.type === "user") return userSteps(line, position, asked);
    return [];
  };
}

function assistantSteps(line: Json, folder: string | undefined, asked: Map<string, Json>): Step[] {
  const message = objectIn(line.message);
  if (line.isApiErrorMessage === true || message.model === "<synthetic>") return [];
  const name = textIn(message.id) || textIn(line.uuid);
  const blocks =
    typeof message.content === "string" ? [{ type: "text", text: message.content }] : listIn(message.content);
  return blocks.map(objectIn).flatMap((block): Step[] => {
    if (block.type === "text") return [{ kind: "said", message: name, text: textIn(block.text) }];
    if (block.type !== "tool_use") return [];
    const tool = textIn(block.name);
    const id = textIn(block.id);
    const input = objectIn(block.input);
    if (tool === "AskUserQuestion" || tool === "ExitPlanMode") asked.set(id, { ...input, tool });
    const used = { kind: "tool", id, name: tool, did: actionOf(tool, input, folder) } as const;
    return tool === "ExitPlanMode" ? [used, ...planned(input, name)] : [used];
  });
}

/** A plan is what the agent said, even where a person approves of it. */
function planned({ plan }: Json, message: string): Step[] {
  const [heading = ""] = textIn(plan)
    .split("\n")
    .map((line) => line.replace(/^#+\s*/, "").trim())
    .filter(Boolean);
  return heading === "" ? [] : [{ kind: "said", message: `${message} plan`, text: `Plan: ${heading}` }];
}

function actionOf(tool: string, input: Json, folder: string | undefined): string | undefined {
  const path = textIn(input.file_path) || textIn(input.notebook_path);
  if (/^(?:Edit|MultiEdit|NotebookEdit|Update)$/.test(tool) && path !== "") return `edited ${shortPath(path, folder)}`;
  if (tool === "Write" && path !== "") return `wrote ${shortPath(path, folder)}`;
  if (tool === "Bash" || tool === "PowerShell") {
    const command = textIn(input.command).trim();
    return command === "" || onlyReads(command) ? undefined : `ran ${command}`;
  }
  if ((tool === "Task" || tool === "Agent") && textIn(input.description) !== "")
    return `delegated: ${textIn(input.description)}`;
  return undefined;
}

function userSteps(line: Json, position: number, asked: Map<string, Json>): Step[] {
  if (line.isCompactSummary === true || line.isVisibleInTranscriptOnly === true) return [];
  const { content } = objectIn(line.message);
  const blocks: Json[] =
    typeof content === "string" ? [{ type: "text", text: content }] : listIn(content).map(objectIn);
  const results = blocks.filter(({ type }) => type === "tool_result");
  // Text beside a result was added by the agent program.
  if (results.length > 0) return results.flatMap((result) => resultSteps(line, result, asked));
  const origin = textIn(objectIn(line.origin).kind);
  if (origin !== "" && origin !== "human") return [];
  const raw = blocks.map((block) => textIn(block.text)).join("\n");
  if (/<command-name>/.test(raw)) return [{ kind: "command" }];
  const text = withoutHostText(raw);
  if (text === "") return [];
  return [{ kind: "prompt", text, at: timeIn(line.timestamp), key: textIn(line.uuid) || `@${position}` }];
}

const REFUSED = "User rejected tool use";
/** Written by the agent program, and believed only in a line that it marks as a refused call: a tool's output could hold these words too. */
const IN_THEIR_WORDS = /the user said:\s*([\s\S]+)$/;

function resultSteps(line: Json, result: Json, asked: Map<string, Json>): Step[] {
  const id = textIn(result.tool_use_id);
  const text = resultText(result.content);
  const question = asked.get(id);
  asked.delete(id);
  if (line.toolUseResult === REFUSED || textIn(line.toolDenialKind) !== "") {
    const words = withoutHostText(IN_THEIR_WORDS.exec(text)?.[1] ?? "").replace(/(?<!\n)\n+Note: The user[\s\S]*$/, "");
    return [{ kind: "refused", id }, ...(words === "" ? [] : [{ kind: "told", text: words } as const])];
  }
  if (result.is_error === true) return [{ kind: "failed", id, why: failureLine(text) }];
  if (question?.tool === "AskUserQuestion")
    return answersIn(line, text).map((one) => ({ kind: "decided", text: one }) as const);
  if (question?.tool === "ExitPlanMode" && /approved/i.test(text))
    return [{ kind: "decided", text: "approved the agent's plan" }];
  return [];
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  return listIn(content)
    .map((block) => textIn(objectIn(block).text))
    .join("\n");
}

/** The answers as structured data where there are any, else from the text that the agent was given. */
function answersIn(line: Json, text: string): string[] {
  const kept = Object.entries(objectIn(objectIn(line.toolUseResult).answers)).map(
    ([question, answer]) => [question, Array.isArray(answer) ? answer.map(textIn).join(", ") : textIn(answer)] as const,
  );
  const told = [...text.matchAll(/"([^"]+)"="([^"]*)"/g)].map((pair) => [pair[1] ?? "", pair[2] ?? ""] as const);
  const free = /^The user responded: ([\s\S]+)$/.exec(text)?.[1];
  if (free !== undefined) return [free];
  return (kept.length > 0 ? kept : told).flatMap(([question, answer]) =>
    answer.trim() === "" ? [] : [answerTo(question, answer)],
  );
}

/** Only the last sentence of the question is quoted: the agent could have put anything before it. */
export function answerTo(question: string, answer: string): string {
  const asked = /(?<![^.!?\n])[^.!?\n]*\?$/.exec(question.trim())?.[0].trim() ?? "";
  return asked === "" ? answer.trim() : `${answer.trim()} (asked: "${asked.slice(-160)}")`;
}
