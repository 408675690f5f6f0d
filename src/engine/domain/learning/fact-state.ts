/** What consolidation knows of facts while it goes through an answer, and the changes that follow. */
import type { Fact, FactSlot } from "../fact.ts";
import { doubted } from "../lifecycle/doubt.ts";
import { normaliseKey } from "../text/text.ts";
import {
  type Batch,
  type Change,
  type DropReason,
  type FactDraft,
  type Known,
  type KnownFact,
  lastOf,
  lower,
  type Witness,
} from "./change.ts";
import { confirmations } from "./confirmations.ts";
import { subjectOf } from "./person.ts";

type Named = Pick<Fact, "subject" | "predicate">;

/** Every fact of an answer is compared with every other one and with those that are known. */
const made = new WeakMap<Named, Named>();

export function keyed<F extends Named>(fact: F): F {
  const known = made.get(fact);
  if (known !== undefined) return known as F;
  const under = { ...fact, subject: subjectOf(fact.subject), predicate: normaliseKey(fact.predicate) };
  made.set(fact, under);
  return under;
}

/** Under one key one fact is true now, and one may wait for each moment ahead. */
export const keyOf = (fact: FactSlot): string =>
  JSON.stringify([fact.scope, fact.subject, fact.predicate, fact.waits_until]);

export const isUnder = (fact: FactSlot, key: Omit<FactSlot, "waits_until">): boolean =>
  fact.scope === key.scope && fact.subject === key.subject && fact.predicate === key.predicate;
export const isSameMoment = (a: Pick<FactSlot, "waits_until">, b: Pick<FactSlot, "waits_until">): boolean =>
  a.waits_until?.getTime() === b.waits_until?.getTime();
/** Only on its own step, and what is true now stays until the new one's day. */
export const mayReplace = (old: FactSlot, by: FactSlot): boolean =>
  old.scope === by.scope && (by.waits_until === null || old.waits_until !== null);
/** A fact of this batch, as far as it has been told. */
export interface Fresh {
  readonly draft: FactDraft;
  readonly nth: number;
  readonly episodes: readonly string[];
  readonly disputers: readonly string[];
  readonly replaced: readonly string[];
  readonly contradicts: readonly KnownFact[];
}

/** What is known and what this batch has said so far. The functions below change it; nothing else does. */
export interface FactState {
  readonly known: Known;
  readonly batch: Batch;
  readonly byLabel: ReadonlyMap<string, KnownFact>;
  readonly replaced: Set<string>;
  readonly fresh: Map<string, Fresh>;
  readonly confirmed: ReturnType<typeof confirmations<"confirm_fact">>;
  readonly disputes: Map<string, Extract<Change, { kind: "contradict_fact" }>>;
  /** Items of this batch that later words of it have replaced. */
  readonly dropped: { nth: number; reason: DropReason }[];
}

export const factState = (known: Known, batch: Batch): FactState => ({
  known,
  batch,
  byLabel: new Map(known.facts.flatMap((fact) => (fact.label === undefined ? [] : [[fact.label, fact]]))),
  replaced: new Set(),
  fresh: new Map(),
  confirmed: confirmations("confirm_fact"),
  disputes: new Map(),
  dropped: [],
});

export const alive = ({ known, replaced }: FactState) => known.facts.filter(({ id }) => !replaced.has(id));
export const isOver = ({ batch }: FactState, { valid_to }: { valid_to: Date | null }) =>
  valid_to !== null && valid_to <= batch.now;

export function replace({ replaced, confirmed, disputes }: FactState, id: string): void {
  replaced.add(id);
  confirmed.without(id);
  disputes.delete(id);
}

/** Whether the fact has been heard of since these spoke, or from the last of them itself. */
export function isOlder(witnesses: readonly Witness[], fact: KnownFact): boolean {
  const last = lastOf(witnesses);
  if (last === undefined || fact.observed_at > last.occurred_at) return true;
  return fact.observed_at >= last.occurred_at && [...fact.witnesses].some((id) => id >= last.id);
}

function changeOf({ replaced }: FactState, { draft, nth, episodes, disputers, ...against }: Fresh): Change {
  const contradicts = against.contradicts.filter(({ id }) => !replaced.has(id)).map((fact) => lower(fact, draft.trust));
  const isDoubted = disputers.length > 0 || (contradicts.length > 0 && against.replaced.length === 0);
  const fact = isDoubted ? { ...draft, confidence: doubted(draft.confidence, false) } : draft;
  const cited = { fact, nth, episodes, disputers };
  return against.replaced.length > 0
    ? { kind: "supersede_fact", ...cited, replaced: against.replaced }
    : { kind: "create_fact", ...cited, contradicts };
}

export const factChanges = (state: FactState): Change[] => [
  ...[...state.fresh.values()].map((item) => changeOf(state, item)),
  ...state.confirmed.changes(),
  ...state.disputes.values(),
];
