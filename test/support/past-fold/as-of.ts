/**
 * Search and context as they would have been answered at a moment in the past: the same formulas over rows folded from the event
 * stream. The cost grows with the events of the visible scopes up to that moment, not with the answer: see past.ts.
 */

import { isLasting } from "../../../src/engine/domain/lifecycle/lasting.ts";
import { isKeptOut } from "../../../src/engine/domain/lifecycle/quarantine.ts";
import type { Found } from "../../../src/engine/memory/find.ts";
import type { Call } from "../../../src/engine/memory/memory.ts";
import { rowsThen } from "../../../src/engine/memory/past/rows.ts";
import { wordsOf } from "../../../src/engine/memory/recall/question.ts";
import { type Retrieval, type RetrieveQuery, retrieveFrom } from "../../../src/engine/memory/recall/retrieve.ts";
import type { ProfileItem } from "../../../src/engine/store/memories/profile.ts";
import { pastSource } from "./evidence.ts";
import { memoriesThen, type PastMemory } from "./past.ts";
import { askThen } from "./question.ts";

export async function retrieveThen(call: Call, query: RetrieveQuery): Promise<Retrieval> {
  return retrieveAmong(call, query, await memoriesThen(call, query, wordsOf(query.text)));
}

export interface ContextThen {
  readonly lasting: readonly ProfileItem[];
  readonly retrieval: Retrieval;
}

/** What `readProfile` and `retrieve` would have returned then, from one pass over the stream. */
export async function contextThen(call: Call, query: RetrieveQuery, limit: number): Promise<ContextThen> {
  const memories = await memoriesThen(call, query, wordsOf(query.text));
  const first = (wanted: (memory: PastMemory) => boolean) =>
    memories
      .filter((memory) => !isKeptOut(memory) && wanted(memory))
      .toSorted(byImportance)
      .slice(0, limit);
  const profile = [...first((m) => isInProfile(m, call.now)), ...first((m) => m.maturity === "proven")];
  const rows = await rowsThen(
    call,
    profile.map(({ id }) => id),
  );
  return {
    lasting: profile.flatMap(({ id }) => profileItem(rows.get(id))),
    retrieval: await retrieveAmong(call, query, memories),
  };
}

const isInProfile = (m: PastMemory, now: Date): boolean =>
  !m.hidden && isLasting(m) && (m.valid_to === null || m.valid_to > now);

const byImportance = (a: PastMemory, b: PastMemory): number =>
  b.importance - a.importance || b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? -1 : 1);

/** The columns that engine/store/memories/profile.ts gives. */
function profileItem(found: Found | undefined): ProfileItem[] {
  if (found === undefined || found.type === "episode") return [];
  const { id, content, importance, confidence, decay_rate, last_confirmed_at } = found.row;
  const shared = { id, content, importance, confidence, decay_rate, last_confirmed_at };
  if (found.type === "rule") return [{ ...shared, type: "rule", subject_text: "", predicate_text: "", permanence: "" }];
  const { subject_text, predicate_text, permanence } = found.row;
  return [{ ...shared, type: "fact", subject_text, predicate_text, permanence }];
}

async function retrieveAmong(call: Call, query: RetrieveQuery, memories: readonly PastMemory[]): Promise<Retrieval> {
  const source = pastSource(call, memories, await askThen(call, query, memories));
  const { trace: _, ...found } = await retrieveFrom(call, query, source);
  const missing = source.missing();
  return { ...found, degraded: found.degraded ?? (missing === 0 ? undefined : withoutVectors(missing)) };
}

const withoutVectors = (n: number) =>
  `${n} memories of that time have no vector any more (deleted or reworded since) and are found by their words only.`;
