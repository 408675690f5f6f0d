/** Judges a rule by its evidence, for a mark and for the sweep alike: its maturity, and whether it is inverted into a warning. */

import type { Sql } from "../../adapters/db/port.ts";
import { DAY_MS } from "../../domain/lifecycle/decay.ts";
import {
  effectiveness,
  judgeMaturity,
  type Maturity,
  type MaturityBars,
  warningFrom,
} from "../../domain/lifecycle/maturity.ts";
import type { Link } from "../../domain/link.ts";
import type { Rule } from "../../domain/rule.ts";
import { dropLexical } from "../../store/index/lexical.ts";
import { dropVectors } from "../../store/index/vectors.ts";
import { findHarmed } from "../../store/jobs/sweep.ts";
import { insertLinks } from "../../store/memories/links.ts";
import { type Application, changeRule, type RuleChange, type Tally } from "../../store/memories/rules.ts";
import { vectorsOf } from "../embed.ts";
import type { Call } from "../memory.ts";
import { indexMemories, shelfOf, visibleUntil } from "./index-memory.ts";
import { linkOf } from "./links.ts";

export interface Verdict {
  readonly maturity: Maturity;
  readonly inverted: boolean;
  readonly ageDays: number;
}

export function judgeRule(
  rule: Rule,
  tally: Tally,
  mark: Application["outcome"] | undefined,
  bars: MaturityBars,
  now: Date,
): Verdict {
  const ageDays = (now.getTime() - rule.created_at.getTime()) / DAY_MS;
  const maturity = judgeMaturity(rule.maturity, mark, { ...tally, ageDays }, bars);
  return { maturity, inverted: maturity === "anti_pattern" && rule.maturity !== "anti_pattern", ageDays };
}

export interface Evaluated {
  readonly rule: Rule;
  /** Every column that changed. */
  readonly set: RuleChange;
  readonly links: readonly Link[];
}

/** Writes the verdict together with the caller's other changes, and indexes an inverted rule as a warning. */
export async function applyVerdict(
  call: Call,
  sql: Sql,
  rule: Rule,
  tally: Tally,
  verdict: Verdict,
  besides: RuleChange = {},
): Promise<Evaluated> {
  const set: RuleChange = {
    ...besides,
    effectiveness_score: effectiveness(tally),
    maturity: verdict.maturity,
    last_evaluated_at: call.now,
    ...(verdict.inverted ? inversion(rule, tally, call.now) : {}),
  };
  await changeRule(sql, rule.id, rule.validity, set);
  const after: Rule = { ...rule, ...set };
  if (!verdict.inverted) return { rule: after, set, links: [] };
  await indexWarning(call, sql, after);
  return { rule: after, set, links: await linkHarmed(call, sql, after) };
}

/** The event of a change of maturity, with the numbers that caused it. */
export function maturityEvent(
  rule: Rule,
  verdict: Verdict,
  tally: Tally,
  rest: Readonly<Record<string, unknown>> = {},
) {
  const { maturity: to, ageDays } = verdict;
  const LEVELS: readonly Maturity[] = ["candidate", "established", "proven"];
  const rises = LEVELS.indexOf(to) > LEVELS.indexOf(rule.maturity);
  return {
    type: verdict.inverted ? "rule.inverted" : rises ? "rule.promoted" : "rule.demoted",
    entity: { type: "rule", id: rule.id },
    scope: rule.scope,
    payload: {
      ...rest,
      from: rule.maturity,
      to,
      success: tally.success,
      harmful: tally.harmful,
      effectiveness: effectiveness(tally),
      age_days: ageDays,
    },
  } as const;
}

/** The warning replaces the rule's content and starts with full confidence: it rests on harm that was reported. */
function inversion(rule: Rule, tally: Tally, now: Date): RuleChange {
  return {
    content: warningFrom(rule.content, tally.reasons),
    original_content: rule.original_content ?? rule.content,
    confidence: 1,
    last_confirmed_at: now,
    validity: "active",
  };
}

async function indexWarning(call: Call, sql: Sql, rule: Rule): Promise<void> {
  const vector = await vectorsOf(call.memory, rule.content);
  const sk = await shelfOf(call, rule.scope, "rule", sql);
  await dropLexical(sql, [rule.id]);
  // Without a model at the moment, the warning must not be found by the old text's vector; maintenance makes the new one.
  await dropVectors(sql, rule.id);
  await indexMemories(sql, call.memory, [
    { id: rule.id, sk, text: rule.content, vector, visibleUntil: visibleUntil(call.memory, rule) },
  ]);
}

/** Links the rule to the caller's own episodes of the sessions that reported the harm. */
async function linkHarmed(call: Call, sql: Sql, rule: Rule): Promise<Link[]> {
  const episodes = await findHarmed(sql, rule, call.caller.butler, call.now);
  const links = episodes.map((id) => linkOf(call, ["episode", id], "contradicts", ["rule", rule.id]));
  await insertLinks(sql, links);
  return links;
}
