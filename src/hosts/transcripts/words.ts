/** The words of a transcript without what its host put between them. */
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
/** Never a person's: one that was cut off goes on to the end. */
const CUT_OFF = /<system-reminder>[\s\S]*$/;
const INTERRUPTED = /\[Request interrupted by user[^\]]{0,80}\]/g;

/** From an opening tag to the next closing one of its name. A name that is nowhere closed is looked for once, not from every opening. */
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

/** Our own block goes first: what it holds may look like a tag of the host. */
export const withoutHostText = (text: string): string =>
  withoutWrapped(withoutOwnBlock(text)).replace(CUT_OFF, " ").replace(INTERRUPTED, " ").trim();

/** Tools of this very memory: what they say is known already. */
const OURS = /(?:^|__|[./:])memory_[a-z_]{1,64}$/;
export const isOurs = (tool: string): boolean => OURS.test(tool);

const TAG = 64;

/** `mcp__github__create_issue` is `github.create_issue`, `Bash` is `bash`. */
export function toolTag(name: string): string {
  const plain = name
    .replace(/^mcp__/, "")
    .replace("__", ".")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._:-]+/gu, "-");
  return plain.slice(0, TAG);
}

const LOOKING =
  /^(?:ls|ll|cat|bat|head|tail|less|more|grep|egrep|rg|ag|find|fd|pwd|cd|echo|printf|which|whereis|type|wc|tree|stat|file|du|df|env|printenv|date|whoami|ps|sort|uniq|cut|nl|jq|true|sleep|sed -n|awk|git (?:status|diff|log|show|branch|blame|remote|rev-parse|ls-files|grep|fetch)|npm (?:ls|view)|gh (?:pr|issue|run) (?:view|list|diff))(?:\s|$)/;

/** Only looks at things: it is no deed, and that it found nothing is no failure. */
export function onlyReads(command: string): boolean {
  if (/(?:^|[^0-9&>])>{1,2}\s*(?!\/dev\/null|&)\S/.test(command) || command.includes("<<")) return false;
  return command
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith("#"))
    .every((part) => LOOKING.test(part));
}

const READ = 8_000;
const TELLING =
  /\b(?:error|errors|failed|failure|failing|fail|fatal|exception|panic|not found|cannot|can't|could not|couldn't|denied|no such|unknown|undefined|invalid|refused|timed out|timeout|unable|missing|expected|traceback|assert\w*)\b|✗|✘|×/i;
const EMPTY =
  /^(?:exit code:? \d+|command failed.*code:? \d+|error|wall time.*|output:?|total output lines.*|chunk id.*|process exited.*|original token count.*)$/i;

/** The first line that says what went wrong. */
export function failureLine(output: string): string {
  const text = output.length > 2 * READ ? `${output.slice(0, READ)}\n${output.slice(-READ)}` : output;
  const lines = text
    .replace(/<\/?tool_use_error>/g, "")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal.
    .replace(/\u001b\[[0-9;]*[A-Za-z]/g, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !EMPTY.test(line));
  return lines.find((line) => TELLING.test(line)) ?? lines[0] ?? "";
}

/** As short as the session's folder allows. */
export function shortPath(path: string, folder: string | undefined): string {
  if (folder === undefined || folder === "" || folder === "/") return path;
  const root = folder.replace(/(?<![\\/])[\\/]+$/, "");
  if (path === root) return ".";
  return path.startsWith(`${root}/`) || path.startsWith(`${root}\\`) ? path.slice(root.length + 1) : path;
}
