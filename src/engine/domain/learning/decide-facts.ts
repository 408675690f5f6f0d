/** What an answer's facts mean for the facts that are known. */

import type { Fact, FactSlot } from "../fact.ts";
import { DAY_MS } from "../lifecycle/decay.ts";
import { doubted } from "../lifecycle/doubt.ts";
import { waitsFor } from "../present.ts";
import { ladderOf } from "../scope.ts";
import { normaliseKey, sameMeaning } from "../text/text.ts";
import { agreement, isTelling, saysSame } from "./agreement.ts";
import type { LearnedFact } from "./answer.ts";
import {
  ALIKE,
  type Batch,
  type Change,
  type DropReason,
  type FactDraft,
  idsOf,
  type Known,
  type KnownFact,
  lastOf,
  lower,
  scopeOf,
  trustOf,
  type Witness,
} from "./change.ts";
import { confirmations } from "./confirmations.ts";
import { subjectOf } from "./person.ts";
import { isWeaker, MOST_CONFIDENT, trustRank } from "./trust.ts";

const keyed = <F extends Pick<Fact, "subject" | "predicate">>(fact: F): F => ({
  ...fact,
  subject: subjectOf(fact.subject),
  predicate: normaliseKey(fact.predicate),
});
/** One is true now, and one may wait for each moment ahead. */
const keyOf = (fact: FactSlot): string => JSON.stringify([fact.scope, fact.subject, fact.predicate, fact.waits_until]);

const isUnder = (fact: FactSlot, key: Omit<FactSlot, "waits_until">): boolean =>
  fact.scope === key.scope && fact.subject === key.subject && fact.predicate === key.predicate;
const isSameMoment = (a: Pick<FactSlot, "waits_until">, b: Pick<FactSlot, "waits_until">): boolean =>
  a.waits_until?.getTime() === b.waits_until?.getTime();
/** Only on its own step, and what is true now stays until the new one's day. */
const mayReplace = (old: FactSlot, by: FactSlot): boolean =>
  old.scope === by.scope && (by.waits_until === null || old.waits_until !== null);
/** A plan holds its key against other plans only: until its day it hides nothing that is true. */
const holds = (fact: FactSlot, against: FactSlot): boolean => fact.waits_until === null || against.waits_until !== null;
/** The same plan for another day: the last word about it holds. */
const isPostponed = (old: KnownFact, by: FactDraft): boolean =>
  old.waits_until !== null && by.waits_until !== null && isUnder(old, keyed(by)) && saysSame(by.content, old.content);

/** A fact of this batch, as far as it has been told. */
interface Fresh {
  readonly draft: FactDraft;
  readonly nth: number;
  readonly episodes: readonly string[];
  readonly disputers: readonly string[];
  readonly replaced: readonly string[];
  readonly contradicts: readonly KnownFact[];
}

/** What is known and what this batch has said so far. The functions below change it; nothing else does. */
export interface FactBook {
  readonly known: Known;
  readonly batch: Batch;
  readonly byLabel: ReadonlyMap<string, KnownFact>;
  readonly replaced: Set<string>;
  readonly fresh: Map<string, Fresh>;
  readonly confirmed: ReturnType<typeof confirmations<"confirm_fact">>;
  readonly disputes: Map<string, Extract<Change, { kind: "contradict_fact" }>>;
  /** Items of this batch that later words of it have taken the place of. */
  readonly dropped: { nth: number; reason: DropReason }[];
}

export const factBook = (known: Known, batch: Batch): FactBook => ({
  known,
  batch,
  byLabel: new Map(known.facts.flatMap((fact) => (fact.label === undefined ? [] : [[fact.label, fact]]))),
  replaced: new Set(),
  fresh: new Map(),
  confirmed: confirmations("confirm_fact"),
  disputes: new Map(),
  dropped: [],
});

const alive = ({ known, replaced }: FactBook) => known.facts.filter(({ id }) => !replaced.has(id));
const isOver = ({ batch }: FactBook, { valid_to }: { valid_to: Date | null }) =>
  valid_to !== null && valid_to <= batch.now;

