/** Restores a memory that was forgotten or had expired. A fact only if no live fact holds its key. */

import { conflict } from "../../domain/errors.ts";
import type { Fact } from "../../domain/fact.ts";
import { effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import { mayHappen } from "../../domain/lifecycle/lifecycle.ts";
import { seenUntil } from "../../domain/lifecycle/tiers.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { hasBegun } from "../../domain/present.ts";
import type { Rule } from "../../domain/rule.ts";
import { setEpisodeValidity } from "../../store/memories/episodes.ts";
import { changeFact } from "../../store/memories/facts.ts";
import { changeRule } from "../../store/memories/rules.ts";
import { type Found, findMemory } from "../find.ts";
import type { Call } from "../memory.ts";
import { indexedFact } from "../sealing.ts";
import { type Writing, write } from "../write.ts";
import { holdersOf } from "./fact-key.ts";
import { reindex, shelfOf, visibleUntil } from "./index-memory.ts";

export interface RestoreInput {
  readonly type?: MemoryType | undefined;
  readonly id: string;
}

export interface RestoreAnswer {
  readonly type: MemoryType;
  readonly id: string;
  readonly state: "active" | "fading";
}

export async function restore(call: Call, input: RestoreInput): Promise<RestoreAnswer> {
  const { answer } = await write(call, "memory_restore", input, async (writing): Promise<RestoreAnswer> => {
    const found = await findMemory(call, writing.sql, input.id, input.type, true);
    const { type, row } = found;
    if (row.validity === "active" || row.validity === "fading") return { type, id: row.id, state: row.validity };
    if (!mayHappen(row.validity, "restore"))
      throw conflict(`this ${type} is ${row.validity}; only forgotten or expired memories can be restored.`);
    const set = await bringBack(call, writing, found);
    writing.tell({
      type: `${type}.restored`,
      entity: { type, id: row.id },
      scope: found.scope,
      payload: { set, from: row.validity },
    });
    return { type, id: row.id, state: "active" };
  });
  return answer;
}

async function bringBack(call: Call, writing: Writing, found: Found): Promise<Record<string, unknown>> {
  const { sql } = writing;
  const { row, scope } = found;
  const sk = await shelfOf(call, scope, found.type, sql);
  const seen = { validity: "active", forgotten_at: null, forget_reason: null } as const;
  if (found.type === "episode") {
    await setEpisodeValidity(sql, row.id, "retracted", seen);
    await reindex(sql, { id: row.id, sk, text: row.content, visibleUntil: seenUntil(found.row.expires_at) });
    return seen;
  }
  if (found.type === "fact") await requireFreeKey(call, writing, found.row);
  const set = { ...seen, ...anchor(call, found.row) };
  if (found.type === "fact") {
    const waits_until = hasBegun(found.row, call.now) ? null : found.row.waits_until;
    const believed = { ...set, superseded_at: null, waits_until };
    await changeFact(sql, row.id, row.validity, believed);
    const until = visibleUntil(call.memory, { ...found.row, ...set }, found.row.valid_to);
    await reindex(sql, { id: row.id, sk, text: indexedFact(call.memory, found.row), visibleUntil: until });
    return believed;
  } else {
    await changeRule(sql, row.id, found.row.validity, set);
    const until = visibleUntil(call.memory, { ...found.row, ...set });
    await reindex(sql, { id: row.id, sk, text: row.content, visibleUntil: until });
  }
  return set;
}

/** A memory whose confidence is too low to be found would stay invisible; restoring it counts as confirming it. */
function anchor(call: Call, row: Fact | Rule): { last_confirmed_at?: Date } {
  const threshold = call.memory.settings.facts.retrieval_confidence_threshold;
  return effectiveConfidence(row, call.now) < threshold ? { last_confirmed_at: call.now } : {};
}

/** Its key must be free and its valid time not over: else it would be live, and found by no search. */
async function requireFreeKey(call: Call, writing: Writing, fact: Fact): Promise<void> {
  if (fact.valid_to !== null && fact.valid_to <= call.now)
    throw conflict(
      `this fact was true until ${fact.valid_to.toISOString().slice(0, 10)}; store it anew if it is true again.`,
    );
  const { live, waiting } = await holdersOf(call, writing, fact);
  const day = fact.waits_until?.getTime();
  const holder = hasBegun(fact, call.now) ? live : waiting.find(({ waits_until }) => waits_until?.getTime() === day);
  if (holder)
    throw conflict(`another fact (${holder.id}) now holds "${fact.subject} ${fact.predicate}"; forget that one first.`);
}
