/** Secrets whose name stands in another cell or on the line before. */
import { type Finder, kindOfName, matchAt, type Name, type Scan, type Span } from "./scan.ts";
import { classifyName, type NameClass } from "./secret-names.ts";
import { isPlaceholder, looksChosen, looksRandom } from "./words.ts";

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

/** By hand: a pattern for the end of a text tries every run of blanks in it. */
function withoutMarks(cell: string): string {
  let from = 0;
  let to = cell.length;
  while (from < to && /[\s"'`*]/.test(cell.charAt(from))) from++;
  while (to > from && /[\s"'`*]/.test(cell.charAt(to - 1))) to--;
  return cell.slice(from, to);
}

function cellsOf(line: string, at: number, delimiter: string): Cell[] {
  let start = at;
  return line.split(delimiter).map((raw) => {
    const inner = withoutMarks(raw);
    const from = start + raw.indexOf(inner);
    start += raw.length + delimiter.length;
    return { start: from, end: from + inner.length, text: inner };
  });
}

const lineEnd = (text: string, at: number) => {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
};

interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly delimiter: string | undefined;
  readonly cells: readonly Cell[];
}

/** Code and prose have commas and semicolons too, but not only names between them. */
const HEADINGS = /^[\p{L}\d "'`*.\t,;_-]{3,400}$/u;

function lineAt(text: string, at: number): Line {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = lineEnd(text, at);
  const whole = end - start > LONGEST_LINE ? "" : text.slice(start, end);
  const tabular = whole.includes("|") || HEADINGS.test(whole);
  const delimiter = tabular ? ["|", "\t", ";", ","].find((sign) => whole.includes(sign)) : undefined;
  const cells = delimiter === undefined ? [] : cellsOf(whole, start, delimiter);
  return { start, end, text: tabular ? whole : "", delimiter, cells };
}

/** The rows under a heading, as long as they have its delimiter; rulers between them are passed over. Returns where they end. */
function* column(scan: Scan, { end, delimiter = "" }: Line, index: number, cls: NameClass): Generator<Span, number> {
  const { text } = scan;
  let at = end + 1;
  for (let row = 0; row < MOST_ROWS && at < text.length; row++) {
    const until = lineEnd(text, at);
    const line = text.slice(at, until);
    if (line.length > LONGEST_LINE) return at;
    if (!/^[\s|+:=-]+$/.test(line)) {
      if (!line.includes(delimiter)) return at;
      const cell = cellsOf(line, at, delimiter)[index];
      if (cell !== undefined && isCellSecret(cell.text, cls))
        yield { start: cell.start, end: cell.end, kind: kindOfName(cls) };
    }
    at = until + 1;
  }
  return at;
}

/** `USER   PASSWORD` over columns that are set with blanks: what begins where the heading begins. */
function* aligned({ text }: Scan, heading: Line, offset: number, cls: NameClass): Generator<Span, number> {
  let at = heading.end + 1;
  for (let row = 0; row < MOST_ROWS && at < text.length; row++) {
    const end = lineEnd(text, at);
    const line = text.slice(at, Math.min(end, at + LONGEST_LINE));
    const value = /^\S+/.exec(line.slice(offset))?.[0] ?? "";
    if (value === "" || line.slice(Math.max(0, offset - 2), offset).trim() !== "") return at;
    if (isCellSecret(value, cls)) yield { start: at + offset, end: at + offset + value.length, kind: kindOfName(cls) };
    at = end + 1;
  }
  return at;
}

/** Headings are names, not values. */
const areHeadings = (line: Line) => !/\d/.test(line.text);

/** Returns the end of the table when the name heads a column of one. */
function* inTable(scan: Scan, name: Name, line: Line, mayHead: boolean): Generator<Span, number> {
  if (line.delimiter !== undefined) {
    const index = line.cells.findIndex((cell) => cell.start <= name.start && name.end <= cell.end);
    const cls = classOfLabel(line.cells[index]?.text ?? "");
    if (cls === undefined) return 0;
    const next = line.cells[index + 1];
    if (line.delimiter === "|" && next !== undefined && isCellSecret(next.text, cls)) {
      yield { start: next.start, end: next.end, kind: kindOfName(cls) };
      return 0;
    }
    return mayHead && areHeadings(line) ? yield* column(scan, line, index, cls) : 0;
  }
  if (!mayHead || !/\S {2,}\S/.test(line.text)) return 0;
  const offset = name.start - line.start;
  const cls = classOfLabel(/^\S+/.exec(line.text.slice(offset))?.[0] ?? "");
  return cls !== undefined && areHeadings(line) ? yield* aligned(scan, line, offset, cls) : 0;
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

const MOST_COLUMNS = 8;

const apartFromName: Finder = function* (scan): Generator<Span> {
  const { text, names } = scan;
  if (!text.includes("\n") && !text.includes("|")) return;
  let line: Line | undefined;
  let columns = 0;
  // A row of a table heads no other: else every line would read all lines after it.
  let tableEnd = 0;
  for (const name of names) {
    if (!LABEL.test(name.lower)) continue;
    if (line === undefined || name.start > line.end) {
      line = lineAt(text, name.start);
      columns = 0;
    }
    const mayHead = columns > 0 ? columns < MOST_COLUMNS : line.start >= tableEnd;
    let found = false;
    const cells = inTable(scan, name, line, mayHead);
    for (let cell = cells.next(); ; cell = cells.next()) {
      if (cell.done) {
        if (cell.value > 0) columns++;
        tableEnd = Math.max(tableEnd, cell.value);
        break;
      }
      found = true;
      yield cell.value;
    }
    const span = found ? undefined : onNextLine(scan, name);
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
    const value = (match?.[1] ?? "").replace(/(?<![.)])[.)]+$/, "");
    if (at !== undefined && looksChosen(value)) yield { start: at[0], end: at[0] + value.length, kind: "password" };
  }
};

export const tableFinders: readonly Finder[] = [apartFromName, pairs];
