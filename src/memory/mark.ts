/** Evidence about a rule. Each mark is a row; counters, effectiveness and maturity follow from the rows. */
import { DAY_MS } from "../domain/decay.ts";
import { integrity } from "../domain/errors.ts";
import { effectiveness, type Maturity, nextMaturity, warningFrom } from "../domain/maturity.ts";
import { dropLexical } from "../store/lexical.ts";
import {
  type Application,
  changeRule,
  insertApplication,
  type Rule,
  type RuleChange,
  type Tally,
  tallyRule,
} from "../store/rules.ts";
import { dropVectors, setVisibility } from "../store/vectors.ts";
import { file, shelfOf, vectorOf, visibleUntil } from "./filing.ts";
import { findMemory } from "./find.ts";
import type { Call } from "./memory.ts";
import { openRedactor } from "./privacy.ts";
import { type Writing, write } from "./write.ts";

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
    const application: Application = {
      id: memory.ids.next(now),
      tenant_id: rule.tenant_id,
      rule_id: rule.id,
      outcome,
      session_id: input.session_id ?? null,
      note,
      actor: call.caller.actor,
      request_id: call.request?.request_id ?? null,
      created_at: now,
    };
    const counted = await insertApplication(sql, application);
    const tally = await tallyRule(sql, rule.id);
    if (!counted) return answerOf(rule, rule.maturity, false, false);

    const ageDays = (now.getTime() - rule.created_at.getTime()) / DAY_MS;
    const maturity = nextMaturity(rule.maturity, outcome, { ...tally, ageDays }, memory.settings.rules);
    const inverted = maturity === "anti_pattern" && rule.maturity !== "anti_pattern";
    const set: RuleChange = {
      success_count: tally.success,
      harmful_count: tally.harmful,
      applied_count: tally.success + tally.harmful,
      effectiveness_score: effectiveness(tally),
      maturity,
      last_applied_at: now,
      last_evaluated_at: now,
      ...(outcome === "helpful" && rule.validity !== "expired" ? { last_confirmed_at: now, validity: "active" } : {}),
      ...(inverted ? inversion(rule, tally, now) : {}),
    };
    await changeRule(sql, rule.id, rule.validity, set);
    const after: Rule = { ...rule, ...set };
    if (inverted) await fileWarning(call, writing, after);
    else if (set.last_confirmed_at) await setVisibility(sql, rule.id, visibleUntil(memory, after));

    const entity = { type: "rule", id: rule.id } as const;
    tell({
      type: `rule.marked_${outcome}`,
      entity,
      scope: rule.scope,
      payload: { application, set, from: rule.validity },
    });
    if (maturity !== rule.maturity)
      tell({
        type: inverted ? "rule.inverted" : outcome === "helpful" ? "rule.promoted" : "rule.demoted",
        entity,
        scope: rule.scope,
        payload: {
          from: rule.maturity,
          to: maturity,
          success: tally.success,
          harmful: tally.harmful,
          age_days: ageDays,
        },
      });
    return answerOf(after, rule.maturity, true, inverted);
  });
  return answer;
}

/** The warning takes the rule's place; a warning about real harm starts with full confidence. */
function inversion(rule: Rule, tally: Tally, now: Date): RuleChange {
  return {
    content: warningFrom(rule.content, tally.reasons),
    original_content: rule.original_content ?? rule.content,
    confidence: 1,
    last_confirmed_at: now,
    validity: "active",
  };
}

async function fileWarning(call: Call, { sql }: Writing, rule: Rule): Promise<void> {
  const vector = await vectorOf(call.memory, rule.content, "write");
  const sk = await shelfOf(call, rule.scope, "rule", sql);
  await dropLexical(sql, [rule.id]);
  // Without a model just now, the old words' vector must not speak for the warning; upkeep makes the new one.
  await dropVectors(sql, rule.id);
  await file(sql, call.memory, [
    { id: rule.id, sk, text: rule.content, vector, visibleUntil: visibleUntil(call.memory, rule) },
  ]);
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
