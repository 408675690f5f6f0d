/** What an answer's facts mean for the facts that are known. */
import { agreement, saysSame } from "./agreement.ts";
import type { LearnedFact } from "./consolidation-answer.ts";
import {
  ALIKE,
  type Batch,
  type Change,
  CONTRADICTED,
  type DropReason,
  type FactDraft,
  idsOf,
  type Known,
  type KnownFact,
  latest,
  lower,
  trustOf,
  type Witness,
} from "./consolidation-change.ts";
import { confirmations } from "./consolidation-confirm.ts";
import { DAY_MS } from "./decay.ts";
import { GLOBAL_SCOPE } from "./scope.ts";
import { normaliseKey, sameMeaning } from "./text.ts";
import { MOST_CONFIDENT, trustRank } from "./trust.ts";

/** The names that models give to the one person they serve. */
const USER = new Set("user,the user,owner,the owner,me,i,myself,human,the human,customer,client,self".split(","));

export const subjectOf = (told: string): string => {
  const subject = normaliseKey(told);
  return USER.has(subject) ? "user" : subject;
};

const keyOf = (fact: { scope: string; subject: string; predicate: string }): string =>
  JSON.stringify([fact.scope, fact.subject, fact.predicate]);

/** A fact of this batch that nobody knew before. */
interface Fresh {
  readonly change: Extract<Change, { kind: "create_fact" | "supersede_fact" }>;
  readonly observed_at: Date;
}

