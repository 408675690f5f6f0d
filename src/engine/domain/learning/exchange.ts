/** One prompt and what came of it, as text: a line for each part, under the label of whoever it comes from. */

import { redact } from "../redaction/redact.ts";
import { withoutOwnBlock } from "../text/own-block.ts";
import { hider, withoutPrivate } from "../text/private.ts";
import { cleanText, clip } from "../text/text.ts";

/** Stands in `metadata.format` of an episode whose content is such a text. */
export const EXCHANGE_FORMAT = "exchange";

export interface ExchangeParts {
  readonly user: readonly string[];
  readonly agent: readonly string[];
  readonly did: readonly string[];
  readonly failed: readonly string[];
  readonly decided: readonly string[];
}

export interface Turn {
  readonly speaker: "user" | "agent" | "tool";
  readonly text: string;
}

interface Label {
  readonly part: keyof ExchangeParts;
  readonly label: string;
  readonly speaker: Turn["speaker"];
  /** Characters for all lines of this label together. */
  readonly chars: number;
}

/** The most telling first: what does not fit is left out from the end. */
const LABELS: readonly Label[] = [
  { part: "user", label: "User", speaker: "user", chars: 1_600 },
  { part: "decided", label: "Decided", speaker: "user", chars: 500 },
  { part: "agent", label: "Agent", speaker: "agent", chars: 1_200 },
  { part: "failed", label: "Failed", speaker: "tool", chars: 500 },
  { part: "did", label: "Did", speaker: "agent", chars: 800 },
];
const LONGEST = 4_000;
/** Fewer characters than this say nothing. */
const LEAST = 20;
/** Of a part this much is looked at; several times what can be shown. */
const READ = 16_000;
/** Anybody may store a text that claims to be an exchange: labels of one batch must stay below e9999. */
const MOST_TURNS = 60;

