/** The line of each key of a TOML text. The text must be valid: the parser has read it before. */
import type { Path } from "./keys.ts";

export type Lines = ReadonlyMap<string, number>;

interface Reader {
  readonly text: string;
  at: number;
  mark(path: Path, exactly: boolean): void;
}

const name = (path: Path) => path.join("\0");

/** The line of a key, or of the nearest table around it. */
export function lineOf(lines: Lines, path: Path): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const line = lines.get(name(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return undefined;
}

/** The line of exactly this key; undefined when it is not written. */
export const ownLine = (lines: Lines, path: Path): number | undefined => lines.get(name(path));

export function linesOf(text: string): Lines {
  const lines = new Map<string, number>();
  let [line, counted] = [1, 0];
  const reader: Reader = {
    text,
    at: 0,
    mark(path, exactly) {
      for (; counted < this.at; counted++) if (text[counted] === "\n") line += 1;
      for (let length = 1; length < path.length; length++) {
        const around = name(path.slice(0, length));
        if (!lines.has(around)) lines.set(around, line);
      }
      if (exactly || !lines.has(name(path))) lines.set(name(path), line);
    },
  };
  let table: Path = [];
  const repeated = new Map<string, number>();
  for (skip(reader, BLANK); reader.at < text.length; skip(reader, BLANK)) {
    const before = reader.at;
    if (text[reader.at] === "[") table = readHeader(reader, repeated);
    else readPair(reader, table);
    if (reader.at === before) break;
  }
  return lines;
}

/** White space, line ends and comments; between the members of a list also commas. */
const BLANK = /(?:\s|\ufeff|#[^\n]*)*/y;
const BETWEEN = /(?:[\s,]|#[^\n]*)*/y;
const SPACE = /[ \t]*/y;

function skip(reader: Reader, what: RegExp): string {
  what.lastIndex = reader.at;
  const found = what.exec(reader.text)?.[0] ?? "";
  reader.at += found.length;
  return found;
}

function readHeader(reader: Reader, repeated: Map<string, number>): Path {
  const brackets = skip(reader, /\[{1,2}/y);
  const path = readKey(reader);
  skip(reader, /[ \t]*\]{1,2}/y);
  if (brackets.length === 1) {
    reader.mark(path, true);
    return path;
  }
  const nth = repeated.get(name(path)) ?? 0;
  repeated.set(name(path), nth + 1);
  reader.mark([...path, String(nth)], true);
  return [...path, String(nth)];
}

function readPair(reader: Reader, table: Path): void {
  const path = [...table, ...readKey(reader)];
  reader.mark(path, true);
  skip(reader, /[ \t]*=[ \t]*/y);
  readValue(reader, path);
}

function readKey(reader: Reader): string[] {
  const path: string[] = [];
  do {
    skip(reader, SPACE);
    const word = skip(reader, /"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+/y);
    path.push(/^["']/.test(word) ? unquoted(word) : word);
    skip(reader, SPACE);
  } while (skip(reader, /\./y) !== "");
  return path;
}

function unquoted(word: string): string {
  if (word.startsWith("'")) return word.slice(1, -1);
  try {
    return String(JSON.parse(word));
  } catch {
    // TOML has a few escapes that JSON lacks; a fault of such a key is reported with the line of its table.
    return word;
  }
}

const STRINGS = /"""(?:[^"\\]|\\[\s\S]|"(?!""))*"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;

function readValue(reader: Reader, path: Path): void {
  const first = reader.text[reader.at];
  if (first === "[" || first === "{") {
    reader.at += 1;
    for (let nth = 0; ; nth++) {
      skip(reader, BETWEEN);
      const before = reader.at;
      if (skip(reader, /[\]}]/y) !== "") return;
      if (first === "{") readPair(reader, path);
      else {
        reader.mark([...path, String(nth)], true);
        readValue(reader, [...path, String(nth)]);
      }
      if (reader.at === before) return;
    }
  }
  if (skip(reader, STRINGS) === "") skip(reader, /[^,\]}#\n]+/y);
}
