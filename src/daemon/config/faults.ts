/** The faults of a `butler.toml` as sentences: file, line, key, what was found and what was expected. */

import { TomlError } from "smol-toml";
import type { z } from "zod";
import { isRecord } from "../../engine/domain/record.ts";
import { nearest } from "../../engine/domain/text/spelling.ts";
import { keysOf, type Path, suggestion, valueAt } from "./keys.ts";
import { type Lines, lineOf } from "./lines.ts";
import { masked, quoted } from "./mask.ts";

export interface Fault {
  readonly file: string;
  /** Undefined when the fault is not on one line. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Dotted; empty when it is about the whole file. */
  readonly key: string;
  /** The sentence without file, line and key. */
  readonly message: string;
}

export function faultText({ file, line, column, key, message }: Fault): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  return key === "" ? `${place}: ${message}` : `${place}: ${key}: ${message}`;
}

/** A butler.toml as it was written, with the line of each key. */
export interface Written {
  readonly file: string;
  readonly document: unknown;
  readonly lines: Lines;
}

export function faultAt({ file, lines }: Written, path: Path, message: string): Fault {
  return { file, line: lineOf(lines, path), key: path.join("."), message };
}

export function syntaxFault(error: unknown, file: string): Fault {
  if (!(error instanceof TomlError)) throw error;
  // The lines behind the first one are a piece of the file, which may hold a secret.
  const what = error.message.split("\n", 1)[0]?.replace(/^Invalid TOML document: /, "") ?? "it cannot be read";
  return { file, line: error.line, column: error.column, key: "", message: `this is not TOML: ${what}.` };
}

export function schemaFaults(issue: z.core.$ZodIssue, written: Written): Fault[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.flatMap((key) => unknownKey(path, key, written));
  const found = valueAt(written.document, path);
  if (issue.code === "custom" && issue.params?.placeholder !== undefined)
    return [faultAt(written, path, placeholderWords(String(issue.params.placeholder), issue.params.known as string[]))];
  if (issue.code === "invalid_key")
    return [faultAt(written, path, `found ${quoted(path.at(-1))} as a name, expected ${expectation(issue)}.`)];
  const value = quoted(masked(path.findLast((step) => !/^\d+$/.test(step)) ?? "", found));
  return [faultAt(written, path, `found ${value}, expected ${expectation(issue)}.`)];
}

function unknownKey(table: Path, key: string, written: Written): Fault[] {
  const path = [...table, key];
  if (path.join(".") === "butler.memory") return olderSpelling(path, written);
  const known = keysOf(table);
  const meant = suggestion(table, key);
  const end = meant === undefined ? "." : `; ${meant}${meant.endsWith("?") ? "" : "."}`;
  return [faultAt(written, path, `found a key that is not known here, expected one of ${known.join(", ")}${end}`)];
}

/** An early draft of butler.toml had the tables of memory under [butler]. */
function olderSpelling(path: Path, written: Written): Fault[] {
  const found = valueAt(written.document, path);
  const members = isTable(found) ? Object.entries(found) : [];
  const below = members
    .filter(([, value]) => isTable(value))
    .flatMap(([key]) => olderSpelling([...path, key], written));
  if (below.length > 0 && below.length === members.length) return below;
  const now = ["modules", ...path.slice(1)].join(".");
  return [faultAt(written, path, `found an older spelling, expected [${now}].`), ...below];
}

function placeholderWords(found: string, known: readonly string[]): string {
  const meant = nearest(found, known);
  const end = meant === undefined ? "." : `; did you mean "${meant}"?`;
  return `found the placeholder ${found}, expected one of ${known.join(", ")}${end}`;
}

const TYPES: Readonly<Record<string, string>> = {
  record: "a table",
  object: "a table",
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
};

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? `a ${issue.expected}`;
    case "invalid_value": {
      const values = issue.values.map((value) => JSON.stringify(value));
      return values.length === 1 ? (values[0] ?? "") : `one of ${values.join(", ")}`;
    }
    case "too_small":
      if (issue.origin === "string") return issue.minimum === 1 ? "some text" : `at least ${issue.minimum} characters`;
      return issue.inclusive === false ? `more than ${issue.minimum}` : `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
    case "invalid_key":
      return issue.issues[0]?.message ?? "another name";
    case "invalid_format":
      return issue.format === "url" ? "an address such as https://example.org" : issue.message;
    default:
      return issue.message;
  }
}

const isTable = (value: unknown): value is Record<string, unknown> => isRecord(value) && !(value instanceof Date);
