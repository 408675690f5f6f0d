/** What a redaction policy takes out of what is stored already. Rows are JSON as the database writes it; the same text is changed in the same way wherever it stands. */
import { MEMORY_TYPES, type MemoryType } from "../memory-types.ts";
import { isRecord } from "../record.ts";
import type { RowJson } from "../replay.ts";
import { type JsonValue, normaliseKey } from "../text/text.ts";
import type { Policy } from "./policy.ts";
import { type Found, redact, redactDeep } from "./redact.ts";

/** The columns that changed, and what was found in them. */
export interface RedactedRow {
  readonly set: RowJson;
  readonly found: readonly Found[];
}

/** Columns with words. All others hold ids, numbers, times and states. */
const TEXTS: Readonly<Record<MemoryType | "mark" | "run", readonly string[]>> = {
  episode: ["content", "summary", "speaker", "forget_reason", "last_consolidation_error"],
  fact: ["content", "subject_text", "predicate_text", "forget_reason"],
  rule: ["content", "original_content", "forget_reason"],
  mark: ["note"],
  run: ["error"],
};
const DATA: Readonly<Record<keyof typeof TEXTS, readonly string[]>> = {
  episode: ["tags", "metadata"],
  fact: ["tags", "metadata"],
  rule: ["tags", "metadata", "matcher"],
  mark: [],
  run: ["answer"],
};

export function redactRow(kind: keyof typeof TEXTS, id: string, row: RowJson, policy: Policy): RedactedRow {
  const set: RowJson = {};
  const all: Found[] = [];
  for (const column of [...TEXTS[kind], ...DATA[kind]]) {
    const value = row[column];
    if (value === null || value === undefined) continue;
    const { value: clean, found } =
      typeof value === "string" ? textOf(value, policy) : redactDeep(value as JsonValue, policy);
    if (found.length === 0) continue;
    set[column] = clean;
    all.push(...found);
  }
  // A key is made of its words. Two that differed in the secret alone must stay two.
  for (const name of kind === "fact" ? ["subject", "predicate"] : []) {
    const text = set[`${name}_text`];
    if (typeof text === "string") set[name] = `${normaliseKey(text)} ${id.slice(-8)}`;
  }
  return { set, found: all };
}

function textOf(text: string, policy: Policy): { value: string; found: readonly Found[] } {
  const { text: value, found } = redact(text, policy);
  return { value, found };
}

/** Parts of a payload that hold no words: ids, numbers, and what a receipt is checked by. */
const WORDLESS = new Set(
  "links unlinked undone recounted references redactions counts hash erased erasure from run by in superseded_by supported_by".split(
    " ",
  ),
);

export interface RedactedPayload {
  /** Undefined when nothing was found. */
  readonly payload: RowJson | undefined;
  readonly found: readonly Found[];
}

/** Of an event. `columns` are those that the row of its memory got besides, such as a key made anew. */
export function redactPayload(
  event: { readonly entity_type: string; readonly entity_id: string; readonly payload: Readonly<RowJson> },
  policy: Policy,
  columns: RowJson = {},
): RedactedPayload {
  const type = MEMORY_TYPES.find((one) => one === event.entity_type);
  const all: Found[] = [];
  const payload: RowJson = {};
  for (const [name, value] of Object.entries(event.payload)) {
    const { value: clean, found } = partOf(name, value, type);
    payload[name] = clean;
    all.push(...found);
  }
  return { payload: all.length === 0 ? undefined : payload, found: all };

  function partOf(
    name: string,
    value: unknown,
    of: MemoryType | undefined,
  ): { value: unknown; found: readonly Found[] } {
    if (WORDLESS.has(name) || value === null) return { value, found: [] };
    const kind = name === "application" ? "mark" : name === "row" || name === "set" ? of : undefined;
    if (kind !== undefined && isRecord(value)) {
      const { set, found } = redactRow(kind, event.entity_id, value, policy);
      const own = Object.fromEntries(Object.entries(columns).filter(([column]) => found.length > 0 && column in value));
      return { value: { ...value, ...set, ...own }, found };
    }
    return typeof value === "string" ? textOf(value, policy) : redactDeep(value as JsonValue, policy);
  }
}
