/**
 * Adds entries to a settings file of the person by editing its text: every other byte stays, with comments, order and
 * indentation. What was added is recorded exactly, so that it can be removed exactly (json-take.ts).
 */
import { getNodeValue, type Node } from "jsonc-parser";
import { type Added, isOurs, itemOf, type JsonEntry, samePlace } from "./json-entry.ts";
import { lineIndent, ownLineIndent, print, type Style, styleOf } from "./json-style.ts";
import { takeOut } from "./json-take.ts";
import {
  behindSameLineComments,
  type Json,
  type JsonText,
  parseObject,
  propertyOf,
  propertyValue,
  refused,
  sameJson,
  skipTrivia,
  wrongType,
} from "./json-tree.ts";

export interface Edited {
  readonly text: string;
  readonly added: readonly Added[];
}

export function addEntries(
  file: JsonText,
  entries: readonly JsonEntry[],
  known: readonly Added[],
  force: boolean,
): Edited {
  // An entry that is no longer wanted may have created the object that holds the others: then all are removed and added anew.
  const outdated = known.some((old) => !entries.some((entry) => samePlace(entry, old)));
  const before = outdated ? [] : known;
  let text = outdated ? takeOut(file, known).text : file.text;
  const added: Added[] = [];
  for (const entry of entries) {
    const old = before.find((one) => samePlace(entry, one));
    const step = addEntry({ ...file, text }, entry, old, force);
    text = step.text;
    if (step.added) added.push(step.added);
  }
  return { text, added };
}

function addEntry(
  file: JsonText,
  entry: JsonEntry,
  old: Added | undefined,
  force: boolean,
): { text: string; added?: Added } {
  let node = parseObject(file);
  for (const [index, name] of entry.at.entries()) {
    if (node.type !== "object") throw wrongType(file, node, entry.at.slice(0, index), "an object");
    const property = propertyOf(file, node, name);
    if (property === undefined) {
      const inner = entry.at.slice(index + 1).reduceRight<Json>((value, key) => ({ [key]: value }), leafOf(entry));
      const { text, lead, tail } = insert(file.text, node, name, inner);
      const { keptFor, ...rest } = entry;
      const used = keptFor === undefined || propertyOf(file, node, keptFor) !== undefined;
      return { text, added: { ...(used ? rest : entry), depth: index + 1, lead, tail } };
    }
    node = propertyValue(property);
  }
  const found = entry.append ? itemOf(file, node, entry, old) : node;
  if (found === undefined) {
    const { text, lead, tail } = insert(file.text, node, undefined, entry.value);
    return { text, added: { ...entry, depth: entry.at.length + 1, lead, tail } };
  }
  return updateExisting(file, found, entry, old, force);
}

const leafOf = (entry: JsonEntry): Json => (entry.append ? [entry.value] : entry.value);

/** The path holds a value already: ours, an equal one by chance, or the person's. */
function updateExisting(file: JsonText, found: Node, entry: JsonEntry, old: Added | undefined, force: boolean) {
  const value: unknown = getNodeValue(found);
  const same = sameJson(value, entry.value);
  if (entry.keptFor !== undefined) return { text: file.text, ...(old ? { added: old } : {}) };
  const ours = old !== undefined && isOurs(value, old);
  if (same) return { text: file.text, ...(ours ? { added: { ...old, ...entry } } : {}) };
  const text = replaceValue(file.text, found, entry.value);
  if (ours) return { text, added: { ...old, ...entry } };
  if (entry.append) return { text, added: { ...entry, depth: entry.at.length + 1, lead: "", tail: "" } };
  if (!force) {
    const words = `"${entry.at.join(".")}" is there already and is not ours; --force replaces it and keeps a backup`;
    throw refused(file, found.offset, words);
  }
  const replaced = file.text.slice(found.offset, found.offset + found.length);
  return { text, added: { ...entry, depth: entry.at.length, lead: "", tail: "", replaced } };
}

interface Inserted {
  readonly text: string;
  readonly lead: string;
  readonly tail: string;
}

function insert(text: string, container: Node, name: string | undefined, value: Json): Inserted {
  const last = container.children?.at(-1);
  const style = styleOf(text);
  const chunk = (lead: string) => {
    const indent = lead.includes("\n") ? lead.slice(lead.lastIndexOf("\n") + 1) : undefined;
    return `${name === undefined ? "" : `${JSON.stringify(name)}: `}${print(value, style, indent)}`;
  };
  if (last === undefined) return insertFirst(text, container, style, chunk);
  const end = last.offset + last.length;
  const next = skipTrivia(text, end);
  const hasComma = text.charAt(next) === ",";
  const from = hasComma ? next + 1 : end;
  const place = behindSameLineComments(text, from);
  const indent = ownLineIndent(text, last.offset);
  // After a line comment a new line is needed.
  const lead = indent !== undefined || place > from ? `${style.eol}${indent ?? style.unit}` : " ";
  const parts = hasComma
    ? [text.slice(0, place), lead, chunk(lead), ",", text.slice(place)]
    : [text.slice(0, end), ",", text.slice(end, place), lead, chunk(lead), text.slice(place)];
  return { text: parts.join(""), lead, tail: "" };
}

function insertFirst(text: string, container: Node, style: Style, chunk: (lead: string) => string): Inserted {
  const open = container.offset + 1;
  const inside = text.slice(open, container.offset + container.length - 1);
  const kept = inside.trimEnd();
  const place = open + kept.length;
  const rest = inside.slice(kept.length);
  const inline = kept === "" && container.parent !== undefined && !text.trim().includes("\n");
  const base = lineIndent(text, container.offset);
  const lead = inline ? "" : `${style.eol}${base}${style.unit}`;
  const tail = inline || rest.includes("\n") ? "" : `${style.eol}${base}`;
  return { text: `${text.slice(0, place)}${lead}${chunk(lead)}${tail}${text.slice(place)}`, lead, tail };
}

function replaceValue(text: string, node: Node, value: Json): string {
  const indent = text.slice(node.offset, node.offset + node.length).includes("\n")
    ? lineIndent(text, node.offset)
    : ownLineIndent(text, node.parent?.offset ?? node.offset);
  const printed = print(value, styleOf(text), indent);
  return text.slice(0, node.offset) + printed + text.slice(node.offset + node.length);
}
