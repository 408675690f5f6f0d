/**
 * Everything that leaves memory towards a model goes through here. A memory is data that anybody may have written: it must not
 * end the block it stands in, speak as the host or the user, or hide words that only the model reads.
 *
 * Markers stay readable: their bracket becomes a parenthesis, which no tag and no chat template knows, so a second pass finds
 * nothing to do. Ordinary code (`a < b`, `List<String>`, `<div>`) stays as it is.
 */
import { looksLike } from "./look-alikes.ts";
import { cleanText } from "./text.ts";

/** Our own tag. Nothing that was stored may open or close it. */
export const OWN_TAG = "butler-memory";

/** Of hosts; nobody writes these by chance, so they count wherever they stand, closed or not. */
const HOST = "system-reminder|user-prompt-submit-hook|session-start-hook|hook-context";

/** Of hosts and models; in code these may be names, so they count as tags only: closed, or with an attribute. */
const TAGS = [
  "system-(?:prompt|message|instructions?)",
  "user-(?:instructions?|query|memory|message)",
  "(?:environment|session)-(?:context|details)",
  "permissions-instructions",
  "command-(?:name|message|args|contents)",
  "local-command-(?:stdout|stderr|caveat)",
  "bash-(?:input|stdout|stderr)",
  "(?:task|subagent)-notification",
  "turn-aborted",
  "tool-(?:use|result|call|response|output)s?",
  "function-(?:call|result|response)s?",
  "antml-\\w{1,40}",
  "im-(?:start|end|sep)",
  "(?:start|end)-of-turn",
  "(?:begin|end)-of-(?:text|sentence)",
].join("|");

/** Ordinary words: after a name (`List<User>`) they are code, unless a slash makes them a closing tag. */
const WORDS =
  "system|developer|user|assistant|human|model|instructions?|important|context|think|thinking|invoke|bos|eos|s";

/** Of templates with square brackets. `steps[inst]` is code. */
const SQUARE = "inst|system-prompt|available-tools|tool-calls|tool-results|tool-content";

const named = (names: string) => names.replaceAll("-", "[\\s_.:-]+");
const entity = (name: string, decimal: number, hex: string) =>
  `&(?:amp;){0,9}(?:${name}|#0{0,9}${decimal}|#x0{0,9}${hex});?|/u00${hex}|/x${hex}|%${hex}`;
const OPEN = `(?:<|${entity("lt", 60, "3c")})`;
const CLOSE = `(?:>|${entity("gt", 62, "3e")})`;
/** One class for blanks and slashes: two runs of blanks side by side would be tried in every split. */
const BEFORE = "[\\s/]*";
const NO_NAME_BEFORE = "(?<![\\w$)\\]])";
const IS_TAG = `(?=\\s*(?:/\\s*)?${CLOSE}|\\s+[\\w:-]{1,40}\\s*=)`;
/** Its `l`, `e` and `o` also as the digits and the letter that resemble them. */
const OWN = "but[l1i|][e3]r[\\s_.:-]*m[e3]m[o0]ry";
/** The first half of our tag at the end of a text: the next line of the block may begin with the other half. */
const HALF_OWN = "but[l1i|][e3]r[\\s_.:-]*$";

/** Over the look-alike form: every character that resembles an ASCII one is that one, and a backslash is a slash. */
const MARKER = new RegExp(
  [
    `${OPEN}${BEFORE}(?:${OWN}|${HALF_OWN}|${named(HOST)})`,
    `${OPEN}${BEFORE}(?:${named(TAGS)})${IS_TAG}`,
    `(?:${NO_NAME_BEFORE}${OPEN}|${OPEN}/)(?:${WORDS})${IS_TAG}`,
    `<(?<=<<)${BEFORE}sys(?=\\s*>)`,
    `${OPEN}\\|[\\w/-]{1,48}(?=\\|)`,
    `${OPEN}\\s*\\|\\s*(?:${named(TAGS)}|${WORDS}|end)(?=\\s*\\|\\s*${CLOSE})`,
    `${NO_NAME_BEFORE}\\[${BEFORE}(?:${named(SQUARE)})(?=\\s*\\])`,
  ].join("|"),
  "g",
);
const OPENING = new RegExp(`^(?:${OPEN}|\\[)`);
const CLOSING = new RegExp(`^([\\s|/]*)(?:${CLOSE}|\\])`);
/** Closing brackets that stand further from the name than this are left as they are. */
const CLOSING_WITHIN = 64;

