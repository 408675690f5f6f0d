/** Removes from a settings file what was added to it, byte for byte, also after somebody has changed the rest. */
import { getNodeValue, type Node } from "jsonc-parser";
import { type Added, isOurs, itemOf } from "./json-entry.ts";
import { type JsonText, parseObject, propertyOf, propertyValue, skipTrivia } from "./json-tree.ts";

/** Removes our entries, the last one first; `kept` names those that somebody has changed so that they are no longer ours. */
export function takeOut(file: JsonText, added: readonly Added[]): { text: string; kept: readonly string[] } {
  let text = file.text;
  const kept: string[] = [];
  for (const one of added.toReversed()) {
    const step = takeOne({ ...file, text }, one);
    if (step === undefined) kept.push(one.at.join("."));
    else text = step;
  }
  return { text, kept };
}

/** Undefined: the value is no longer ours. */
function takeOne(file: JsonText, one: Added): string | undefined {
  const { text } = file;
  const root = parseObject(file);
  const chain: Node[] = [];
  let node = root;
  for (const name of one.at) {
    const property = node.type === "object" ? propertyOf(file, node, name) : undefined;
    if (property === undefined) return text;
    chain.push(property);
    node = propertyValue(property);
  }
  if (one.append) {
    const item = node.type === "array" ? itemOf(file, node, one, one) : undefined;
    if (item === undefined) return text;
    chain.push(item);
  } else if (one.keptFor !== undefined && propertyOf(file, root, one.keptFor) !== undefined) {
    return text;
  } else if (!isOurs(getNodeValue(node), one)) return undefined;
  if (one.replaced !== undefined)
    return text.slice(0, node.offset) + one.replaced + text.slice(node.offset + node.length);
  let depth = chain.length;
  while (depth > one.depth && isAlone(text, chain[depth - 1])) depth--;
  const target = chain[depth - 1];
  return target === undefined ? text : cut(text, target, depth === one.depth ? one : undefined);
}

/** Whether its list or object holds nothing else, not even a comment. */
function isAlone(text: string, node: Node | undefined): boolean {
  const container = node?.parent;
  if (node === undefined || container?.children?.length !== 1) return false;
  const before = text.slice(container.offset + 1, node.offset);
  const after = text.slice(node.offset + node.length, container.offset + container.length - 1);
  return before.trim() === "" && ["", ","].includes(after.trim());
}

/** The start of the blanks before an offset, including one line break before them. */
function lineBefore(text: string, place: number): number {
  let at = place;
  while (text.charAt(at - 1) === " " || text.charAt(at - 1) === "\t") at--;
  if (text.charAt(at - 1) === "\n") at--;
  return text.charAt(at - 1) === "\r" ? at - 1 : at;
}

function cut(text: string, node: Node, exact: Added | undefined): string {
  const start = node.offset;
  const end = start + node.length;
  const siblings = node.parent?.children ?? [];
  const known = exact !== undefined && text.slice(0, start).endsWith(exact.lead);
  const from = known ? start - exact.lead.length : lineBefore(text, start);
  const next = skipTrivia(text, end);
  if (text.charAt(next) === ",") return text.slice(0, from) + text.slice(end, next) + text.slice(next + 1);
  const before = siblings[siblings.indexOf(node) - 1];
  if (before === undefined) {
    const tail = exact?.tail ?? "";
    return text.slice(0, from) + text.slice(text.startsWith(tail, end) ? end + tail.length : end);
  }
  const comma = skipTrivia(text, before.offset + before.length);
  return text.slice(0, comma) + text.slice(comma + 1, from) + text.slice(end);
}
