/** Secrets whose name stands in another cell or on the line before. */
import { kindOfName } from "./redact-context.ts";
import { type Finder, matchAt, type Name, type Scan, type Span } from "./redact-scan.ts";
import { classifyName, isPlaceholder, looksChosen, looksRandom, type NameClass } from "./redact-words.ts";

const LONGEST_LINE = 2_000;
const MOST_ROWS = 500;

/** A heading or a label: `**Password**`, `API key`, `Mot de passe`, `Wi-Fi password`. */
export function classOfLabel(label: string): NameClass | undefined {
  const plain = label
    .replace(/[*_`:"'()[\]]+/g, " ")
    .trim()
    .toLowerCase();
  if (plain === "" || plain.length > 40 || plain.split(/\s+/).length > 4) return undefined;
  if (/^(?:pass|pw|clave|mots? de passe)$|mot de passe$/.test(plain)) return "password";
  return classifyName(plain.replace(/\s+/g, "_"));
}

function isCellSecret(value: string, cls: NameClass): boolean {
  if (value === "" || /\s/.test(value) || isPlaceholder(value)) return false;
  if (cls === "pin") return /^\d{4,8}$/.test(value);
  return cls === "password" ? looksChosen(value) : looksRandom(value, 16);
}

interface Cell {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function cellsOf(line: string, at: number, delimiter: string): Cell[] {
  let start = at;
  return line.split(delimiter).map((raw) => {
    const inner = raw.replace(/^[\s"'`*]+|[\s"'`*]+$/g, "");
    const from = start + raw.indexOf(inner);
    start += raw.length + delimiter.length;
    return { start: from, end: from + inner.length, text: inner };
  });
}

const lineStart = (text: string, at: number) => text.lastIndexOf("\n", at - 1) + 1;
const lineEnd = (text: string, at: number) => {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
};

/** The rows under a heading, as long as they have its delimiter; rulers between them are passed over. */
function* column({ text }: Scan, from: number, delimiter: string, index: number, cls: NameClass): Generator<Span> {
  let at = from;
  for (let row = 0; row < MOST_ROWS && at < text.length; row++) {
    const end = lineEnd(text, at);
    if (end - at > LONGEST_LINE) return;
    const line = text.slice(at, end);
    const ruler = /^[\s|+:=-]+$/.test(line);
    if (!ruler) {
      if (!line.includes(delimiter)) return;
      const cell = cellsOf(line, at, delimiter)[index];
      if (cell !== undefined && isCellSecret(cell.text, cls))
        yield { start: cell.start, end: cell.end, kind: kindOfName(cls) };
    }
    at = end + 1;
  }
}

/** `USER   PASSWORD` over columns that are set with blanks: what begins where the heading begins. */
function* aligned({ text }: Scan, from: number, offset: number, cls: NameClass): Generator<Span> {
  let at = from;
  for (let row = 0; row < MOST_ROWS && at < text.length; row++) {
    const end = lineEnd(text, at);
    const line = text.slice(at, Math.min(end, at + LONGEST_LINE));
    const value = /^\S+/.exec(line.slice(offset))?.[0] ?? "";
    if (value === "" || !/^\s*$/.test(line.slice(Math.max(0, offset - 2), offset))) return;
    if (isCellSecret(value, cls)) yield { start: at + offset, end: at + offset + value.length, kind: kindOfName(cls) };
    at = end + 1;
  }
}

