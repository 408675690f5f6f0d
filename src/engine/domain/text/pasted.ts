/**
 * Tells what a person wrote from what they pasted: logs, stack traces, diffs, code, output of commands. Line breaks may be gone (an exchange is
 * stored without them), so words are looked at, not lines: where many in a row are no words of a language, or where one entry of a log or a
 * trace follows the other, they were pasted.
 */
import { clip } from "./text.ts";

export interface Unpasted {
  /** What the person wrote around it. */
  readonly words: string;
  /** The error that the pasted text names first; empty when it names none. Undefined: nothing was pasted. */
  readonly pasted: string | undefined;
}

/** In a shorter text nothing is taken out: what is short can be told as it is. */
const LEAST_CHARS = 160;
/** So many words in a row, of which this share is machine-made, are a paste. */
const WINDOW = 12;
const MACHINE_SHARE = 0.5;
/** Fewer words than this between two pastes belong to them, and a paste of fewer words is none. */
const LEAST_WORDS = 6;
/** The same between two beginnings of entries: the message of an entry is often in plain words. */
const ENTRY_WORDS = 24;
/** So many plain words behind the last machine-made one are the person's again. */
const LEAST_REMARK = 3;
const MOST_WORDS = 4_000;
const ERROR_CHARS = 110;

const FENCE = /```[^`]*(?:```|$)/g;
/** A word of a language, perhaps in quotes or brackets, with punctuation after it. */
const PLAIN = /^["'“„«(]{0,2}\p{L}[\p{L}\p{M}'’-]*["'”“»)]{0,2}[,.!?;:…]{0,3}$/u;
const AMOUNT = /^\(?[~<>+-]?[\d.,]{1,12}(?:%|€|\$|[a-zA-Z]{1,3})?\)?[,.!?;:]?$|^[a-z]\d{1,3}[,.]?$/;
const LEVEL = /^(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|FAIL|PASS)$/;
const CAMEL = /\p{Ll}\p{Lu}|^\p{Lu}{5,}\W?$/u;
const BULLET = /^(?:[-–—*•]|\d[.)])$/;

const isMachine = (word: string): boolean =>
  !BULLET.test(word) && !AMOUNT.test(word) && (LEVEL.test(word) || CAMEL.test(word) || !PLAIN.test(word));

/** Of a single line: at least half of it is no words of a language. */
export function isMostlyMachine(line: string): boolean {
  const words = line.split(/\s+/).filter(Boolean);
  return words.filter(isMachine).length >= MACHINE_SHARE * words.length;
}

/** What an entry of a log, a trace, a diff or a test report begins with. */
const ENTRY =
  /^(?:\[?\d{4}-\d{2}-\d{2}(?:T.*)?|\[?\d{2}:\d{2}:\d{2}\S*|FAIL|PASS|@@|diff|Traceback|goroutine|#\d{1,4}|\$|>|✓|✗|×|❯|ERR_\w+|\p{Lu}\w*(?:Error|Exception):|\S+:\d+:\d+\)?|error:|fatal:|panic:|"[^"]{1,300}\.\w{1,8}",|(?:\w+\.){2,9}\w+:)$/u;

const MONTH = /^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)$/;

const ERROR =
  /(?:\b\p{Lu}\w{0,60}(?:Error|Exception)\b|\bERR_\w{1,60}|\b(?:error|fatal|panic|FATAL)\b(?=[:\s])|\bdeadlock detected\b)[^\n]{0,160}/u;
const NEXT_ENTRY =
  /\s(?:\d{4}-\d{2}-\d{2}[T ]|\[?\d{2}:\d{2}:\d{2}|at \S+ \(|at \/|#\d+ |(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{2} )/;

/** Without one of these, words behind a paste are its last line. */
const IN_SENTENCES = new Set(
  `i you we it he she they this that these those what why how which the a an is are was do does did can could should would must please and but not
  don't doesn't can't isn't my your our fix make because if
  ich du wir es er sie der die das den ein eine ist sind war was warum wie welche kann kannst soll bitte und aber nicht kein mein unser weil wenn mach`
    .split(/\s+/)
    .filter(Boolean),
);
const plain = (word: string): string => word.toLowerCase().replace(/[^\p{L}']/gu, "");

type Span = [from: number, to: number];

export function withoutPasted(text: string): Unpasted {
  if (text.length < LEAST_CHARS) return { words: text.trim(), pasted: undefined };
  const fences = text.match(FENCE)?.join(" ") ?? "";
  const words = text.replace(FENCE, " ").split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  const spans = pastedSpans(words);
  if (fences === "" && spans.length === 0) return { words: text.trim(), pasted: undefined };
  const around = [0, ...spans.map(([, to]) => to)].map((from, nth) => words.slice(from, spans[nth]?.[0]));
  const isOwn = (piece: readonly string[], nth: number) =>
    nth === 0 || piece.some((word) => IN_SENTENCES.has(plain(word)));
  const kept = around.filter(isOwn).flat();
  const taken = spans.flatMap(([from, to], nth) => {
    const behind = around[nth + 1] ?? [];
    return [...words.slice(from, to), ...(isOwn(behind, nth + 1) ? [] : behind)];
  });
  return { words: kept.join(" "), pasted: errorIn([fences, ...taken].join(" ")) };
}

function pastedSpans(words: readonly string[]): Span[] {
  const machine = words.map((word) => isMachine(word));
  const entries = entrySpans(words);
  const spans = merged([...denseSpans(machine), ...entries]);
  const begins = new Set(entries.map(([from]) => from));
  return spans.map((span) => trimmed(machine, begins, span)).filter(([from, to]) => to - from >= LEAST_WORDS);
}

function denseSpans(machine: readonly boolean[]): Span[] {
  const spans: Span[] = [];
  let inside = 0;
  for (let end = 0; end < machine.length; end++) {
    if (machine[end]) inside++;
    if (machine[end - WINDOW]) inside--;
    if (end >= WINDOW - 1 && inside >= WINDOW * MACHINE_SHARE) spans.push([end - WINDOW + 1, end + 1]);
  }
  return spans;
}

/** One entry alone may be quoted by a person; from the second on they are a paste. */
function entrySpans(words: readonly string[]): Span[] {
  const isDay = (at: number) => MONTH.test(words[at] ?? "") && /^\d{1,2}$/.test(words[at + 1] ?? "");
  const begins = words.flatMap((word, at) => (ENTRY.test(word) || isDay(at) ? [at] : []));
  return begins.flatMap((at, nth): Span[] => {
    const next = begins[nth + 1];
    return next === undefined || next - at > ENTRY_WORDS ? [] : [[at, next + 1]];
  });
}

function merged(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && from - last[1] < LEAST_WORDS) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** A window reaches into the sentences around a paste: plain words at both ends are given back to the person, if they are a remark. */
function trimmed(machine: readonly boolean[], begins: ReadonlySet<number>, [start, end]: Span): Span {
  let [from, to] = [start, end];
  while (from < to && !machine[from] && !begins.has(from)) from++;
  while (to > from && !machine[to - 1]) to--;
  // The last entry goes on to its last machine-made word.
  for (let at = to; at < machine.length && at - to < LEAST_WORDS; at++) if (machine[at]) to = at + 1;
  return [from, machine.length - to < LEAST_REMARK ? machine.length : to];
}

function errorIn(text: string): string {
  const found = ERROR.exec(text)?.[0].trim() ?? "";
  const next = NEXT_ENTRY.exec(found)?.index;
  return clip(next === undefined || next < 8 ? found : found.slice(0, next), ERROR_CHARS);
}
