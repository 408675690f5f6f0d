/** Helpers for the text in transcripts: what the agent program added, names of tools, commands, errors and paths. */
import { withoutOwnBlock } from "../../engine/domain/text/own-block.ts";

const HOST_TAGS = [
  ..."system-reminder command-name command-message command-args command-contents local-command-stdout local-command-stderr".split(
    " ",
  ),
  ..."local-command-caveat bash-input bash-stdout bash-stderr bash-exit-code user-prompt-submit-hook session-start-hook".split(
    " ",
  ),
  ..."task-notification tick teammate-message user-memory-input ide_opened_file ide_selection ide_diagnostics".split(
    " ",
  ),
  ..."new-diagnostics environment_context user_instructions turn_aborted subagent_notification user_shell_command skill".split(
    " ",
  ),
  ..."hook_prompt hook_context INSTRUCTIONS permissions goal_context user_action".split(" "),
];
const OPENING = new RegExp(`<(${HOST_TAGS.join("|")})\\b[^<>]*>`, "g");
/** A reminder that was cut off has no closing tag and goes on to the end. */
const CUT_OFF = /<system-reminder>[\s\S]*$/;
const INTERRUPTED = /\[Request interrupted by user[^\]]{0,80}\]/g;

/** Removes text from an opening tag to the next closing tag of the same name. A missing closing tag is searched for once, not from every opening tag. */
function withoutWrapped(text: string): string {
  const kept: string[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  for (const { 0: tag, 1: name = "", index } of text.matchAll(OPENING)) {
    if (index < from || unclosed.has(name)) continue;
    const end = text.indexOf(`</${name}>`, index + tag.length);
    if (end === -1) {
      unclosed.add(name);
      continue;
    }
    kept.push(text.slice(from, index));
    from = end + name.length + 3;
  }
  kept.push(text.slice(from));
  return kept.join(" ");
}

/** Our own context block is removed first: its text may look like a tag of the agent program. */
export const withoutHostText = (text: string): string =>
  withoutWrapped(withoutOwnBlock(text)).replace(CUT_OFF, " ").replace(INTERRUPTED, " ").trim();

/** The memory's own tools: their answers are stored already. */
const OURS = /(?:^|__|[./:])memory_[a-z_]{1,64}$/;
export const isOurs = (tool: string): boolean => OURS.test(tool);

const TAG = 64;

/** `mcp__github__create_issue` becomes `github.create_issue`, `Bash` becomes `bash`. */
export function toolTag(name: string): string {
  const plain = name
    .replace(/^mcp__/, "")
    .replace("__", ".")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._:-]+/gu, "-");
  return plain.slice(0, TAG);
}

const READ_ONLY =
  /^(?:ls|ll|cat|bat|head|tail|less|more|grep|egrep|rg|ag|find|fd|pwd|cd|echo|printf|which|whereis|type|wc|tree|stat|file|du|df|env|printenv|date|whoami|ps|sort|uniq|cut|nl|jq|true|sleep|sed -n|awk|git (?:status|diff|log|show|branch|blame|remote|rev-parse|ls-files|grep|fetch)|npm (?:ls|view)|gh (?:pr|issue|run) (?:view|list|diff))(?:\s|$)/;

/** True for a command that changes nothing: it is not recorded as an action, and its exit code is no failure. */
export function onlyReads(command: string): boolean {
  if (/(?:^|[^0-9&>])>{1,2}\s*(?!\/dev\/null|&)\S/.test(command) || command.includes("<<")) return false;
  return command
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith("#"))
    .every((part) => READ_ONLY.test(part));
}

const READ = 8_000;
const ERROR_WORD =
  /\b(?:error|errors|failed|failure|failing|fail|fatal|exception|panic|not found|cannot|can't|could not|couldn't|denied|no such|unknown|undefined|invalid|refused|timed out|timeout|unable|missing|expected|traceback|assert\w*)\b|✗|✘|×/i;
const NO_REASON =
  /^(?:exit code:? \d+|command failed.*code:? \d+|error|wall time.*|output:?|total output lines.*|chunk id.*|process exited.*|original token count.*)$/i;

/** The first line of an output that says what went wrong. */
export function failureLine(output: string): string {
  const text = output.length > 2 * READ ? `${output.slice(0, READ)}\n${output.slice(-READ)}` : output;
  const lines = text
    .replace(/<\/?tool_use_error>/g, "")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal.
    .replace(/\u001b\[[0-9;]*[A-Za-z]/g, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !NO_REASON.test(line));
  return lines.find((line) => ERROR_WORD.test(line)) ?? lines[0] ?? "";
}

/** Relative to the session's folder if it is inside. */
export function shortPath(path: string, folder: string | undefined): string {
  if (folder === undefined || folder === "" || folder === "/") return path;
  const root = folder.replace(/(?<![\\/])[\\/]+$/, "");
  if (path === root) return ".";
  return path.startsWith(`${root}/`) || path.startsWith(`${root}\\`) ? path.slice(root.length + 1) : path;
}