export function factBook(known: Known, batch: Batch) {
  const byLabel = new Map(known.facts.flatMap((fact) => (fact.label === undefined ? [] : [[fact.label, fact]])));
  const replaced = new Set<string>();
  const fresh = new Map<string, Fresh>();
  const confirmed = confirmations("confirm_fact");
  const disputes: Extract<Change, { kind: "contradict_fact" }>[] = [];
  const alive = () => known.facts.filter(({ id }) => !replaced.has(id));
  const isOver = ({ valid_to }: { valid_to: Date | null }) => valid_to !== null && valid_to <= batch.now;

  function draftOf(learned: LearnedFact, witnesses: readonly Witness[]): FactDraft {
    const trust = trustOf(witnesses);
    return {
      subject: subjectOf(learned.subject) === "user" ? "user" : learned.subject,
      predicate: learned.predicate,
      content: learned.content,
      scope: learned.scope === "own" ? batch.butler : GLOBAL_SCOPE,
      permanence: learned.permanence,
      importance: learned.importance,
      confidence: Math.min(learned.confidence, MOST_CONFIDENT[trust]),
      tags: learned.tags,
      trust,
      valid_from: learned.valid_from === null ? null : new Date(learned.valid_from),
      valid_to: learned.valid_to === null ? null : new Date(Date.parse(learned.valid_to) + DAY_MS),
    };
  }

  /** The same thing under the same key, or under another name in other words. A global truth holds for every butler. */
  function twinOf(draft: FactDraft, key: { subject: string; predicate: string }, nth: number): KnownFact | undefined {
    return alive().find(
      (fact) =>
        (fact.scope === draft.scope || fact.scope === GLOBAL_SCOPE) &&
        fact.subject === key.subject &&
        !isOver(fact) &&
        (fact.predicate === key.predicate
          ? agreement(draft.content, fact.content) === "same"
          : known.likeness("fact", nth, fact.id) >= ALIKE && saysSame(draft.content, fact.content)),
    );
  }

  function learn(learned: LearnedFact, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
    if (learned.permanence === "ephemeral") return "ephemeral";
    const draft = draftOf(learned, witnesses);
    if (isOver(draft)) return "over";
    const told = { supersedes: pointedAt(learned.supersedes), contradicts: pointedAt(learned.contradicts) };
    if (told.supersedes === null || told.contradicts === null) return "unknown_memory";
    if (told.supersedes !== undefined && told.supersedes.scope !== draft.scope) return "foreign_scope";
    const subject = subjectOf(learned.subject);
    const key = { subject, predicate: normaliseKey(learned.predicate) };
    const mine = keyOf({ scope: draft.scope, ...key });

    const twin = twinOf(draft, key, nth);
    // Other words for the very fact that is said to be superseded are a correction.
    if (twin !== undefined && (twin !== told.supersedes || sameMeaning(draft.content, twin.content)))
      return confirmed.add(twin, nth, witnesses);
    const observed_at = latest(witnesses);
    const before = fresh.has(mine) ? mine : freshTwin(draft, subject);
    if (before !== undefined) return retell(before, draft, nth, witnesses);

    const holder = alive().find((fact) => keyOf(fact) === mine);
    const old = [...new Set([holder, told.supersedes])].filter((fact) => fact !== undefined);
    if (old.some((fact) => fact.observed_at > observed_at && !isOver(fact))) return "outdated";
    const stronger = old.find((fact) => trustRank(fact.trust) > trustRank(draft.trust) && !isOver(fact));
    if (stronger !== undefined) return dispute(stronger, draft.content, nth, witnesses);
    const cited = { fact: draft, nth, episodes: idsOf(witnesses) };
    if (old.length > 0) {
      for (const { id } of old) {
        replaced.add(id);
        confirmed.without(id);
      }
      const change = { kind: "supersede_fact", ...cited, replaced: old.map(({ id }) => id) } as const;
      fresh.set(mine, { change, observed_at });
      return undefined;
    }
    const rival = told.contradicts;
    const contradicts = rival === undefined || rival.scope !== draft.scope ? [] : [lower(rival)];
    const doubted = contradicts.length === 0 ? draft : { ...draft, confidence: draft.confidence * CONTRADICTED };
    fresh.set(mine, { change: { kind: "create_fact", ...cited, fact: doubted, contradicts }, observed_at });
    return undefined;
  }

  /** Told twice in one batch: one row, with the last words and all that said so. */
  function retell(key: string, draft: FactDraft, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
    const change = fresh.get(key)?.change;
    if (change === undefined) return undefined;
    if (trustRank(draft.trust) < trustRank(change.fact.trust)) return "echo";
    const same = saysSame(draft.content, change.fact.content);
    const episodes = same ? [...new Set([...change.episodes, ...idsOf(witnesses)])] : idsOf(witnesses);
    const fact = { ...draft, predicate: change.fact.predicate };
    fresh.set(key, { change: { ...change, fact, episodes, nth }, observed_at: latest(witnesses) });
    return "repeated";
  }

  /** The same of the same subject under another predicate, in this very answer. */
  function freshTwin(draft: FactDraft, subject: string): string | undefined {
    const twin = [...fresh].find(
      ([, { change }]) =>
        change.fact.scope === draft.scope &&
        subjectOf(change.fact.subject) === subject &&
        agreement(draft.content, change.fact.content) === "same",
    );
    return twin?.[0];
  }

  /** Nobody is silently believed against a better source: the doubt is kept, with those who raised it. */
  function dispute(fact: KnownFact, claim: string, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
    const episodes = idsOf(witnesses).filter((id) => !fact.disputers.has(id));
    if (episodes.length === 0 || disputes.some(({ lowered }) => lowered.id === fact.id)) return "unchanged";
    disputes.push({ kind: "contradict_fact", lowered: lower(fact), claim, nth, episodes });
    return undefined;
  }

  /** Null: a label that nothing was shown under. */
  const pointedAt = (label: string | null): KnownFact | undefined | null =>
    label === null ? undefined : (byLabel.get(label) ?? null);

  return {
    learn,
    confirm(label: string, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
      const fact = byLabel.get(label);
      if (fact === undefined) return "unknown_memory";
      return replaced.has(fact.id) ? "outdated" : confirmed.add(fact, nth, witnesses);
    },
    changes: (): Change[] => [...[...fresh.values()].map(({ change }) => change), ...confirmed.changes(), ...disputes],
  };
}
