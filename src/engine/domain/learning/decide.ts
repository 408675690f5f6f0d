/**
 * From a checked answer and what is known to the changes that follow. Pure. Little is added, and each thing once: what is
 * known already is confirmed, what is no longer true is superseded, what cannot be both is lowered and linked.
 */

import type { Claim } from "../fact.ts";
import { ladderOf } from "../scope.ts";
import type { Answer } from "./answer.ts";
import { type Batch, type Decision, type Dropped, inOrder, type Known, lastOf, type Witness } from "./change.ts";
import { ruleLearner } from "./decide-rules.ts";
import { factChanges, factState } from "./fact-state.ts";
import { confirmFact, learnFact } from "./learn-fact.ts";
import { settleFacts } from "./settle-facts.ts";

export function decide(answer: Answer, known: Known, batch: Batch): Decision {
  const dropped: Dropped[] = [];
  const witnessesOf = (labels: readonly string[]): Witness[] | undefined => {
    const found = [...new Set(labels)].map((label) => batch.witnesses.find((witness) => witness.label === label));
    return found.every((witness) => witness !== undefined) ? found : undefined;
  };
  /** Later words replace earlier ones, whatever order the answer has. */
  const inTime = <T extends { readonly episodes: readonly string[] }>(items: readonly T[]) =>
    items
      .map((item, nth) => ({ item, nth, witnesses: witnessesOf(item.episodes) }))
      .map((told) => ({ ...told, last: lastOf(told.witnesses ?? []) }))
      .toSorted(
        (a, b) => (a.last && b.last ? inOrder(a.last, b.last) : Number(!b.last) - Number(!a.last)) || a.nth - b.nth,
      );

  const steps = ladderOf(batch.butler);
  const mine = <T extends { readonly scope: string }>(all: readonly T[]) =>
    all.filter(({ scope }) => steps.includes(scope));
  const visible: Known = { ...known, facts: mine(known.facts), rules: mine(known.rules) };
  const facts = factState(visible, batch);
  const wasRead = readBefore(batch);
  for (const { item, nth, witnesses } of inTime(answer.facts)) {
    const learnIt = (by: readonly Witness[]) =>
      wasRead.fact(item, by) ? "unchanged" : learnFact(facts, item, nth, by);
    const verdict = witnesses === undefined ? "unknown_episode" : learnIt(witnesses);
    if (verdict !== undefined) dropped.push({ kind: "fact", nth, reason: verdict });
  }
  dropped.push(...settleFacts(facts).map((one) => ({ kind: "fact" as const, ...one })));
  const rules = ruleLearner(visible, batch);
  for (const { item, nth, witnesses } of inTime(answer.rules)) {
    const learnIt = (by: readonly Witness[]) => (wasRead.rule(item, by) ? "unchanged" : rules.learn(item, nth, by));
    const verdict = witnesses === undefined ? "unknown_episode" : learnIt(witnesses);
    if (verdict !== undefined) dropped.push({ kind: "rule", nth, reason: verdict });
  }
  for (const { item, nth, witnesses } of inTime(answer.confirmations)) {
    const confirm = (by: readonly Witness[]) =>
      item.id.startsWith("f") ? confirmFact(facts, item.id, nth, by) : rules.confirm(item.id, nth, by);
    const verdict = witnesses === undefined ? "unknown_episode" : confirm(witnesses);
    if (verdict !== undefined) dropped.push({ kind: "confirmation", nth, reason: verdict });
  }
  return { changes: [...factChanges(facts), ...rules.changes()], dropped };
}

/**
 * The same words of the same episodes count once: what they said first may have been superseded since, and would be learned anew, or
 * confirm what replaced it.
 */
function readBefore({ readBefore: runs = [] }: Batch) {
  const of = (by: readonly Witness[]) => runs.filter(({ episodes }) => by.every(({ id }) => episodes.includes(id)));
  return {
    fact: (told: Claim, by: readonly Witness[]): boolean =>
      of(by).some(({ facts }) =>
        facts.some(
          ({ subject, predicate, content }) =>
            subject === told.subject && predicate === told.predicate && content === told.content,
        ),
      ),
    rule: (told: { readonly content: string }, by: readonly Witness[]): boolean =>
      of(by).some(({ rules }) => rules.some(({ content }) => content === told.content)),
  };
}
