/** Adds our part to the text of a settings file, or removes it, whatever its format. */

import type { HostChange } from "../plan.ts";
import { addEntries } from "./json-edit.ts";
import type { Added } from "./json-entry.ts";
import { takeOut } from "./json-take.ts";
import { addTable, type TomlAdded, takeTable } from "./toml-edit.ts";

/** What was added to a file, as the manifest records it. */
export interface Ours {
  readonly json?: readonly Added[];
  readonly toml?: TomlAdded;
}

export interface Put extends Ours {
  readonly text: string;
}

const BOM = "\uFEFF";

export function putIn(text: string | undefined, change: HostChange, known: Ours | undefined, force: boolean): Put {
  const [bom, body] = text?.startsWith(BOM) ? [BOM, text.slice(1)] : ["", text ?? ""];
  if (change.kind === "toml") {
    const { text: next, added } = addTable({ path: change.path, text: body }, change.table, known?.toml, force);
    return { text: bom + next, ...(added ? { toml: added } : {}) };
  }
  const start = body.trim() === "" ? `{}\n${body}` : body;
  const file = { path: change.path, text: start, strict: change.strict };
  const { text: next, added } = addEntries(file, change.entries, known?.json ?? [], force);
  return { text: bom + next, json: added };
}

interface Taken {
  readonly text: string;
  /** The file holds nothing else. */
  readonly empty: boolean;
  readonly kept: readonly string[];
}

export function takeFrom(path: string, text: string, ours: Ours): Taken {
  const [bom, body] = text.startsWith(BOM) ? [BOM, text.slice(1)] : ["", text];
  if (ours.toml) {
    const left = takeTable({ path, text: body }, ours.toml);
    const kept = left === undefined ? [ours.toml.at.join(".")] : [];
    return { text: bom + (left ?? body), empty: left?.trim() === "", kept };
  }
  const left = takeOut({ path, text: body, strict: false }, ours.json ?? []);
  return { text: bom + left.text, empty: /^\s*\{\s*\}\s*$/.test(left.text), kept: left.kept };
}
