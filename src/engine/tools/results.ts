/** Search results as data and as text: shared by search and recall. */

import { z } from "zod";
import { shownFact } from "../domain/fact.ts";
import { TRUST } from "../domain/learning/trust.ts";
import { PERMANENCE } from "../domain/lifecycle/decay.ts";
import { MATURITY } from "../domain/lifecycle/maturity.ts";
import { INTENTS } from "../domain/ranking/intent.ts";
import { SIGNALS } from "../domain/ranking/reading.ts";
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

export const Result = z.object({
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
  trust: z.enum(TRUST).describe("Whose word it is: of a tool, an import, an agent or the user."),
  corroborated: z
    .boolean()
    .optional()
    .describe("Of what a tool or an import said: whether another source said it too."),
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
  explain: Explain.optional(),
});

export const resultsOutput = f.output({
  results: z.array(Result),
  mode: z.enum(["hybrid", "semantic", "keyword"]),
  degraded: f.degraded,
});

type Results = z.infer<typeof resultsOutput>;
type Found = Results["results"][number];

const CLIPPED = "memory_get has the whole of what ends in …";

export function resultsText(answer: Results): string {
  const notice = answer.degraded === undefined ? "" : `\n(${answer.degraded})`;
  if (answer.results.length === 0) return `Nothing found.${notice}`;
  const lines = answer.results.map((r, i) => `${i + 1}. ${said(r)} [${notes(r).filter(Boolean).join(", ")}]`);
  return ["Found, the best first:", ...lines, ...(isClipped(answer) ? [`(${CLIPPED})`] : [])].join("\n") + notice;
}

/** Without the scores, which the order tells. */
export const resultsBrief = {
  shape: {
    results: z.array(z.looseObject({ id: z.string() })).describe("Each with a fact, rule, warning or episode."),
    clipped: z.string(),
    degraded: z.string(),
  },
  tell: (answer: Results) => ({
    ...(isClipped(answer) ? { clipped: CLIPPED } : {}),
    results: answer.results.map((r) => ({ id: shortId(r.id), ...shortResult(r) })),
    degraded: answer.degraded,
  }),
};

function shortResult(r: Found): Record<string, unknown> {
  const by = { trust: wordOf(r) };
  if (r.type === "episode") return { episode: `${dayOf(r)}: ${said(r)}`, ...by };
  if (r.type === "rule")
    return { ...(r.warning ? { warning: said(r) } : { rule: `${said(r)} (${r.maturity})` }), ...by };
  return { fact: said(r), ...(r.effective_confidence > 0.995 ? {} : { confidence: hundredths(r) }), ...by };
}

/** "tool, unconfirmed": nobody else has said it. */
const wordOf = ({ trust, corroborated }: Found): string =>
  corroborated === undefined ? trust : `${trust}, ${corroborated ? "corroborated" : "unconfirmed"}`;

function notes(r: Found): (string | undefined)[] {
  return [
    r.warning ? "WARNING" : r.type,
    r.type === "episode" ? dayOf(r) : undefined,
    r.type === "rule" && !r.warning ? (r.maturity ?? undefined) : undefined,
    r.type === "fact" ? `confidence ${r.effective_confidence.toFixed(2)}` : undefined,
    `trust ${wordOf(r)}`,
    `score ${r.score.toFixed(2)}`,
    shortId(r.id),
  ];
}

const LINE_CHARS = 600;

function said(r: Found): string {
  const what = r.type === "fact" ? shownFact(r.subject ?? "", r.predicate ?? "", r.content) : r.content;
  return clip(neutralLine(clip(what, 8 * LINE_CHARS)), LINE_CHARS);
}

const dayOf = (r: Found): string => f.day(r.occurred_at ?? r.created_at);
const hundredths = (r: Found): number => Math.round(r.effective_confidence * 100) / 100;
const isClipped = ({ results }: Results): boolean => results.some((r) => said(r).length >= LINE_CHARS);