function draftOf({ batch }: FactBook, learned: LearnedFact, witnesses: readonly Witness[]): FactDraft {
  const trust = trustOf(learned.content, witnesses);
  const isUser = subjectOf(learned.subject) === "user";
  const valid_from = learned.valid_from === null ? null : new Date(learned.valid_from);
  return {
    subject: isUser ? "user" : learned.subject,
    predicate: learned.predicate,
    content: learned.content,
    scope: scopeOf(learned.scope, isUser, batch, witnesses),
    permanence: learned.permanence,
    importance: learned.importance,
    confidence: Math.min(learned.confidence, MOST_CONFIDENT[trust]),
    tags: learned.tags,
    trust,
    valid_from,
    valid_to: learned.valid_to === null ? null : endOf(learned.valid_to),
    waits_until: waitsFor(valid_from, batch.now),
  };
}

/**
 * Where readers find it: under the key and on the step of what it takes the place of. A fact of a wider step, and one that is
 * true until the new one's day, is not touched: it is passed over by whoever reads both.
 */
function placed(book: FactBook, draft: FactDraft, old: KnownFact | undefined): FactDraft {
  const { subject, predicate } = old !== undefined && !mayReplace(old, draft) ? old : draft;
  const under = keyed({ ...draft, subject, predicate });
  const steps = ladderOf(book.batch.butler);
  const narrower = steps.slice(steps.indexOf(draft.scope) + 1).toReversed();
  const learned = [...book.fresh.values()].map((item) => keyed(item.draft));
  const held = (scope: string) =>
    [...alive(book), ...learned].some(
      (fact) => !isOver(book, fact) && isUnder(fact, { ...under, scope }) && holds(fact, draft),
    );
  return { ...draft, subject, predicate, scope: narrower.find(held) ?? draft.scope };
}

export function learnFact(
  book: FactBook,
  learned: LearnedFact,
  nth: number,
  witnesses: readonly Witness[],
): DropReason | undefined {
  const { confirmed, fresh } = book;
  if (learned.permanence === "ephemeral") return "ephemeral";
  const drawn = draftOf(book, learned, witnesses);
  if (isOver(book, drawn) || endsBeforeItBegins(drawn)) return "over";
  if (keyed(drawn).subject === "" || keyed(drawn).predicate === "") return "nameless";
  const told = { supersedes: pointedAt(book, learned.supersedes), contradicts: pointedAt(book, learned.contradicts) };
  if (told.supersedes === null || told.contradicts === null) return "unknown_memory";
  const draft = placed(book, drawn, told.supersedes);
  const mine = keyOf(keyed(draft));
  const holder = alive(book).find((fact) => keyOf(fact) === mine);
  const agreed = holder !== undefined && !isOver(book, holder) && agreement(draft.content, holder.content) === "same";
  // Other words for the very fact that is said to be superseded are a correction.
  if (agreed && (holder !== told.supersedes || sameMeaning(draft.content, holder.content)))
    return confirmed.add(holder, nth, witnesses);

  const before = fresh.get(mine);
  if (before !== undefined && isWeaker(draft.trust, before.draft.trust)) {
    const disputers = [...new Set([...before.disputers, ...idsOf(witnesses)])];
    if (!saysSame(draft.content, before.draft.content)) fresh.set(mine, { ...before, disputers });
    return "echo";
  }
  const pointed = told.supersedes !== undefined && mayReplace(told.supersedes, draft) ? told.supersedes : undefined;
  const old = alive(book).filter((fact) => fact === holder || fact === pointed || isPostponed(fact, draft));
  if (old.some((fact) => !isOver(book, fact) && isOlder(witnesses, fact))) return "outdated";
  const until = alive(book).filter((fact) => fact.waits_until === null && isUnder(fact, keyed(draft)));
  const stronger = [...old, ...until].find(
    (fact) => isWeaker(draft.trust, confirmed.trustOf(fact)) && !isOver(book, fact),
  );
  // What was planned before the better source spoke is no doubt about it.
  if (stronger !== undefined)
    return isOlder(witnesses, stronger) ? "outdated" : dispute(book, stronger, draft, nth, witnesses);
  for (const { id } of old) replace(book, id);
  const rival = told.contradicts;
  const item: Fresh = {
    ...{ draft, nth, episodes: idsOf(witnesses), disputers: [], replaced: old.map(({ id }) => id) },
    contradicts: rival === undefined || rival.scope !== draft.scope ? [] : [rival],
  };
  const kept = before === undefined ? item : retold(before, item);
  fresh.set(mine, kept);
  if (kept.nth !== nth) return "repeated";
  // The item whose words give way is the one that is left out, told before or not.
  if (before !== undefined) book.dropped.push({ nth: before.nth, reason: "repeated" });
  return undefined;
}

