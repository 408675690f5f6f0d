/** Search results as data and as text: shared by search and recall. */

import { z } from "zod";
import { shownFact } from "../domain/fact.ts";
import { PERMANENCE } from "../domain/lifecycle/decay.ts";
import { MATURITY } from "../domain/lifecycle/maturity.ts";
import { INTENTS } from "../domain/ranking/intent.ts";
import { SIGNALS } from "../domain/ranking/late-interaction.ts";
import { shortId } from "../domain/short-id.ts";
import { neutralLine } from "../domain/text/neutral.ts";
import { clip } from "../domain/text/text.ts";
import * as f from "./fields.ts";

const Signal = z.object({ raw: z.number(), scaled: z.number(), weight: z.number() });

const Explain = z.object({
  keyword_rank: z.number().nullable(),
  keyword_score: z.number().nullable(),
  semantic_rank: z.number().nullable(),
  cosine: z.number().nullable(),
  reranked: z.enum(["late-interaction", "cross-encoder", "none"]),
  signals: z.record(z.enum(SIGNALS), Signal).optional(),
  fit: z
    .number()
    .describe("How well it fits the question by itself, 0..1: what is below min_relevance is not returned."),
  composite: z.number(),
  intent: z.object({ intent: z.enum(INTENTS), because: z.array(z.string()) }),
  demoted: z.object({ key: z.string(), by: z.number() }).optional(),
  confidence: z.number(),
  decay_per_day: z.number(),
  last_confirmed_at: z.string(),
  reference_count: z.number(),
});

const Found = z.object({
  type: f.type,
  id: z.string(),
  content: z.string(),
  score: z.number(),
  relevance: z.number(),
  importance: z.number(),
  recency: z.number(),
  effective_confidence: z.number(),
  scope: z.string(),
  state: f.state,
  tags: z.array(z.string()),
  created_at: z.string(),
  subject: z.string().optional(),
  predicate: z.string().optional(),
  permanence: z.enum(PERMANENCE).nullish(),
  maturity: z.enum(MATURITY).nullish(),
  effectiveness: z.number().nullish(),
  warning: z.boolean().optional(),
  tier: f.tier.nullish(),
  session_id: z.string().nullish(),
  speaker: z.string().nullish(),
  occurred_at: z.string().optional(),
  expires_at: z.string().optional(),
});

export const Result = Found.extend({ explain: Explain.optional() });

const outputOf = <S extends z.ZodType>(result: S) =>
  f.output({
    results: z.array(result),
    mode: z.enum(["hybrid", "semantic", "keyword"]),
    degraded: f.degraded,
  });

export const resultsOutput = outputOf(Result);
/** Without the fields of `explain`: every session pays the tokens of a schema. */
export const plainResultsOutput = outputOf(Found);

export function resultsText(answer: z.infer<typeof plainResultsOutput>): string {
  const notice = answer.degraded === undefined ? "" : `\n(${answer.degraded})`;
  if (answer.results.length === 0) return `Nothing found.${notice}`;
  return answer.results.map((r, i) => `${i + 1}. ${line(r)}`).join("\n") + notice;
}

const LINE_CHARS = 1_000;

function line(r: z.infer<typeof Found>): string {
  const what = r.type === "fact" ? shownFact(r.subject ?? "", r.predicate ?? "", r.content) : r.content;
  const notes = [
    r.warning ? "WARNING" : r.type,
    r.maturity && !r.warning ? r.maturity : undefined,
    r.type === "episode"
      ? (r.occurred_at ?? r.created_at).slice(0, 10)
      : `confidence ${r.effective_confidence.toFixed(2)}`,
    shortId(r.id),
  ];
  return `${clip(neutralLine(clip(what, 4 * LINE_CHARS)), LINE_CHARS)} [${notes.filter(Boolean).join(", ")}]`;
}
