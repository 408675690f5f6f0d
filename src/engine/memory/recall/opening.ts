/**
 * The block that a session starts with: what is lasting, the rules, and the latest of the project. There is no prompt yet, so nothing is
 * searched for and no model is needed; nothing counts as a reference either, because nobody has asked for it.
 */

import { invalid } from "../../domain/errors.ts";
import { trustRank } from "../../domain/learning/trust.ts";
import { DAY_MS, effectiveConfidence, type Fading } from "../../domain/lifecycle/decay.ts";
import { isLasting } from "../../domain/lifecycle/lasting.ts";
import type { Line, Section } from "../../domain/ranking/budget.ts";
import { OPENING_QUOTAS, OPENING_TOKENS } from "../../domain/ranking/opening.ts";
import { dayOf } from "../../domain/ranking/scoring.ts";
import { readableScopes } from "../../domain/scope.ts";
import { contentKey } from "../../domain/text/text.ts";
import { type OpeningFact, type OpeningRows, type OpeningRule, readOpening } from "../../store/memories/opening.ts";
import { type Origin, originsOf, taughtBy } from "../../store/memories/origins.ts";
import type { Call } from "../memory.ts";
import { isSecret } from "../sealing.ts";
import {
  blockOf,
  type ContextAnswer,
  type ContextInput,
  type ContextItem,
  factKey,
  factLine,
  firstOfEach,
  keyOfLine,
  profileLine,
  RULE_TRUST,
  ruleLine,
  sureness,
  tenthsOf,
} from "./block.ts";
import { latelyLines } from "./lately.ts";
import { lookOf } from "./retrieve.ts";
import { toldOnce } from "./told-once.ts";

export async function opening(call: Call, input: ContextInput): Promise<ContextAnswer> {
  if (input.as_of !== undefined)
    throw invalid("as_of", "as_of needs a prompt; leave opening out to ask about the past.");
  if (input.min_fit !== undefined)
    throw invalid("min_fit", "an opening is not measured against a prompt; leave min_fit out.");
  const { memory, caller } = call;
  const budget = input.token_budget ?? Math.min(OPENING_TOKENS, memory.settings.retrieval.context_token_budget);
  const ladder = readableScopes(caller, undefined);
  const found = await readOpening(memory.db, {
    ...lookOf(call, ladder),
    tenant: caller.tenant,
    exceptSession: input.except_session,
  });
  const learned = [...found.facts, ...found.rules].map(({ id }) => id);
  const origins = await originsOf(memory.db, caller.tenant, learned, call.now);
  const { except_session: session } = input;
  const own = new Set(session === undefined ? [] : taughtBy(session, origins));
  const offered = sectionsOf(call, input, believed(call, own, found));
  const block = blockOf(
    call,
    toldOnce(offered, origins, () => true),
    budget,
  );
  const told = toldBefore(input, origins);
  return told.size === 0 ? block : blockOf(call, newsOf(offered, block, told), budget);
}

/** Offered in the order of their names in the block, best first. */
function sectionsOf(call: Call, input: ContextInput, rows: OpeningRows): Section<ContextItem>[] {
  const [lasting, passing] = parted(rows.facts, isLasting);
  const [proven, others] = parted(rows.rules, ({ maturity }) => maturity === "proven");
  const always = [...lasting.map((fact) => factOf(fact, fact.permanence)), ...proven.map(provenOf)];
  const sections = [
    { name: "profile", heading: "# Always\n", items: input.lasting === false ? [] : always },
    { name: "rules", heading: "# Rules\n", items: others.toSorted(byTrust).map(ruleOf) },
    {
      name: "facts",
      heading: "# Facts\n",
      items: passing.map((fact) => factOf(fact, sureness(tenthsOf(confidenceOf(call, fact))))),
    },
    { name: "episodes", heading: "# Lately\n", items: latelyLines(rows.episodes, call.now) },
  ] as const;
  const quota = (section: (typeof sections)[number]) => OPENING_QUOTAS[section.name];
  return sections.map((section) => ({
    ...section,
    quota: quota(section),
    items: firstOfEach(section.items, keyOfLine),
  }));
}

/**
 * A session that is resumed gets what is new in the opening. Without the lines that it was told, the places would go to those that were not
 * worth one: each time somebody went on with a session, it was told 600 tokens of them.
 */
function newsOf(
  offered: readonly Section<ContextItem>[],
  { sections }: ContextAnswer,
  told: ReadonlySet<string>,
): Section<ContextItem>[] {
  const chosen = new Set(sections.flatMap(({ items }) => items.map(({ id }) => id)));
  const isNew = ({ item: { id } }: Line<ContextItem>) => chosen.has(id) && !told.has(id);
  return offered.map((section) => ({ ...section, items: section.items.filter(isNew) }));
}

/** What the session was told, with the episodes that taught it. */
function toldBefore({ except = [] }: ContextInput, origins: readonly Origin[]): Set<string> {
  const told = new Set(except);
  const sources = origins.filter(({ id }) => told.has(id)).map(({ episode }) => episode);
  return new Set([...told, ...sources]);
}

function parted<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))];
}

/** As of the beginning of the day: the same memories give the same bytes all day. */
const confidenceOf = ({ now }: Call, fading: Fading): number =>
  effectiveConfidence(fading, new Date(dayOf(now) * DAY_MS));

/** What is still believed and not among these. */
function believed(call: Call, own: ReadonlySet<string>, { facts, rules, episodes }: OpeningRows): OpeningRows {
  const threshold = call.memory.settings.facts.retrieval_confidence_threshold;
  const isTold = (row: Fading & { readonly id: string }) => !own.has(row.id) && confidenceOf(call, row) >= threshold;
  return {
    // An opening lies ready in a file, which a shell reads without a key.
    facts: facts.filter((fact) => isTold(fact) && !isSecret(call.memory, fact.predicate_text)),
    rules: rules.filter(isTold),
    episodes: episodes.filter(({ id }) => !own.has(id)),
  };
}

/** The best proven first; among those that are not, what the person said themselves. Equals stay as they are: the newest first. */
const byTrust = (a: OpeningRule, b: OpeningRule): number =>
  RULE_TRUST[b.maturity] - RULE_TRUST[a.maturity] || trustRank(b.trust) - trustRank(a.trust);

const provenOf = (rule: OpeningRule): Line<ContextItem> =>
  profileLine({ ...rule, type: "rule", subject_text: "", predicate_text: "", permanence: "" });

const factOf = (fact: OpeningFact, note: string): Line<ContextItem> => ({
  line: factLine(fact, note),
  item: { type: "fact", id: fact.id, score: fact.importance },
  key: factKey(fact),
});

const ruleOf = (rule: OpeningRule): Line<ContextItem> => ({
  line: ruleLine(rule),
  item: { type: "rule", id: rule.id, score: rule.importance },
  key: contentKey(rule.content),
});
