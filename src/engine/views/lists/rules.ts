import { z } from "zod";
import { learnedOf } from "../../domain/learning/sureness.ts";
import { DAY_MS, effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import { MATURITY } from "../../domain/lifecycle/maturity.ts";
import { nextStep } from "../../domain/lifecycle/next-step.ts";
import type { Call } from "../../memory/memory.ts";
import { countLadder, type ListedRule, listRuleIds, listRules } from "../../store/browse/rules.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";
import { isAskedState, listThen } from "./rows-then.ts";
import { idsWithWords } from "./with-words.ts";

export const Rule = z.object({
  id: z.string(),
  content: z.string().nullable().describe("Null when it was forgotten and the caller may not bring it back."),
  original_content: z.string().nullable().describe("Of a warning: the rule that did harm."),
  warning: z.boolean(),
  state: f.state,
  scope: z.string(),
  maturity: z.enum(MATURITY),
  helpful: z.number(),
  harmful: z.number(),
  effectiveness: z.number(),
  marks: z
    .array(z.object({ outcome: z.enum(["helpful", "harmful"]), at: z.string(), note: z.string().nullable() }))
    .describe("The last ones, oldest first."),
  next_step: z
    .object({ to: z.enum(["established", "proven"]), helpful: z.number(), days: z.number() })
    .nullable()
    .describe("Helpful marks and days that are missing; null when there is no further step."),
  confidence: z.number(),
  effective_confidence: z.number(),
  decay_per_day: z.number(),
  last_confirmed_at: z.string(),
  last_applied_at: z.string().nullable(),
  importance: z.number(),
  trust: v.trust,
  reader: z.string().nullable(),
  tags: z.array(z.string()),
  created_at: z.string(),
  forgotten_at: z.string().nullable(),
  references: z.number(),
  sources: z.number(),
});

export const viewRules = defineView({
  name: "view_rules",
  title: "Rules, page by page, and how many stand on each step",
  input: f.input({
    state: z
      .enum(["active", "fading", "expired", "retracted", "live", "all"])
      .optional()
      .describe("live (active or fading) if left out."),
    maturity: z.enum(MATURITY).optional(),
    ...v.placeFilter,
    tag: f.text(64).optional(),
    reader: f.text(200).optional().describe("patterns, the version of the reader, or provider and model."),
    trust: v.trust.optional(),
    q: f.text(400).optional().describe("Only rules with these words."),
    as_of: f.asOf.optional(),
    cursor,
    limit: v.limit,
  }),
  output: f.output({
    ladder: z
      .record(z.enum(MATURITY), z.number())
      .nullable()
      .describe("Live rules on each step; null of a moment in the past, where nobody counts them."),
    rules: z.array(Rule),
    next_cursor: nextCursor,
    as_of: z.string().optional(),
  }),
  async run(call, input) {
    const { limit = v.PAGE, state = "live" } = input;
    const { db } = call.memory;
    const seen = v.seenBy(call, input);
    const after = placeOf(input.cursor, 1)?.[0];
    const ids = input.q === undefined ? undefined : await idsWithWords(call, "rule", input.q, input.scope);
    const { maturity, tag, reader, trust, as_of } = input;
    const query = { ...seen, tag, reader, trust, ids };
    if (as_of !== undefined) {
      const stored = { ...query, state: "all", maturity: undefined } as const;
      const then = await listThen<{ readonly id: string }, ListedRule>(call, {
        ...{ until: as_of, limit, after: after === undefined ? undefined : [after] },
        places: (from) => listRuleIds(db, { ...stored, until: as_of, after: from?.[0], limit }),
        placeOf: ({ id }) => [id],
        isWanted: ({ type, row }) =>
          type === "rule" && isAskedState(state, row.validity) && (maturity ?? row.maturity) === row.maturity,
        rows: (ids) => listRules(db, { ...stored, ids, after: undefined, limit }),
        asThen: (rule, { row }) =>
          ({ ...rule, ...row, marks: rule.marks.filter(({ at }) => at <= as_of.toISOString()) }) as ListedRule,
      });
      return {
        ladder: null,
        rules: then.rows.map((rule) => shownRule(call, rule, as_of)),
        next_cursor: then.last === undefined ? null : cursorOf(then.last.id),
        as_of: as_of.toISOString(),
      };
    }
    const [found, ladder] = await Promise.all([
      listRules(db, { ...query, state, maturity, after, limit: limit + 1 }),
      countLadder(db, seen),
    ]);
    const { rows, last } = v.pageOf(found, limit);
    return {
      ladder: { candidate: 0, established: 0, proven: 0, anti_pattern: 0, ...ladder },
      rules: rows.map((rule) => shownRule(call, rule)),
      next_cursor: last === undefined ? null : cursorOf(last.id),
    };
  },
});

function shownRule(call: Call, rule: ListedRule, at: Date = call.now): z.input<typeof Rule> {
  const ageDays = (at.getTime() - rule.created_at.getTime()) / DAY_MS;
  const evidence = { success: rule.success_count, harmful: rule.harmful_count, ageDays };
  return {
    id: rule.id,
    content: v.textFor(call, rule.validity, rule.content),
    original_content: rule.original_content === null ? null : v.textFor(call, rule.validity, rule.original_content),
    warning: rule.maturity === "anti_pattern",
    state: rule.validity,
    scope: rule.scope,
    maturity: rule.maturity,
    helpful: rule.success_count,
    harmful: rule.harmful_count,
    effectiveness: rule.effectiveness_score,
    marks: [...rule.marks],
    next_step: nextStep(rule.maturity, evidence, call.memory.settings.rules) ?? null,
    confidence: rule.confidence,
    effective_confidence: effectiveConfidence(rule, at),
    decay_per_day: rule.decay_rate,
    last_confirmed_at: rule.last_confirmed_at.toISOString(),
    last_applied_at: v.iso(rule.last_applied_at),
    importance: rule.importance,
    trust: rule.trust,
    reader: rule.source.startsWith("consolidation:") ? (learnedOf(rule.metadata).by ?? "unknown") : null,
    tags: [...rule.tags],
    created_at: rule.created_at.toISOString(),
    forgotten_at: v.iso(rule.forgotten_at),
    references: rule.reference_count,
    sources: rule.sources,
  };
}
