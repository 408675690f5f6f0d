/** Stores a rule of behaviour. It starts as a candidate and rises by the marks it is given. */

import { createHash } from "node:crypto";
import { forbidden, invalid } from "../../domain/errors.ts";
import { isAboutPerson } from "../../domain/learning/person.ts";
import { toldByHand } from "../../domain/learning/sureness.ts";
import { atMost, isWeaker, type Trust, vouched } from "../../domain/learning/trust.ts";
import { RULE_DECAY_PER_DAY } from "../../domain/lifecycle/decay.ts";
import { isLive, next } from "../../domain/lifecycle/lifecycle.ts";
import { reviewAtBirth, type Source } from "../../domain/lifecycle/quarantine.ts";
import type { Link } from "../../domain/link.ts";
import type { Optional } from "../../domain/memory-types.ts";
import type { Found } from "../../domain/redaction/redact.ts";
import type { Rule } from "../../domain/rule.ts";
import { writableScope } from "../../domain/scope.ts";
import { contentKey } from "../../domain/text/text.ts";
import { insertLinks } from "../../store/memories/links.ts";
import {
  changeRule,
  insertRule,
  lockTwinRule,
  type NewRule,
  type RuleChange,
  ruleJson,
} from "../../store/memories/rules.ts";
import { vectorsOf } from "../embed.ts";
import type { Call } from "../memory.ts";
import { openRedactor } from "../privacy.ts";
import { type Writing, write } from "../write.ts";
import { reviewedBy } from "./corroborate.ts";
import { foldSoon, indexMemories, reindex, shelfOf, visibleUntil } from "./index-memory.ts";
import { linkOf, relatedLinks } from "./links.ts";
import { newMemory } from "./new-memory.ts";
import { checkSource, saidBy, sourceOf } from "./store-fact.ts";

export type RuleInput = Pick<Rule, "content"> &
  Optional<Pick<Rule, "scope" | "tags" | "source_episode_id" | "matcher" | "trust">>;

export interface RuleAnswer extends Pick<Rule, "id" | "maturity" | "scope"> {
  readonly duplicate_of: string | null;
  readonly redactions: readonly Found[];
}

const INITIAL_CONFIDENCE = 0.5;

export async function rememberRule(call: Call, input: RuleInput): Promise<RuleAnswer> {
  const { memory } = call;
  if ((input.trust ?? call.caller.voice) === "tool")
    throw forbidden("what a tool says is no rule: a rule comes from a person or an agent.");
  const redactor = openRedactor(memory);
  const rule = ruleFrom(call, input, redactor);
  const vector = await vectorsOf(memory, rule.content);
  const sk = await shelfOf(call, rule.scope, "rule");
  const redactions = redactor.redactions;

  const { answer } = await write(call, "memory_store_rule", input, async (writing): Promise<RuleAnswer> => {
    const source = await checkSource(call, writing.sql, input.source_episode_id);
    if (source?.trust === "tool") throw refuseToolRule();
    const trust = source === undefined ? rule.trust : atMost(rule.trust, source.trust);
    const twin = await lockTwinRule(writing.sql, rule.tenant_id, rule.scope, rule.content_key);
    if (twin) {
      await repeatRule(call, writing, twin, sk, trust, [saidBy(call, { trust }, source)]);
      return { id: twin.id, maturity: twin.maturity, duplicate_of: twin.id, scope: rule.scope, redactions };
    }
    const stored = { ...rule, trust, ...reviewAtBirth(trust, call.now) };
    await insertRule(writing.sql, stored);
    await indexMemories(writing.sql, memory, [
      { id: rule.id, sk, text: rule.content, vector, visibleUntil: visibleUntil(memory, rule) },
    ]);
    const { id, scope, source_episode_id } = rule;
    const siblings = relatedLinks(
      call,
      writing.sql,
      { type: "rule", id, scope },
      source_episode_id ? [source_episode_id] : [],
    );
    const links = [...derivedFrom(call, rule), ...(await siblings)];
    await insertLinks(writing.sql, links);
    writing.tell({
      type: "rule.stored",
      entity: { type: "rule", id: rule.id },
      scope: rule.scope,
      payload: { row: ruleJson(stored), links, redactions },
    });
    return { id: rule.id, maturity: rule.maturity, duplicate_of: null, scope: rule.scope, redactions };
  });
  foldSoon(memory, sk, 1);
  return answer;
}

const refuseToolRule = () =>
  invalid(
    "source_episode_id",
    "that episode is what a tool said, and no rule comes of a tool's words; leave it out if the rule is your own conclusion.",
  );

/** Equal for two rules that say the same. */
export const ruleKey = (content: string): Buffer =>
  createHash("sha256").update(contentKey(content)).digest().subarray(0, 16);

export function ruleFrom(call: Call, input: RuleInput, redactor: ReturnType<typeof openRedactor>): NewRule {
  const { caller, now } = call;
  const content = redactor.text(input.content);
  return {
    content,
    content_key: ruleKey(content),
    original_content: null,
    matcher: input.matcher === undefined ? null : redactor.json(input.matcher),
    scope: writableScope(caller, input.scope, isAboutPerson(content)),
    maturity: "candidate",
    validity: "active",
    effectiveness_score: 0,
    applied_count: 0,
    success_count: 0,
    harmful_count: 0,
    last_applied_at: null,
    last_evaluated_at: null,
    confidence: INITIAL_CONFIDENCE,
    decay_rate: RULE_DECAY_PER_DAY,
    last_confirmed_at: now,
    ...reviewAtBirth(input.trust ?? caller.voice, now),
    ...newMemory(call, redactor, { ...input, source: sourceOf(call, input.source_episode_id) }),
  };
}

/**
 * A rule that is told again is confirmed; an expired one is live again, at the maturity it had. A source that is trusted less than
 * the rule does not confirm it.
 */
export async function repeatRule(
  call: Call,
  { sql, tell }: Writing,
  twin: Rule,
  sk: number,
  trust: Trust,
  said: readonly Source[],
): Promise<void> {
  const entity = { type: "rule", id: twin.id } as const;
  if (isWeaker(trust, twin.trust) && isLive(twin.validity)) {
    tell({ type: "rule.echoed", entity, scope: twin.scope, payload: { by: trust } });
    return;
  }
  const happening = twin.validity === "expired" ? "restore" : "confirm";
  const set = {
    validity: next(twin.validity, happening) as Rule["validity"],
    last_confirmed_at: call.now,
    trust: vouched(twin.trust, trust),
    ...toldByHand(twin, call.memory.settings.facts.retrieval_confidence_threshold),
    ...(await reviewedBy(call, sql, twin, said)),
  } satisfies RuleChange;
  await changeRule(sql, twin.id, twin.validity, set);
  await reindex(sql, {
    id: twin.id,
    sk,
    text: twin.content,
    visibleUntil: visibleUntil(call.memory, { ...twin, ...set }),
  });
  tell({
    type: "rule.repeated",
    entity,
    scope: twin.scope,
    payload: { set, from: twin.validity },
  });
}

function derivedFrom(call: Call, rule: Rule): Link[] {
  if (rule.source_episode_id === null) return [];
  return [linkOf(call, ["rule", rule.id], "derived_from", ["episode", rule.source_episode_id])];
}
