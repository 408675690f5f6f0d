/**
 * Rollouts of Codex: lines `{timestamp, type, payload}` with `session_meta`, `response_item`, `event_msg` and others, and the
 * older files whose lines are the response items themselves.
 */
import { answerTo } from "./claude-code.ts";
import { commandIn, exitOf, patchedFiles } from "./codex-shell.ts";
import { type Json, jsonOf, listIn, objectIn, textIn, timeIn } from "./lines.ts";
import type { LineReader, Step } from "./step.ts";
import { onlyReads, shortPath, withoutHostText } from "./words.ts";

export function isCodexLine(bytes: Buffer): boolean {
  return !bytes.includes('"token_count"') || bytes.includes('"message"');
}

interface Asked {
  readonly looking: boolean;
  readonly questions?: readonly Json[];
}

/** How the text begins that Codex adds to a prompt. */
const ADDED = /^\s*(?:<[A-Za-z_][\w -]*>|# AGENTS\.md instructions|Warning: )/;
const IDE = /^# Context from my IDE setup:[\s\S]*?## My request for Codex:\s*/;

export function codex(folder: string | undefined): LineReader {
  /** Calls by id, until their output is read. */
  const asked = new Map<string, Asked>();
  let messages = 0;
  return (line, position) => {
    const wrapped = typeof line.payload === "object" && line.payload !== null;
    const item = wrapped ? objectIn(line.payload) : line;
    const at = timeIn(line.timestamp);
    const key = `@${position}`;
    if (wrapped && line.type === "event_msg") {
      // Written only for what a person typed, so it may begin like an addition of Codex.
      if (item.type !== "user_message") return [];
      return promptOf(textIn(item.message), at, key);
    }
    if (wrapped && line.type !== "response_item") return [];
    if (item.type === "message") {
      const text = listIn(item.content)
        .map((block) => textIn(objectIn(block).text))
        .join("\n");
      if (item.role === "user") return ADDED.test(text) ? [] : promptOf(text, at, key);
      return item.role === "assistant" ? [{ kind: "said", message: `${position}.${messages++}`, text }] : [];
    }
    return toolSteps(item, folder, asked);
  };
}

function promptOf(raw: string, at: string | undefined, key: string): Step[] {
  const text = withoutHostText(raw.replace(IDE, ""));
  return text === "" ? [] : [{ kind: "prompt", text, at, key, echo: true }];
}

const PATCH = /\*\*\* Begin Patch/;

function toolSteps(item: Json, folder: string | undefined, asked: Map<string, Asked>): Step[] {
  const id = textIn(item.call_id) || textIn(item.id);
  const name = item.type === "local_shell_call" ? "shell" : textIn(item.name);
  switch (item.type) {
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call": {
      const raw = textIn(item.arguments) || textIn(item.input);
      const input = item.type === "local_shell_call" ? objectIn(item.action) : (jsonOf(raw) ?? {});
      const command = commandIn(input);
      const patch = [textIn(input.input), textIn(input.patch), command, textIn(item.input)].find((text) =>
        PATCH.test(text),
      );
      const looking = patch === undefined && command !== "" && onlyReads(command);
      const questions = name === "request_user_input" ? { questions: listIn(input.questions).map(objectIn) } : {};
      asked.set(id, { looking, ...questions });
      const ran = command === "" || looking ? [] : [`ran ${command}`];
      const actions =
        patch === undefined ? ran : patchedFiles(patch).map(({ verb, path }) => `${verb} ${shortPath(path, folder)}`);
      const label = patch === undefined ? name : "apply_patch";
      if (actions.length === 0) return [{ kind: "tool", id, name: label }];
      return actions.map((did) => ({ kind: "tool", id, name: label, did }) as const);
    }
    case "web_search_call":
      return [{ kind: "tool", id: "", name: "web_search" }];
    case "function_call_output":
    case "custom_tool_call_output":
      return outputSteps(id, item.output, asked);
    default:
      return [];
  }
}

function outputSteps(id: string, output: unknown, asked: Map<string, Asked>): Step[] {
  const call = asked.get(id);
  asked.delete(id);
  const { failed, refused, why, text } = exitOf(output);
  if (call?.questions !== undefined && call.questions.length > 0) return answered(text, call.questions);
  if (refused) return [{ kind: "refused", id }];
  return failed && call?.looking !== true ? [{ kind: "failed", id, why }] : [];
}

function answered(text: string, questions: readonly Json[]): Step[] {
  const answers = objectIn(jsonOf(text)?.answers);
  return questions.flatMap((question): Step[] => {
    if (question.isSecret === true || question.is_secret === true) return [];
    const said = listIn(objectIn(answers[textIn(question.id)]).answers)
      .map(textIn)
      .filter(Boolean)
      .join(", ");
    return said === "" ? [] : [{ kind: "decided", text: answerTo(textIn(question.question), said) }];
  });
}
