/** What we put into a settings file, and how it is known again there. */
import { getNodeValue, type Node } from "jsonc-parser";
import { holdsText, type Json, type JsonText, sameJson, wrongType } from "./json-tree.ts";

export interface JsonEntry {
  readonly at: readonly string[];
  readonly value: Json;
  /** The value is one more item of the list at that place. */
  readonly append?: boolean;
  /** Words by which our own value is known again after somebody changed a part of it. */
  readonly mark: string;
  /** Put in only where nothing stands, and it stays if the person has used that key beside it since. */
  readonly keptFor?: string;
}

export interface Added extends JsonEntry {
  /** How much of the path was put in: the first so many names lead to what is new. */
  readonly depth: number;
  readonly lead: string;
  readonly tail: string;
  /** The text of somebody else's value that was overwritten on request. */
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
