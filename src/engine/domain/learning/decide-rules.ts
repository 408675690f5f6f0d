/** What an answer's rules mean for the rules that are known. */

import { ladderOf } from "../scope.ts";
import { contentKey } from "../text/text.ts";
import { agreement, saysSame } from "./agreement.ts";
import type { LearnedRule } from "./answer.ts";
import {
  ALIKE,
  type Batch,
  type Change,
  type DropReason,
  idsOf,
  type Known,
  type KnownRule,
  lower,
  scopeOf,
  trustOf,
  type Witness,
} from "./change.ts";
import { confirmations } from "./confirmations.ts";
import { isAboutPerson } from "./person.ts";
import { ruleConfidence } from "./sureness.ts";
import { isWeaker } from "./trust.ts";

export function ruleLearner(known: Known, batch: Batch) {
  const byLabel = new Map(known.rules.flatMap((rule) => (rule.label === undefined ? [] : [[rule.label, rule]])));
  const fresh: Extract<Change, { kind: "create_rule" }>[] = [];
  const confirmed = confirmations("confirm_rule");

  function learn(learned: LearnedRule, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
    const foundBy = batch.learned("rule", nth);
    const trust = trustOf(learned.content, witnesses, foundBy);
    if (trust === "tool") return "tool_rule";
    const scope = scopeOf(learned.scope, isAboutPerson(learned.content), batch, witnesses);
    // What holds on a wider step holds here; what is said here changes nothing there.
    const steps = ladderOf(scope).toReversed();
    const seen = steps.flatMap((of) => known.rules.filter((rule) => rule.scope === of));
    const opposed = seen.filter((rule) => agreement(learned.content, rule.content) === "opposite");
    if (opposed.some((rule) => isWeaker(trust, confirmed.trustOf(rule)))) return "echo";
    if (foundBy.hint && opposed.length > 0) return "unsure";
    const alike = (rule: KnownRule) =>
      contentKey(rule.content) === contentKey(learned.content) || known.likeness("rule", nth, rule.id) >= ALIKE;
    const twin = seen.find((rule) => alike(rule) && saysSame(learned.content, rule.content));
    if (twin !== undefined) return confirmed.add(twin, nth, witnesses);
    const told = fresh.findIndex(({ rule }) => steps.includes(rule.scope) && saysSame(learned.content, rule.content));
    const before = fresh[told];
    if (before !== undefined) {
      fresh[told] = { ...before, episodes: [...new Set([...before.episodes, ...idsOf(witnesses)])] };
      return "repeated";
    }
    const confidence = foundBy.hint
      ? { confidence: batch.hintConfidence }
      : foundBy.sureness === undefined
        ? {}
        : { confidence: ruleConfidence(foundBy.sureness) };
    const rule = { content: learned.content, scope, tags: learned.tags, trust, ...confidence, learned: foundBy };
    fresh.push({
      kind: "create_rule",
      rule,
      nth,
      episodes: idsOf(witnesses),
      contradicts: opposed.filter((rule) => rule.scope === scope).map((rule) => lower(rule, trust)),
    });
    return undefined;
  }

  return {
    learn,
    confirm(label: string, nth: number, witnesses: readonly Witness[]): DropReason | undefined {
      const rule = byLabel.get(label);
      return rule === undefined ? "unknown_memory" : confirmed.add(rule, nth, witnesses);
    },
    changes: (): Change[] => [...fresh, ...confirmed.changes()],
  };
}
