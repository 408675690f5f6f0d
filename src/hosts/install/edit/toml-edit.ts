/**
 * Our table in a TOML file of the person: a few lines at its end, added and removed as text. The file is parsed
 * before and after, and must hold the same values except for our table.
 */

import { parse, stringify, TomlError } from "smol-toml";
import { conflict } from "../../../engine/domain/errors.ts";
import { isRecord } from "../../../engine/domain/record.ts";
import { sameJson } from "./json-tree.ts";

type TomlValue = string | number | boolean | readonly string[] | { readonly [key: string]: string };

export interface TomlTable {
  /** The group of tables and the name in it. */
  readonly at: readonly [string, string];
  readonly values: Readonly<Record<string, TomlValue>>;
  /** One line above it, for the person who reads the file. */
  readonly comment: string;
}

export interface TomlAdded {
  readonly at: readonly [string, string];
  readonly lead: string;
  readonly block: string;
}

interface TomlText {
  readonly path: string;
  readonly text: string;
}

type Table = Record<string, unknown>;

export function addTable(
  file: TomlText,
  table: TomlTable,
  known: TomlAdded | undefined,
  force: boolean,
): { text: string; added?: TomlAdded } {
  const before = parsed(file);
  const [group, name] = table.at;
  const found = tableIn(file, before, group)?.[name];
  const eol = file.text.includes("\r\n") ? "\r\n" : "\n";
  const block = [`# ${table.comment}`, stringify({ [group]: { [name]: table.values } }).trimEnd(), ""]
    .join("\n")
    .replace(`[${group}]\n`, "")
    .replaceAll("\n", eol);
  if (known && file.text.includes(known.block)) {
    const text = file.text.replace(known.block, () => block);
    return checked(file, { ...file, text }, table, { ...known, block });
  }
  if (found !== undefined && sameJson(found, table.values)) return { text: file.text };
  if (found !== undefined && !known && !force) {
    const words = `"${group}.${name}" is there already and is not ours; --force replaces it and keeps a backup`;
    throw refused(file, lineOf(file.text, name), words);
  }
  const rest = found === undefined ? file.text : withoutTable(file, table.at);
  const lead = rest === "" ? "" : /\n[ \t]*\r?\n$/.test(rest) ? "" : rest.endsWith("\n") ? eol : `${eol}${eol}`;
  return checked(file, { ...file, text: `${rest}${lead}${block}` }, table, { at: table.at, lead, block });
}

/** Undefined: our table cannot be separated from the rest any more. */
export function takeTable(file: TomlText, added: TomlAdded): string | undefined {
  const { text } = file;
  for (const part of [added.lead + added.block, added.block]) {
    const from = text.indexOf(part);
    if (from >= 0) return text.slice(0, from) + text.slice(from + part.length);
  }
  if (tableIn(file, parsed(file), added.at[0])?.[added.at[1]] === undefined) return text;
  const [comment = ""] = added.block.split(/\r?\n/, 1);
  const left = withoutTable(file, added.at).replace(new RegExp(`^${escaped(comment)}\r?\n`, "m"), "");
  return saysTheSame(parsed(file), parsed({ ...file, text: left }), added.at) ? left : undefined;
}

function checked(old: TomlText, next: TomlText, table: TomlTable, added: TomlAdded) {
  const [group, name] = table.at;
  let after: Table;
  try {
    after = parse(next.text, { integersAsBigInt: "asNeeded" });
  } catch {
    throw refused(old, lineOf(old.text, group), `"${group}" is written in a way that no table can be added to`);
  }
  const ours = (after[group] as Table | undefined)?.[name];
  if (!sameJson(ours, table.values) || !saysTheSame(parsed(old), after, table.at))
    throw refused(old, lineOf(old.text, group), "our table cannot be added without changing what it says");
  return { text: next.text, added };
}

function saysTheSame(left: Table, right: Table, [group, name]: readonly [string, string]): boolean {
  const rest = (table: Table) => {
    const { [name]: _, ...others } = (table[group] ?? {}) as Table;
    return { ...table, [group]: others };
  };
  return sameJson(rest(left), rest(right));
}

function parsed(file: TomlText): Table {
  try {
    return parse(file.text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [, reason = "it is no TOML"] = /^[^:]*: (.*)/.exec(error.message) ?? [];
    throw refused(file, error.line, `it does not parse (${reason})`);
  }
}

function tableIn(file: TomlText, document: Table, group: string): Table | undefined {
  const found = document[group];
  if (found === undefined || isRecord(found)) return found;
  throw refused(file, lineOf(file.text, group), `"${group}" is not a table`);
}

/** Cuts from the table's header to the next one that is not below it. */
function withoutTable(file: TomlText, [group, name]: readonly [string, string]): string {
  const key = (word: string) => `(?:${escaped(word)}|"${escaped(word)}"|'${escaped(word)}')`;
  const ours = new RegExp(`^\\s*\\[\\s*${key(group)}\\s*\\.\\s*${key(name)}\\s*[\\].]`);
  let inside = false;
  const kept: string[] = [];
  for (const line of file.text.split(/(?<=\n)/)) {
    if (/^\s*\[/.test(line)) inside = ours.test(line);
    if (!inside) kept.push(line);
  }
  return kept.join("");
}

const escaped = (words: string) => words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function lineOf(text: string, word: string): number {
  const at = text.split("\n").findIndex((line) => line.includes(word));
  return at < 0 ? 1 : at + 1;
}

function refused({ path }: TomlText, line: number, words: string) {
  return conflict(`${path}, line ${line}: ${words}. Nothing was changed.`);
}
