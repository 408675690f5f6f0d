/**
 * The rows of a moment in the past, folded from the event stream. Every event of the visible scopes up to that moment is read
 * once, in pages. Of each memory only what ranking needs is kept (about half a kilobyte); whole rows are folded for the few
 * that are shown (rows.ts). In this folder `call.now` is that moment.
 */

import type { Episode } from "../../../src/engine/domain/episode.ts";
import { type Fact, type FactWords, factText, type Held } from "../../../src/engine/domain/fact.ts";
import type { Trust } from "../../../src/engine/domain/learning/trust.ts";
import { effectiveConfidence } from "../../../src/engine/domain/lifecycle/decay.ts";
import { canonicalState, isLive, type Validity } from "../../../src/engine/domain/lifecycle/lifecycle.ts";
import type { MemoryType, OrNull } from "../../../src/engine/domain/memory-types.ts";
import { isValue, type Look } from "../../../src/engine/domain/present.ts";
import {
  concat,
  eachForward,
  encodeForward,
  FORWARD_BYTES,
  h40,
  MAX_LEN,
} from "../../../src/engine/domain/ranking/words/postings.ts";
import type { RowJson } from "../../../src/engine/domain/replay.ts";
import { lexemes } from "../../../src/engine/domain/text/lexemes.ts";
import { stopIfCancelled } from "../../../src/engine/memory/following.ts";
import type { Call } from "../../../src/engine/memory/memory.ts";
import { dateOf, extendExpiry } from "../../../src/engine/memory/past/rows.ts";
import { lookOf } from "../../../src/engine/memory/recall/retrieve.ts";
import { livesThen, type PastStep, pastSteps } from "./steps.ts";

const PAGE = 2000;

/** What ranking needs of a memory. */
export interface PastMemory
  extends Held,
    Pick<Fact, "validity" | "importance" | "tags" | "created_at" | "corroborated_at">,
    OrNull<Pick<Episode, "expires_at">> {
  readonly type: MemoryType;
  /** Of facts: their key. */
  readonly key: string | undefined;
  /** Of facts: another fact was the value of their key. */
  readonly hidden: boolean;
  readonly permanence: string | undefined;
  readonly maturity: string | undefined;
  readonly tier: string | undefined;
  /** Where and by whom it was said: of episodes only. */
  readonly session: string | undefined;
  readonly ordinal: number | undefined;
  readonly speaker: string | undefined;
  /** It ends with a question mark. */
  readonly asks: boolean;
  /** The number of its words, and those that the query has, as a forward row. */
  readonly words: { readonly len: number; readonly x: Uint8Array };
}

export interface PastScope {
  readonly types: readonly MemoryType[];
  readonly scopes: readonly string[] | undefined;
  readonly ladder?: readonly string[] | undefined;
}

/** Every memory that was indexed then: the live ones, and expired episodes, which count in the statistics of words. */
export async function memoriesThen(call: Call, where: PastScope, asked: readonly string[]): Promise<PastMemory[]> {
  const query = { ...where, tenant: call.caller.tenant, until: call.now };
  const wanted = new Set(asked.map(h40));
  const found = new Map<string, FoldedMemory>();
  let page: PastStep[] = [];
  let read = 0;
  do {
    stopIfCancelled(call);
    page = await pastSteps(call.memory.db, query, page.at(-1)?.seq ?? "0", PAGE);
    for (const step of page) applyStep(found, step, wanted);
    read += page.length;
    call.following?.progress?.({ done: read, message: "events of that time read" });
  } while (page.length === PAGE);
  if (where.types.includes("episode"))
    for (const { id, expires_at } of await livesThen(call.memory.db, call.caller.tenant, call.now))
      extendExpiry(found.get(id)?.row, expires_at);
  const live = [...found.values()].map(memoryOf).filter(({ validity }) => isLive(validity));
  return withoutRivals(live, lookOf(call, where.ladder));
}

function withoutRivals(live: readonly PastMemory[], look: Look): PastMemory[] {
  const byKey = new Map<string, PastMemory[]>();
  for (const memory of live)
    if (memory.key !== undefined) byKey.set(memory.key, [...(byKey.get(memory.key) ?? []), memory]);
  return live.map((memory) => {
    const rivals = memory.key === undefined ? undefined : byKey.get(memory.key);
    return rivals === undefined ? memory : { ...memory, hidden: !isValue(memory, rivals, look) };
  });
}

