/** What a fact of an answer means for the facts that are known. */
import type { FactSlot } from "../fact.ts";
import { DAY_MS } from "../lifecycle/decay.ts";
import { waitsFor } from "../present.ts";
import { ladderOf } from "../scope.ts";
import { sameMeaning } from "../text/text.ts";
import { agreement, saysSame } from "./agreement.ts";
import type { LearnedFact } from "./answer.ts";
import {
  type DropReason,
  type FactDraft,
  idsOf,
  type KnownFact,
  lower,
  scopeOf,
  trustOf,
  type Witness,
} from "./change.ts";
import {
  alive,
  type FactState,
  type Fresh,
  isOlder,
  isOver,
  isUnder,
  keyed,
  keyOf,
  mayReplace,
  replace,
} from "./fact-state.ts";
import { subjectOf } from "./person.ts";
import { isWeaker, MOST_CONFIDENT } from "./trust.ts";

/** A plan holds its key against other plans only: until its day it hides nothing that is true. */
const holds = (fact: FactSlot, against: FactSlot): boolean => fact.waits_until === null || against.waits_until !== null;
/** The same plan for another day: the last word about it holds. */
const isPostponed = (old: KnownFact, by: FactDraft): boolean =>
  old.waits_until !== null && by.waits_until !== null && isUnder(old, keyed(by)) && saysSame(by.content, old.content);

function draftOf({ batch }: FactState, learned: LearnedFact, nth: number, witnesses: readonly Witness[]): FactDraft {
  const foundBy = batch.learned("fact", nth);
  const trust = trustOf(learned.content, witnesses, foundBy);
  const isUser = subjectOf(learned.subject) === "user";
  const valid_from = learned.valid_from === null ? null : new Date(learned.valid_from);
  return {
    subject: isUser ? "user" : learned.subject,
    predicate: learned.predicate,
    content: learned.content,
    scope: scopeOf(learned.scope, isUser, batch, witnesses),
    permanence: learned.permanence,
    importance: learned.importance,
    confidence: foundBy.hint ? batch.hintConfidence : Math.min(learned.confidence, MOST_CONFIDENT[trust]),
    tags: learned.tags,
    trust,
    valid_from,
    valid_to: learned.valid_to === null ? null : endOf(learned.valid_to),
    waits_until: waitsFor(valid_from, batch.now),
    learned: foundBy,
  };
}

/**
 * The draft where readers find it: under the key and on the step of the fact that it replaces. A fact of a wider step, and
 * one that is true until the new one's day, is not touched: it is passed over by whoever reads both.
 */
function withKeyOf(state: FactState, draft: FactDraft, old: KnownFact | undefined): FactDraft {
  const { subject, predicate } = old !== undefined && !mayReplace(old, draft) ? old : draft;
  const under = keyed({ ...draft, subject, predicate });
  const steps = ladderOf(state.batch.butler);
  const narrower = steps.slice(steps.indexOf(draft.scope) + 1).toReversed();
  const learned = [...state.fresh.values()].map((item) => keyed(item.draft));
  const held = (scope: string) =>
    [...alive(state), ...learned].some(
      (fact) => !isOver(state, fact) && isUnder(fact, { ...under, scope }) && holds(fact, draft),
    );
  return { ...draft, subject, predicate, scope: narrower.find(held) ?? draft.scope };
}

/** One fact of the answer beside what is known and what the batch has said under its key. */
interface Told {
  readonly draft: FactDraft;
  readonly nth: number;
  readonly witnesses: readonly Witness[];
  /** The facts that the extractor says it supersedes and contradicts. */
  readonly supersedes: KnownFact | undefined;
  readonly contradicts: KnownFact | undefined;
  readonly key: string;
  /** The known fact under its key. */
  readonly holder: KnownFact | undefined;
  /** The fact that this batch has told under its key. */
  readonly before: Fresh | undefined;
}

export function learnFact(
  state: FactState,
  learned: LearnedFact,
  nth: number,
  witnesses: readonly Witness[],
): DropReason | undefined {
  const drawn = draftOf(state, learned, nth, witnesses);
  const unusable = whyUnusable(state, learned, drawn);
  if (unusable !== undefined) return unusable;
  const told = toldIn(state, learned, drawn, nth, witnesses);
  const confirmed = confirmedBy(state, told);
  if (confirmed !== undefined) return state.confirmed.add(confirmed, nth, witnesses);
  if (told.before !== undefined && isWeaker(told.draft.trust, told.before.draft.trust))
    return doubtTold(state, told, told.before);
  const old = replacedBy(state, told);
  // A hint takes the place of nothing that is known.
  if (drawn.learned.hint && (old.length > 0 || told.before !== undefined)) return "unsure";
  if (old.some((fact) => !isOver(state, fact) && isOlder(witnesses, fact))) return "outdated";
  const stronger = strongerThan(state, told, old);
  if (stronger === undefined) return add(state, told, old);
  // What was planned before the better source spoke is no doubt about it.
  return isOlder(witnesses, stronger) ? "outdated" : dispute(state, stronger, told);
}