/** Without one of these, and what looks like one, a text holds no marker, and its look-alike form need not be made. */
const SUSPECT = /[<[&%\\]/;
const NOT_ASCII = /[^\t\n -~]/gu;
const looksSuspect = (text: string): boolean =>
  (text.match(NOT_ASCII) ?? []).some((character) => /[<[&%/]/.test(looksLike(character)));

/** For one line or many. The same text always gives the same bytes, and `neutral(neutral(text))` is `neutral(text)`. */
export function neutral(text: string): string {
  const shown = visible(text);
  return SUSPECT.test(shown) || looksSuspect(shown) ? defused(shown) : shown;
}

/** On one line. Blanks count as one in every marker, so that pressing them together makes no new one. */
export function neutralLine(text: string): string {
  return neutral(text).replace(/\s+/g, " ").trim();
}

/** Every text inside of an answer, and the names of its fields. */
export function neutralDeep(value: unknown): unknown {
  if (typeof value === "string") return neutral(value);
  if (Array.isArray(value)) return value.map(neutralDeep);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [neutral(name), neutralDeep(part)]));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it takes out.
const LINE_BREAKS = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/g;
const UNSEEN = /(?:(?![\t\n])[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb])+/gu;
const JOINED = /(?:(?![\0-\u024f])[\p{L}\p{M}]|\p{Extended_Pictographic}|\p{Emoji_Modifier})$/u;
const JOINS = /^(?:(?![\0-\u024f])[\p{L}\p{M}]|\p{Extended_Pictographic})/u;
const KEEPS = new Set(["\u200c", "\u200d", "\ufe0f\u200d"]);
const PICTURE = /\p{Extended_Pictographic}$/u;

/**
 * Without what no reader sees: control and format characters, the tag characters that spell whole sentences invisibly, and what
 * turns the direction of reading. Joiners stay inside emoji and inside words of scripts that need them.
 */
function visible(text: string): string {
  return cleanText(text)
    .replace(LINE_BREAKS, "\n")
    .replace(UNSEEN, (run, at: number, whole: string) => {
      const before = whole.slice(Math.max(0, at - 2), at);
      const after = whole.slice(at + run.length, at + run.length + 2);
      if (KEEPS.has(run)) return JOINED.test(before) && JOINS.test(after) ? run : "";
      if (run === "\ufe0f" || run === "\ufe0e") return PICTURE.test(before) || after.startsWith("\u20e3") ? run : "";
      return "";
    });
}

function defused(text: string): string {
  const { form, positions } = lookAlike(text);
  const positionOf = (index: number) => positions[index] ?? text.length;
  let safe = "";
  let from = 0;
  for (const { 0: marker, index } of form.matchAll(MARKER)) {
    if (positionOf(index) < from) continue;
    const opening = OPENING.exec(marker)?.[0].length ?? 1;
    const end = index + marker.length;
    safe += `${text.slice(from, positionOf(index))}(${text.slice(positionOf(index + opening), positionOf(end))}`;
    const closing = CLOSING.exec(form.slice(end, end + CLOSING_WITHIN));
    from = positionOf(end + (closing?.[0].length ?? 0));
    if (closing !== null) safe += `${text.slice(positionOf(end), positionOf(end + (closing[1]?.length ?? 0)))})`;
  }
  return safe + text.slice(from);
}

/** What the text looks like in ASCII, and for each character of that its position in the text. */
function lookAlike(text: string) {
  let form = "";
  const positions: number[] = [];
  let at = 0;
  for (const character of text) {
    const plain = character < "\u0080" && character !== "\\" ? character.toLowerCase() : looksLike(character);
    form += plain;
    for (let unit = 0; unit < plain.length; unit++) positions.push(at);
    at += character.length;
  }
  return { form, positions };
}
