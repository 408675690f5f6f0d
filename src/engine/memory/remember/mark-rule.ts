/** Marks a rule as helpful or harmful. Each mark is a row; counters, effectiveness and maturity are derived from the rows. */

import { integrity } from "../../domain/errors.ts";
import type { Maturity } from "../../domain/lifecycle/maturity.ts";
import type { Rule } from "../../domain/rule.ts";
import { setVisibility } from "../../store/index/vectors.ts";
import { type Application, insertApplication, tallyRule } from "../../store/memories/rules.ts";
import { findMemory } from "../find.ts";
import type { Call } from "../memory.ts";
import { openRedactor } from "../privacy.ts";
import { write } from "../write.ts";
import { applyVerdict, judgeRule, maturityEvent } from "./evaluate-rule.ts";
import { visibleUntil } from "./index-memory.ts";

export interface MarkInput {
  readonly rule_id: string;
  readonly session_id?: string | undefined;
  readonly note?: string | undefined;
  readonly reason?: string | undefined;
}

export interface MarkAnswer {
  readonly id: string;
  readonly content: string;
  readonly applied_count: number;
  readonly success_count: number;
  readonly harmful_count: number;
  readonly effectiveness: number;
  readonly maturity: Maturity;
  readonly previous_maturity: Maturity;
  /** False when this session had already told this outcome. */
  readonly counted: boolean;
  readonly inverted: boolean;
}

export async function mark(call: Call, outcome: Application["outcome"], input: MarkInput): Promise<MarkAnswer> {
  const { memory, now } = call;
  const { answer } = await write(call, `memory_mark_${outcome}`, input, async (writing): Promise<MarkAnswer> => {
    const { sql, tell } = writing;
    const found = await findMemory(call, sql, input.rule_id, "rule", true);
    if (found.type !== "rule") throw integrity("a rule id led to another type.");
    const rule = found.row;
    if (rule.validity === "retracted")
      throw integrity("this rule was forgotten; restore it with memory_restore before marking it.");

    const told = input.note ?? input.reason;
    const note = told === undefined ? null : openRedactor(memory).text(told);
    const application = await insertApplication(sql, {
      id: memory.ids.next(now),
      tenant_id: rule.tenant_id,
      rule_id: rule.id,
      outcome,
      session_id: input.session_id ?? null,
      note,
      actor: call.caller.actor,
      request_id: call.request?.request_id ?? null,
      created_at: now,
    });
    const entity = { type: "rule", id: rule.id } as const;
    if (!application.counted) {
      tell({ type: "rule.marked_again", entity, scope: rule.scope, payload: { application } });
      return answerOf(rule, rule.maturity, false, false);
    }
    const tally = await tallyRule(sql, rule.id);

    const verdict = judgeRule(rule, tally, outcome, memory.settings.rules, now);
    const evaluated = await applyVerdict(call, sql, rule, tally, verdict, {
      success_count: tally.success,
      harmful_count: tally.harmful,
      applied_count: tally.success + tally.harmful,
      last_applied_at: now,
      ...(outcome === "helpful" && rule.validity !== "expired" ? { last_confirmed_at: now, validity: "active" } : {}),
    });
    const { rule: after, set, links } = evaluated;
    if (!verdict.inverted && set.last_confirmed_at) await setVisibility(sql, rule.id, visibleUntil(memory, after));

    tell({
      type: `rule.marked_${outcome}`,
      entity,
      scope: rule.scope,
      payload: { application, set, from: rule.validity },
    });
    if (verdict.maturity !== rule.maturity)
      tell(maturityEvent(rule, verdict, tally, links.length === 0 ? {} : { links }));
    return answerOf(after, rule.maturity, true, verdict.inverted);
  });
  return answer;
}

function answerOf(rule: Rule, previous: Maturity, counted: boolean, inverted: boolean): MarkAnswer {
  const { id, content, applied_count, success_count, harmful_count, effectiveness_score, maturity } = rule;
  return {
    id,
    content,
    applied_count,
    success_count,
    harmful_count,
    effectiveness: effectiveness_score,
    maturity,
    previous_maturity: previous,
    counted,
    inverted,
  };
}
