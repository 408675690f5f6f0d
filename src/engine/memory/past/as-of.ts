/**
 * Search and context as they would have been answered at a moment in the past: the same formulas over what the timeline knows of that
 * moment (past.ts), and over rows that are folded from the events of the candidates alone (rows.ts).
 */

import { isLasting } from "../../domain/lifecycle/lasting.ts";
import { isKeptOut } from "../../domain/lifecycle/quarantine.ts";
import type { ProfileItem } from "../../store/memories/profile.ts";
import type { Found } from "../find.ts";
import type { Call } from "../memory.ts";
import { type Retrieval, type RetrieveQuery, retrieveFrom } from "../recall/retrieve.ts";
import { pastSource } from "./evidence.ts";
import { type PastMemory, type PastView, viewOf } from "./past.ts";
import { askThen } from "./question.ts";
import { unreadRowsThen } from "./rows.ts";
import type { Followed } from "./timelines.ts";

export async function retrieveThen(call: Call, query: RetrieveQuery): Promise<Retrieval> {
  const followed = await call.memory.timelines.of(call);
  return retrieveAmong(call, query, followed, viewOf(call, followed.timeline, query));
}

export interface ContextThen {
  readonly lasting: readonly ProfileItem[];
  readonly retrieval: Retrieval;
}

/** What `readProfile` and `retrieve` would have returned then. */
export async function contextThen(call: Call, query: RetrieveQuery, limit: number): Promise<ContextThen> {
  const followed = await call.memory.timelines.of(call);
  const view = viewOf(call, followed.timeline, query);
  const learned = view.lasting().filter((memory) => !isKeptOut(memory));
  const first = (wanted: (memory: PastMemory) => boolean) =>
    learned.filter(wanted).toSorted(byImportance).slice(0, limit);
  const profile = [...first((m) => isInProfile(view, m, call.now)), ...first((m) => m.maturity === "proven")];
  const [rows, retrieval] = await Promise.all([
    unreadRowsThen(
      call,
      profile.map(({ id }) => id),
    ),
    retrieveAmong(call, query, followed, view),
  ]);
  return { lasting: profile.flatMap(({ id }) => profileItem(rows.get(id))), retrieval };
}

const isInProfile = (view: PastView, m: PastMemory, now: Date): boolean =>
  isLasting(m) && (m.valid_to === null || m.valid_to > now) && !view.isHidden(m);

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

async function retrieveAmong(call: Call, query: RetrieveQuery, followed: Followed, view: PastView): Promise<Retrieval> {
  const source = pastSource(call, followed, view, await askThen(call, query, followed.timeline, view));
  const { trace: _, ...found } = await retrieveFrom(call, query, source);
  // After the answer, which it would hold up.
  void call.memory.readModel.load(call.memory.versions.serving?.version, call.caller.tenant);
  const missing = source.missing();
  return { ...found, degraded: found.degraded ?? (missing === 0 ? undefined : withoutVectors(missing)) };
}

const withoutVectors = (n: number) =>
  `${n} memories of that time have no vector any more (deleted or reworded since) and are found by their words only.`;
