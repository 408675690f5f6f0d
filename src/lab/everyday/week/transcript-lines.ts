/** The lines of a scripted session as Claude Code 2.1.325 and Codex 0.166.0 write them into their transcripts. */
import { createHash } from "node:crypto";
import type { Part, ScriptedSession } from "./script.ts";

/** The same name gives the same id in every run. */
export function idOf(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export interface Written {
  readonly part: Part;
  readonly lines: readonly string[];
}

/** Part by part, in the order in which an agent would write them. */
export function transcriptOf(scripted: ScriptedSession, session: string, folder: string): Written[] {
  const write = scripted.agent === "codex" ? codexLines : claudeLines;
  let at = scripted.at.getTime();
  return scripted.parts.map((part, nth) => {
    at += 20_000;
    const where = { session, folder, at: new Date(at).toISOString(), name: `${session} ${nth}`, first: nth === 0 };
    return { part, lines: write(part, where).map((line) => `${JSON.stringify(line)}\n`) };
  });
}

interface Where {
  readonly session: string;
  readonly folder: string;
  readonly at: string;
  readonly name: string;
  readonly first: boolean;
}

function claudeLines(part: Part, { session, folder, at, name }: Where): object[] {
  const common = (what: string) => ({
    ...{ isSidechain: false, uuid: idOf(`${name} ${what}`), timestamp: at, userType: "external" },
    ...{ entrypoint: "cli", cwd: folder, sessionId: session, version: "2.1.325", gitBranch: "main" },
  });
  const assistant = (what: string, block: object) => ({
    ...common(what),
    message: {
      id: `msg_${idOf(name)}`,
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [block],
    },
    type: "assistant",
  });
  if (part.kind === "agent") return [assistant("text", { type: "text", text: part.text })];
  if (part.kind === "user") {
    const content = part.text.startsWith("/")
      ? `<command-name>${part.text}</command-name>\n<command-message>${part.text.slice(1)}</command-message>`
      : part.text;
    return [{ ...common("prompt"), type: "user", message: { role: "user", content } }];
  }
  const id = `toolu_${idOf(`${name} call`)}`;
  const input = part.kind === "edit" ? { file_path: `${folder}/${part.path}` } : { command: part.command };
  const output = part.kind === "edit" ? "The file has been updated." : part.output;
  const failed = part.kind === "command" && part.failed;
  const result = { tool_use_id: id, type: "tool_result", content: output, ...(failed ? { is_error: true } : {}) };
  return [
    assistant("call", { type: "tool_use", id, name: part.tool, input }),
    { ...common("result"), type: "user", message: { role: "user", content: [result] }, toolUseResult: output },
  ];
}

function codexLines(part: Part, { session, folder, at, name, first }: Where): object[] {
  const line = (type: string, payload: object) => ({ timestamp: at, type, payload });
  const meta = { session_id: session, id: session, timestamp: at, cwd: folder, originator: "codex_cli", source: "cli" };
  return [...(first ? [line("session_meta", meta)] : []), ...items(part, name).map(([type, item]) => line(type, item))];
}

function items(part: Part, name: string): [string, object][] {
  const message = (role: string, type: string, text: string) => ({ type: "message", role, content: [{ type, text }] });
  if (part.kind === "agent") return [["response_item", message("assistant", "output_text", part.text)]];
  if (part.kind === "user")
    return [
      ["response_item", message("user", "input_text", part.text)],
      ["event_msg", { type: "user_message", message: part.text }],
    ];
  const call_id = `call_${idOf(name)}`;
  const call =
    part.kind === "edit"
      ? { type: "custom_tool_call", name: part.tool, input: patchOf(part.path) }
      : {
          type: "function_call",
          name: part.tool,
          arguments: JSON.stringify({ command: ["bash", "-lc", part.command] }),
        };
  const output = part.kind === "edit" ? "Success." : part.output;
  const exit_code = part.kind === "command" && part.failed ? 1 : 0;
  const done = JSON.stringify({ output, metadata: { exit_code, duration_seconds: 1 } });
  return [
    ["response_item", { ...call, call_id }],
    ["response_item", { type: `${call.type}_output`, call_id, output: done }],
  ];
}

const patchOf = (path: string): string =>
  `*** Begin Patch\n*** Update File: ${path}\n@@\n-before\n+after\n*** End Patch`;