/** Every kind of line break there is: nothing inside of a part can begin a line of its own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it takes out.
const BREAKS = /[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

const flat = (text: string): string => cleanText(beginningOf(text)).replace(BREAKS, " ").trim();

const LONGEST_WORD = 4_096;

/** The last word is left out where a text is cut: half a key does not look like one. */
function beginningOf(text: string): string {
  if (text.length <= READ) return text;
  let end = READ;
  while (end > READ - LONGEST_WORD && /\S/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Beginning and end: a prompt often has its question behind what was pasted. */
function squeezed(text: string, chars: number): string {
  if (text.length <= chars || chars < 200) return clip(text, chars);
  const end = text.slice(text.length - Math.floor(chars * 0.3)).replace(/^[\udc00-\udfff]/, "");
  return `${clip(text, chars - end.length - 1)} ${end}`;
}

/** Our own block, what is private and secrets are left out. Empty when the prompt is private as a whole. */
export function exchangeText(parts: ExchangeParts): string {
  const asked = parts.user.map((text) => withoutPrivate(withoutOwnBlock(text)));
  const hidden = asked.flatMap((one) => one.hidden);
  if (hidden.length > 0 && asked.every(({ text }) => text === "")) return "";
  const hide = hider(hidden);
  const clean = (text: string) => flat(hide(withoutPrivate(withoutOwnBlock(text)).text));
  const lines: string[] = [];
  let room = LONGEST;
  for (const { part, label, chars } of LABELS) {
    const texts = part === "did" ? [parts.did.map(clean).filter(Boolean).join("; ")] : parts[part].map(clean);
    let left = Math.min(chars, room - label.length - 3);
    for (const text of texts) {
      const shown = left < LEAST ? "" : squeezed(redact(text).text, left);
      if (shown === "") continue;
      lines.push(`${label}: ${shown}`);
      left -= shown.length + label.length + 3;
      room -= shown.length + label.length + 3;
    }
  }
  return apart(lines);
}

/**
 * Where a secret seems to reach over the end of a line ("the password is:", and then a label), taking it out later would put
 * one speaker's words under another's label. Such a line is left out.
 */
function apart(lines: readonly string[]): string {
  const whole = lines.join("\n");
  if (redact(whole).found.length === 0) return whole;
  return lines.reduce((text, line) => {
    const longer = text === "" ? line : `${text}\n${line}`;
    return redact(longer).found.length === 0 ? longer : text;
  }, "");
}

const LINE = new RegExp(`^(${LABELS.map(({ label }) => label).join("|")}): (.*)$`);

/** The parts of such a text, for whoever retells it; undefined when it does not begin with a label. */
export function partsOf(text: string): ExchangeParts | undefined {
  const parts: Record<keyof ExchangeParts, string[]> = { user: [], agent: [], did: [], failed: [], decided: [] };
  if (!LINE.test(text.split("\n", 1)[0] ?? "")) return undefined;
  for (const line of text.split("\n", MOST_TURNS)) {
    const [, name, said = ""] = LINE.exec(line) ?? [];
    const part = LABELS.find(({ label }) => label === name)?.part;
    if (part !== undefined && said.trim() !== "") parts[part].push(said.trim());
  }
  return parts;
}

/** "Bash (ran pnpm test): connect ECONNREFUSED": what the agent did, and then the words of the tool. */
const CALL = /^([^:()]{1,60}(?:\([^)]{0,300}\))?): /;
/** Names of errors: nobody can be told by them what to do. */
const ERROR_NAMES =
  /\b(?:E[A-Z]{3,15}|SIG[A-Z]{3,6}|[A-Z][A-Za-z]{0,30}(?:Error|Exception|Fault)|HTTP [1-5]\d\d|TS\d{3,5}|exit (?:code|status) \d{1,3})\b/g;

/** Of what failed, what may be told in a context block: the agent's own call, and the names of errors among what the tool said. */
export function failureShown(failed: string): { readonly call: string; readonly names: string } {
  const call = CALL.exec(failed)?.[1] ?? "";
  const names = failed.slice(call === "" ? 0 : call.length + 2).match(ERROR_NAMES) ?? [];
  return { call, names: [...new Set(names)].slice(0, 3).join(", ") };
}

/** The text without what tools said in it: only that they failed is left. Empty when it is nothing else. */
export function withoutToolWords(text: string): string {
  if (LINE.test(text.split("\n", 1)[0] ?? ""))
    return text
      .split("\n")
      .flatMap((line) => {
        const [, name, said = ""] = LINE.exec(line) ?? [];
        if (name !== "Failed") return name === undefined ? [] : [line];
        const { call, names } = failureShown(said);
        return call + names === "" ? [] : [`Failed: ${call}${call && names ? ": " : ""}${names}`];
      })
      .join("\n");
  const turns = dialogueOf(text);
  if (turns?.some(({ speaker }) => speaker === "tool") !== true) return text;
  return turns
    .flatMap(({ speaker, text: said }) => (speaker === "tool" ? [] : [`${NAMES[speaker]}: ${said}`]))
    .join("\n");
}

const NAMES = { user: "User", agent: "Agent" } as const;

/** The inverse, for whoever learns from it. A line without a label counts as a tool's. */
export function turnsOf(text: string): Turn[] {
  const turns: Turn[] = [];
  for (const line of text.split("\n")) {
    const [, name, said] = LINE.exec(line) ?? [];
    const words = (said ?? line).trim();
    if (words === "") continue;
    turns.push({ speaker: LABELS.find(({ label }) => label === name)?.speaker ?? "tool", text: words });
    if (turns.length === MOST_TURNS) break;
  }
  return turns;
}

/** The label before what each said, in a text that somebody stored as a conversation. */
const LABELLED = /^\s*(?:(user|human)|(assistant|agent|ai|bot|model)|(tool|function|system)):\s*(.*)$/i;

/**
 * Undefined when the first line names no speaker. A line without a label goes on with what its speaker said. Without this an agent's half of a
 * conversation counts as the word of whoever stored it.
 */
export function dialogueOf(text: string): Turn[] | undefined {
  const turns: { speaker: Turn["speaker"]; text: string }[] = [];
  for (const line of text.trim().split("\n")) {
    const [, user, agent, tool, said = ""] = LABELLED.exec(line) ?? [];
    const last = turns.at(-1);
    if (user ?? agent ?? tool) {
      if (turns.length === MOST_TURNS) break;
      turns.push({ speaker: user ? "user" : agent ? "agent" : "tool", text: said });
    } else if (last === undefined) return undefined;
    else last.text += `\n${line}`;
  }
  return turns.map(({ speaker, text: words }) => ({ speaker, text: words.trim() })).filter((turn) => turn.text !== "");
}
