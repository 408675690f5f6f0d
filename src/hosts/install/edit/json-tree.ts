/** Parses a settings file into nodes with their offsets, and names the line of a fault. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { conflict } from "../../../engine/domain/errors.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface JsonText {
  readonly path: string;
  readonly text: string;
  /** The agent accepts plain JSON only and ignores a file with a comment. */
  readonly strict: boolean;
}

/** The document's object; anything else is refused with its line. */
export function parseObject(file: JsonText): Node {
  const errors: ParseError[] = [];
  const root = parseTree(file.text, errors, { disallowComments: file.strict, allowTrailingComma: !file.strict });
  const [fault] = errors;
  if (fault !== undefined) throw refused(file, fault.offset, faultWords(fault));
  if (root === undefined) throw refused(file, 0, "it is empty");
  if (root.type !== "object") throw refused(file, root.offset, `it holds ${article(root)} where an object is expected`);
  return root;
}

function faultWords({ error }: ParseError): string {
  const words = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return words === "invalid comment token"
    ? "it has a comment, and this file must be plain JSON"
    : `it does not parse (${words})`;
}

export function refused(file: Pick<JsonText, "path" | "text">, offset: number, words: string) {
  return conflict(`${file.path}, line ${lineAt(file.text, offset)}: ${words}. Nothing was changed.`);
}

export function wrongType(file: JsonText, node: Node, key: readonly string[], expected: string) {
  return refused(file, node.offset, `"${key.join(".")}" is ${article(node)} where ${expected} is expected`);
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

const article = (node: Node) => (/^[aeiou]/.test(node.type) ? `an ${node.type}` : `a ${node.type}`);

/** The property of that name; two of them are refused, because agents disagree on which one counts. */
export function propertyOf(file: JsonText, object: Node, name: string): Node | undefined {
  const found = (object.children ?? []).filter((property) => property.children?.[0]?.value === name);
  const [only, second] = found;
  if (second !== undefined) throw refused(file, second.offset, `it has the key "${name}" twice`);
  return only;
}

export const propertyValue = (property: Node): Node => property.children?.[1] ?? property;

/** The offset after white space and comments. */
export function skipTrivia(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (at < text.length && /\s/.test(text.charAt(at))) at++;
    const end = commentEnd(text, at);
    if (end === undefined) return at;
    at = end;
  }
}

function commentEnd(text: string, at: number): number | undefined {
  if (text.startsWith("//", at)) {
    const end = text.slice(at).search(/[\r\n]/);
    return end < 0 ? text.length : at + end;
  }
  if (!text.startsWith("/*", at)) return undefined;
  const end = text.indexOf("*/", at + 2);
  return end < 0 ? text.length : end + 2;
}

/** The offset after the comments on the same line, which belong to what is before them; `at` if there are none. */
export function behindSameLineComments(text: string, at: number): number {
  let behind = at;
  for (;;) {
    let next = behind;
    while (text.charAt(next) === " " || text.charAt(next) === "\t") next++;
    const end = commentEnd(text, next);
    if (end === undefined || text.slice(next, end).includes("\n")) return behind;
    behind = end;
  }
}

export function sameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [a, b] = [left as Record<string, unknown>, right as Record<string, unknown>];
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/** Whether any text inside the value contains these words. */
export function holdsText(value: unknown, words: string): boolean {
  if (typeof value === "string") return value.includes(words);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((inner) => holdsText(inner, words));
}