/** Told twice in one batch: one row, with the last words and, if they agree, all that said so. */
function retold(before: Fresh, item: Fresh): Fresh {
  const both = [...before.replaced, ...item.replaced];
  const agreed = agreement(item.draft.content, before.draft.content);
  if (agreed !== "same" && agreed !== "more") return { ...item, replaced: both };
  // Less detail from the same source takes nothing back.
  const words = agreed === "same" && item.draft.trust === before.draft.trust ? before : item;
  return {
    ...{ draft: words.draft, nth: words.nth, replaced: both, disputers: before.disputers },
    episodes: [...new Set([...before.episodes, ...item.episodes])],
    contradicts: [...new Set([...before.contradicts, ...item.contradicts])],
  };
}

/** The same of the same subject under another name. What is true on a wider step is true here; what waits is not true yet. */
function isTwin(draft: FactDraft, other: FactSlot & { readonly content: string }) {
  const [mine, theirs] = [keyed(draft), keyed(other)];
  if (theirs.subject !== mine.subject || !ladderOf(draft.scope).includes(other.scope)) return false;
  if (other.waits_until !== null && !isSameMoment(other, draft)) return false;
  if (theirs.predicate === mine.predicate) return agreement(draft.content, other.content) === "same";
  return isTelling(draft.content) && saysSame(draft.content, other.content);
}

/** Of an exchange only those turns that said it: the person's words beside an agent's echo are no witness for it. */
const witnessesOf = ({ batch }: FactBook, { episodes, draft }: Fresh) =>
  batch.witnesses.filter(({ id, trust }) => episodes.includes(id) && trustRank(trust) <= trustRank(draft.trust));

function knownTwin(book: FactBook, { draft, nth }: Fresh): KnownFact | undefined {
  const near = (fact: KnownFact) =>
    keyed(draft).predicate === fact.predicate ||
    sameMeaning(draft.content, fact.content) ||
    book.known.likeness("fact", nth, fact.id) >= ALIKE;
  return alive(book).find((fact) => isTwin(draft, fact) && near(fact) && !isOver(book, fact));
}

/** Nothing is known twice: what has a twin under another key goes up in it. The best source comes first, then detail. */
export function settleFacts(book: FactBook): { nth: number; reason: DropReason }[] {
  const { confirmed, dropped, fresh } = book;
  const settled = new Map<string, Fresh>();
  for (const [key, item] of fresh) {
    if (item.replaced.length === 0) continue;
    const twin = knownTwin(book, item);
    const stays =
      twin === undefined ||
      isWeaker(item.draft.trust, confirmed.trustOf(twin)) ||
      isOlder(witnessesOf(book, item), twin);
    const gone = stays || !mayReplace(twin, item.draft) ? [] : [twin.id];
    for (const id of gone) replace(book, id);
    settled.set(key, { ...item, replaced: [...item.replaced, ...gone] });
  }
  const added = [...fresh].filter(([key]) => !settled.has(key));
  added.sort(
    ([, { draft: a }], [, { draft: b }]) =>
      trustRank(b.trust) - trustRank(a.trust) || b.content.length - a.content.length,
  );
  for (const [key, item] of added) {
    const reason = settleOne(book, item, settled);
    if (reason === "new") settled.set(key, item);
    else if (reason !== undefined) dropped.push({ nth: item.nth, reason });
  }
  fresh.clear();
  for (const [key, item] of settled) fresh.set(key, item);
  return dropped;
}

