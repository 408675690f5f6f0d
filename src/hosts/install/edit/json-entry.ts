/** What we add to a settings file, and how it is recognised later. */
import { getNodeValue, type Node } from "jsonc-parser";
import { holdsText, type Json, type JsonText, sameJson, wrongType } from "./json-tree.ts";

export interface JsonEntry {
  readonly at: readonly string[];
  readonly value: Json;
  /** The value is one more item of the list at that path. */
  readonly append?: boolean;
  /** A text in our value by which it is recognised after somebody changed another part of it. */
  readonly mark: string;
  /** Added only where the path is empty, and kept by an uninstall if this key of the file is in use then. */
  readonly keptFor?: string;
}

export interface Added extends JsonEntry {
  /** The length of the path to the outermost part that was added. */
  readonly depth: number;
  readonly lead: string;
  readonly tail: string;
  /** The text of the person's value that was overwritten with --force. */
  readonly replaced?: string;
}

export const samePlace = (left: JsonEntry, right: JsonEntry) =>
  left.append === right.append &&
  left.at.length === right.at.length &&
  left.at.every((name, i) => name === right.at[i]);

export function isOurs(value: unknown, old: JsonEntry): boolean {
  return typeof value === "boolean" || sameJson(value, old.value) || holdsText(value, old.mark);
}

export function itemOf(file: JsonText, list: Node, entry: JsonEntry, old: Added | undefined): Node | undefined {
  if (list.type !== "array") throw wrongType(file, list, entry.at, "a list");
  const items = list.children ?? [];
  const is = (test: (value: unknown) => boolean) => items.find((item) => test(getNodeValue(item)));
  return (
    is((value) => sameJson(value, entry.value) || (old !== undefined && sameJson(value, old.value))) ??
    is((value) => holdsText(value, entry.mark) || (old !== undefined && holdsText(value, old.mark)))
  );
}