const HEADINGS = /^[\p{L}\d "'`*.\t,;_-]{3,400}$/u;

function* inTable(scan: Scan, name: Name): Generator<Span> {
  const { text } = scan;
  const start = lineStart(text, name.start);
  const end = lineEnd(text, name.end);
  if (end - start > LONGEST_LINE) return;
  const line = text.slice(start, end);
  // Code and prose have commas and semicolons too, but not only names between them.
  if (!line.includes("|") && !HEADINGS.test(line)) return;
  const delimiter = line.includes("|")
    ? "|"
    : line.includes("\t")
      ? "\t"
      : line.includes(";")
        ? ";"
        : line.includes(",")
          ? ","
          : undefined;
  if (delimiter !== undefined) {
    const cells = cellsOf(line, start, delimiter);
    const index = cells.findIndex((cell) => cell.start <= name.start && name.end <= cell.end);
    const cls = classOfLabel(cells[index]?.text ?? "");
    if (cls === undefined) return;
    const next = cells[index + 1];
    if (delimiter === "|" && next !== undefined && isCellSecret(next.text, cls))
      yield { start: next.start, end: next.end, kind: kindOfName(cls) };
    // Headings are names, not values.
    else if (cells.every((cell) => !/\d/.test(cell.text))) yield* column(scan, end + 1, delimiter, index, cls);
    return;
  }
  if (!/\S[ ]{2,}\S/.test(line)) return;
  const word = /^\S+/.exec(text.slice(name.start))?.[0] ?? "";
  const cls = classOfLabel(word);
  if (cls !== undefined && !/\d/.test(line)) yield* aligned(scan, end + 1, name.start - start, cls);
}

/** After the label, perhaps a colon and the end of a fence or a quote, and then a line of its own. */
const NEXT_LINE =
  /[*_`"')\]]{0,3}[ \t]{0,4}[:：]?[*_]{0,2}[ \t]{0,4}\r?\n(?:[ \t]{0,12}(?:```\w{0,12})?\r?\n){0,2}[ \t>]{0,12}[`"'“]{0,3}([^\s`"'“”]{4,512})[`"'”]{0,3}[ \t]{0,4}(?=\r?\n|$)/dy;
const LABEL_BEFORE = /(?:mots? de |api |client |access |wi-?fi |secret |master )$/;
/** "… is on the next line:" */
const ANNOUNCED = /[^\n:]{0,60}:(?=[ \t]*\r?\n)/y;

function onNextLine({ text, lower }: Scan, name: Name): Span | undefined {
  const announced = matchAt(ANNOUNCED, text, name.end);
  const match =
    matchAt(NEXT_LINE, text, name.end) ?? (announced && matchAt(NEXT_LINE, text, name.end + announced[0].length - 1));
  const at = match?.indices?.[1];
  if (at === undefined) return undefined;
  const label = LABEL_BEFORE.exec(lower.slice(Math.max(0, name.start - 12), name.start))?.[0] ?? "";
  const cls = classOfLabel(label + name.lower);
  if (cls === undefined || !isCellSecret(match?.[1] ?? "", cls)) return undefined;
  return { start: at[0], end: at[1], kind: kindOfName(cls) };
}

/** The last word of every label that `classOfLabel` knows. */
const LABEL =
  /(?:pass|pw|psk|pin|otp|pat|auth|passe|clave|mdp|secret|token|key|credentials?|senha|password|passwor[dt]|passwd|pwd|passphrase|passcode|kennwort|contrase[ñn]a|wachtwoord|hasło|пароль)$/;

const apartFromName: Finder = function* (scan): Generator<Span> {
  if (!scan.text.includes("\n") && !scan.text.includes("|")) return;
  for (const name of scan.names) {
    if (!LABEL.test(name.lower)) continue;
    const cells = [...inTable(scan, name)];
    yield* cells;
    const span = cells.length > 0 ? undefined : onNextLine(scan, name);
    if (span !== undefined) yield span;
  }
};

/** `bob / X` and `bob:X` after words for a pair of a name and a password. */
const LOGIN =
  /(?<![\p{L}\d_])(?:log-?in|auth|credentials?|creds|zugangsdaten|anmeldedaten|identifiants?|acceso)(?:[ \t]{0,2}[:=]|[ \t]+(?:are|is|sind|son|sont))?[ \t]+["'`]?[\w.@-]{2,60}["'`]?[ \t]{0,2}[/:][ \t]{0,2}["'`]?([^\s"'`,;]{4,64})/diuy;

const pairs: Finder = function* ({ text, names }): Generator<Span> {
  for (const name of names) {
    const match = matchAt(LOGIN, text, name.start);
    const at = match?.indices?.[1];
    const value = (match?.[1] ?? "").replace(/[.)]+$/, "");
    if (at !== undefined && looksChosen(value)) yield { start: at[0], end: at[0] + value.length, kind: "password" };
  }
};

export const tableFinders: readonly Finder[] = [apartFromName, pairs];