function settleOne(book: FactBook, item: Fresh, settled: Map<string, Fresh>): DropReason | "new" | undefined {
  const twin = knownTwin(book, item);
  if (twin !== undefined) return book.confirmed.add(twin, item.nth, witnessesOf(book, item));
  const [key, other] = [...settled].find(([, one]) => isTwin(item.draft, one.draft)) ?? [];
  if (key === undefined || other === undefined) return "new";
  if (isWeaker(item.draft.trust, other.draft.trust)) return "echo";
  settled.set(key, { ...other, episodes: [...new Set([...other.episodes, ...item.episodes])] });
  return "repeated";
}

/** Nobody is silently believed against a better source: the doubt is kept, with those who raised it. */
function dispute(
  { confirmed, disputes }: FactBook,
  fact: KnownFact,
  { content: claim, trust }: FactDraft,
  nth: number,
  witnesses: readonly Witness[],
): DropReason | undefined {
  if (saysSame(claim, fact.content)) return "echo";
  const episodes = idsOf(witnesses).filter((id) => !fact.disputers.has(id));
  if (episodes.length === 0) return "unchanged";
  const before = disputes.get(fact.id);
  const all = [...new Set([...(before?.episodes ?? []), ...episodes])];
  disputes.set(fact.id, {
    kind: "contradict_fact",
    lowered: lower({ ...fact, trust: confirmed.trustOf(fact) }, trust),
    claim,
    nth,
    episodes: all,
  });
  return before === undefined ? undefined : "repeated";
}

function replace({ replaced, confirmed, disputes }: FactBook, id: string): void {
  replaced.add(id);
  confirmed.without(id);
  disputes.delete(id);
}

/** Null: a label that nothing was shown under. */
const pointedAt = ({ byLabel }: FactBook, label: string | null): KnownFact | undefined | null =>
  label === null ? undefined : (byLabel.get(label) ?? null);

function changeOf({ replaced }: FactBook, { draft, nth, episodes, disputers, ...against }: Fresh): Change {
  const contradicts = against.contradicts.filter(({ id }) => !replaced.has(id)).map((fact) => lower(fact, draft.trust));
  const isDoubted = disputers.length > 0 || (contradicts.length > 0 && against.replaced.length === 0);
  const fact = isDoubted ? { ...draft, confidence: doubted(draft.confidence, false) } : draft;
  const cited = { fact, nth, episodes, disputers };
  return against.replaced.length > 0
    ? { kind: "supersede_fact", ...cited, replaced: against.replaced }
    : { kind: "create_fact", ...cited, contradicts };
}

export function confirmFact(
  book: FactBook,
  label: string,
  nth: number,
  witnesses: readonly Witness[],
): DropReason | undefined {
  const fact = book.byLabel.get(label);
  if (fact === undefined) return "unknown_memory";
  return book.replaced.has(fact.id) ? "outdated" : book.confirmed.add(fact, nth, witnesses);
}

export const factChanges = (book: FactBook): Change[] => [
  ...[...book.fresh.values()].map((item) => changeOf(book, item)),
  ...book.confirmed.changes(),
  ...book.disputes.values(),
];

/** The last day that can be written stands for no end: the one after it could not be stored. */
const endOf = (day: string): Date | null => (day === "9999-12-31" ? null : new Date(Date.parse(day) + DAY_MS));

const endsBeforeItBegins = ({ valid_from, valid_to }: FactDraft): boolean =>
  valid_from !== null && valid_to !== null && valid_to <= valid_from;

/** Whether the fact has been heard of since these spoke, or from the last of them itself. */
function isOlder(witnesses: readonly Witness[], fact: KnownFact): boolean {
  const last = lastOf(witnesses);
  if (last === undefined || fact.observed_at > last.occurred_at) return true;
  return fact.observed_at >= last.occurred_at && [...fact.witnesses].some((id) => id >= last.id);
}
