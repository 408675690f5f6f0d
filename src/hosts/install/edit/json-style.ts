/** How a settings file is written, so that what is added looks like the rest of it. */
import type { Json } from "./json-tree.ts";

export interface Style {
  readonly eol: string;
  readonly unit: string;
}

export function styleOf(text: string): Style {
  return { eol: text.includes("\r\n") ? "\r\n" : "\n", unit: /^([ \t]+)["\]}[{]/m.exec(text)?.[1] ?? "  " };
}

/** On one line without an `indent`. */
export function print(value: Json, { eol, unit }: Style, indent: string | undefined): string {
  if (indent === undefined) return JSON.stringify(value);
  return JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`);
}

export function lineIndent(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The indentation before an offset that starts its line; undefined if there is other text before it. */
export function ownLineIndent(text: string, offset: number): string | undefined {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(start, offset);
  return start > 0 && before.trim() === "" ? before : undefined;
}