function whyUnusable(state: FactState, learned: LearnedFact, drawn: FactDraft): DropReason | undefined {
  if (learned.permanence === "ephemeral") return "ephemeral";
  if (isOver(state, drawn) || endsBeforeItBegins(drawn)) return "over";
  if (keyed(drawn).subject === "" || keyed(drawn).predicate === "") return "nameless";
  const isUnknown = (label: string | null) => label !== null && !state.byLabel.has(label);
  return isUnknown(learned.supersedes) || isUnknown(learned.contradicts) ? "unknown_memory" : undefined;
}

function toldIn(
  state: FactState,
  learned: LearnedFact,
  drawn: FactDraft,
  nth: number,
  witnesses: readonly Witness[],
): Told {
  const known = (label: string | null) => (label === null ? undefined : state.byLabel.get(label));
  const [supersedes, contradicts] = [known(learned.supersedes), known(learned.contradicts)];
  const draft = withKeyOf(state, drawn, supersedes);
  const key = keyOf(keyed(draft));
  const holder = alive(state).find((fact) => keyOf(fact) === key);
  return { draft, nth, witnesses, supersedes, contradicts, key, holder, before: state.fresh.get(key) };
}

/** The known fact that says the same. Other words for the very fact that is said to be superseded are a correction. */
function confirmedBy(state: FactState, { draft, holder, supersedes }: Told): KnownFact | undefined {
  if (holder === undefined || isOver(state, holder)) return undefined;
  if (agreement(draft.content, holder.content) !== "same") return undefined;
  return holder !== supersedes || sameMeaning(draft.content, holder.content) ? holder : undefined;
}

/** A weaker source changes nothing of what a better one has told in this batch; if it says otherwise, that is kept as a doubt. */
function doubtTold({ fresh }: FactState, { draft, key, witnesses }: Told, before: Fresh): DropReason {
  const disputers = [...new Set([...before.disputers, ...idsOf(witnesses)])];
  if (!saysSame(draft.content, before.draft.content)) fresh.set(key, { ...before, disputers });
  return "echo";
}

/** The known facts that it would replace. */
function replacedBy(state: FactState, { draft, holder, supersedes }: Told): KnownFact[] {
  const pointed = supersedes !== undefined && mayReplace(supersedes, draft) ? supersedes : undefined;
  return alive(state).filter((fact) => fact === holder || fact === pointed || isPostponed(fact, draft));
}

/** A fact of a better source that it would replace, or that is true until its day. */
function strongerThan(state: FactState, { draft }: Told, old: readonly KnownFact[]): KnownFact | undefined {
  const until = alive(state).filter((fact) => fact.waits_until === null && isUnder(fact, keyed(draft)));
  return [...old, ...until].find(
    (fact) => isWeaker(draft.trust, state.confirmed.trustOf(fact)) && !isOver(state, fact),
  );
}

function add(state: FactState, told: Told, old: readonly KnownFact[]): DropReason | undefined {
  const { draft, nth, witnesses, key, before, contradicts: rival } = told;
  for (const { id } of old) replace(state, id);
  const item: Fresh = {
    ...{ draft, nth, episodes: idsOf(witnesses), disputers: [], replaced: old.map(({ id }) => id) },
    contradicts: rival === undefined || rival.scope !== draft.scope ? [] : [rival],
  };
  const kept = before === undefined ? item : retold(before, item);
  state.fresh.set(key, kept);
  if (kept.nth !== nth) return "repeated";
  // The item whose words give way is the one that is left out, told before or not.
  if (before !== undefined) state.dropped.push({ nth: before.nth, reason: "repeated" });
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

/** A weaker source does not replace a better one: its claim is kept as a doubt, with the episodes that raised it. */
function dispute(
  { confirmed, disputes }: FactState,
  fact: KnownFact,
  { draft: { content: claim, trust }, nth, witnesses }: Told,
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

export function confirmFact(
  state: FactState,
  label: string,
  nth: number,
  witnesses: readonly Witness[],
): DropReason | undefined {
  const fact = state.byLabel.get(label);
  if (fact === undefined) return "unknown_memory";
  return state.replaced.has(fact.id) ? "outdated" : state.confirmed.add(fact, nth, witnesses);
}

/** The last day that can be written stands for no end: the one after it could not be stored. */
const endOf = (day: string): Date | null => (day === "9999-12-31" ? null : new Date(Date.parse(day) + DAY_MS));

const endsBeforeItBegins = ({ valid_from, valid_to }: FactDraft): boolean =>
  valid_from !== null && valid_to !== null && valid_to <= valid_from;