interface FoldedMemory {
  readonly step: Pick<PastStep, "type" | "id" | "scope" | "asks">;
  readonly row: RowJson;
  readonly key: string | undefined;
  words: PastMemory["words"];
}

const TEXTS = ["content", "summary", "subject", "predicate", "subject_text", "predicate_text"];

function applyStep(found: Map<string, FoldedMemory>, step: PastStep, wanted: ReadonlySet<number>): void {
  if (step.deleted) {
    found.delete(step.id);
    return;
  }
  const folded =
    step.row === null
      ? found.get(step.id)
      : { step, row: step.row, key: keyOf(step.type, step.row), words: { len: 0, x: new Uint8Array() } };
  if (!folded) return;
  if (step.row !== null) {
    folded.words =
      step.x === null || step.len === null
        ? wordsOf(indexedText(step.type, step.row), wanted)
        : { len: step.len, x: onlyWanted(step.x, wanted) };
    found.set(step.id, folded);
  } else if (step.set !== null) {
    Object.assign(folded.row, step.set);
    // The text of a fact never changes, and its content is only a part of what is indexed.
    if (typeof step.set.content === "string" && step.type !== "fact") folded.words = wordsOf(step.set.content, wanted);
  }
  for (const name of TEXTS) delete folded.row[name];
}

const keyOf = (type: MemoryType, { subject, predicate }: RowJson): string | undefined =>
  type === "fact" ? JSON.stringify([subject, predicate]) : undefined;

function wordsOf(text: string, wanted: ReadonlySet<number>): PastMemory["words"] {
  const words = lexemes(text);
  const { x } = encodeForward(words.filter((word) => wanted.has(h40(word))));
  return { len: Math.min(words.length, MAX_LEN), x };
}

function onlyWanted(forward: Uint8Array, wanted: ReadonlySet<number>): Uint8Array {
  const kept: Uint8Array[] = [];
  let at = 0;
  eachForward(forward, (hash) => {
    if (wanted.has(hash)) kept.push(forward.subarray(at, at + FORWARD_BYTES));
    at += FORWARD_BYTES;
  });
  return concat(kept);
}

/** The text of a memory whose words are indexed. */
export const indexedText = (type: MemoryType, row: RowJson): string =>
  type === "fact" ? factText(row as FactWords & RowJson) : String(row.content ?? "");

function memoryOf({ step, row, key, words }: FoldedMemory): PastMemory {
  const created = dateOf(row.created_at) ?? new Date(0);
  return {
    type: step.type,
    id: step.id,
    scope: step.scope,
    validity: canonicalState(row.validity as Validity),
    importance: Number(row.importance),
    tags: (row.tags as string[] | undefined) ?? [],
    created_at: created,
    confidence: step.type === "episode" ? 1 : Number(row.confidence),
    decay_rate: step.type === "episode" ? 0 : Number(row.decay_rate),
    last_confirmed_at: dateOf(row.last_confirmed_at) ?? created,
    valid_to: dateOf(row.valid_to),
    key,
    // Events from before the column existed have no trust; the migration set it in the rows.
    trust: (row.trust as Trust | undefined) ?? "agent",
    corroborated_at: dateOf(row.corroborated_at),
    waits_until: dateOf(row.waits_until),
    hidden: false,
    expires_at: dateOf(row.expires_at),
    permanence: row.permanence as string | undefined,
    maturity: row.maturity as string | undefined,
    tier: row.tier as string | undefined,
    session: textOf(row.session_id),
    ordinal: typeof row.ordinal === "number" ? row.ordinal : undefined,
    speaker: textOf(row.speaker),
    asks: step.asks,
    words,
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Visible then: not expired, the value of its key, in its valid time, and of enough confidence. */
export function shownThen(call: Call, memory: PastMemory, minConfidence: number): boolean {
  if (memory.hidden) return false;
  if (memory.type === "episode" && (memory.expires_at === null || memory.expires_at <= call.now)) return false;
  if (memory.valid_to !== null && memory.valid_to <= call.now) return false;
  return effectiveConfidence(memory, call.now) >= minConfidence;
}
