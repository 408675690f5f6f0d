/** Why a memory has its place in a ranking, and in what the ones before it were stronger. */
import { type Intent, routed } from "../../../domain/ranking/intent.ts";
import type { Reading } from "../../../domain/ranking/reading.ts";
import { byRank } from "../../../domain/ranking/scoring.ts";
import type { Call } from "../../memory.ts";
import type { RankedResult } from "../rank-results.ts";
import type { Reranking } from "../rerank.ts";
import { listed, round, type Step, step } from "./step.ts";

export interface WhyRanking {
  readonly results: readonly RankedResult[];
  /** Index of the memory in `results`. */
  readonly index: number;
  readonly rank: "relevance" | "composite";
  readonly intent: Intent;
  readonly reranked: Reranking;
}

/** A summand of the score. */
interface Part {
  readonly name: string;
  readonly adds: number;
}

export const SIGNAL_WORDS: Readonly<Record<Exclude<keyof Reading, "relevance">, string>> = {
  tokens: "likeness word by word",
  keywords: "words in common",
  meaning: "likeness as a whole",
  speaker: "the person named said it",
  person: "the person named was there",
  question: "it is itself a question",
  answer: "it answers a question that fits",
  self: "somebody tells of themselves",
  time: "it tells when",
  session: "its session fits",
  date: "it was said at the date named",
};

/** The parts of one memory's score, the largest first. Empty where one number decides: a cross-encoder, or fused ranks. */
export function parts(
  call: Call,
  { candidate: c, ...found }: RankedResult,
  ranked: Omit<WhyRanking, "results" | "index">,
): Part[] {
  if (ranked.rank === "composite") {
    const { score_weights, quotas } = call.memory.settings.retrieval;
    const { weights } = routed(score_weights, quotas, ranked.intent);
    return sorted([
      { name: "relevance", adds: weights.relevance * found.relevance },
      { name: "importance", adds: (weights.importance * c.importance) / 10 },
      { name: "recency", adds: weights.recency * found.recency },
      { name: "confidence", adds: weights.confidence * found.effectiveConfidence },
    ]);
  }
  const { reading } = found;
  if (reading === undefined || ranked.reranked !== "late-interaction") return [];
  const names = Object.keys(SIGNAL_WORDS) as (keyof typeof SIGNAL_WORDS)[];
  return sorted(names.map((name) => ({ name: SIGNAL_WORDS[name], adds: reading[name].scaled * reading[name].weight })));
}

const sorted = (all: readonly Part[]): Part[] => all.toSorted((a, b) => b.adds - a.adds);

/** "relevance and importance", those that make up most of the score. */
export function carriedBy(call: Call, ranked: WhyRanking): string | undefined {
  const own = ranked.results[ranked.index];
  const [first, second] = own === undefined ? [] : parts(call, own, ranked);
  if (first === undefined || first.adds <= 0) return undefined;
  return listed([first.name, ...(second !== undefined && second.adds >= first.adds / 2 ? [second.name] : [])]);
}

/** Its place by score, and as a step of its own what diversification changed. */
export function placeSteps(call: Call, ranked: WhyRanking, limit: number): Step[] {
  const { results, index, rank } = ranked;
  const own = results[index] as RankedResult;
  const byScore = results.filter((other) => byRank(other, own) < 0).length + 1;
  const shown = index < limit;
  const up = index + 1 < byScore ? `, and moves up to ${index + 1} for variety` : "";
  const where = `By ${rank} it is place ${byScore} of ${results.length}, with a score of ${round(own.score)}${up}`;
  const last = results[limit - 1];
  const ok = shown || byScore <= limit;
  const made = [
    step("place", ok, `${where}; ${limit} are shown${ok || !last ? "" : behind(call, own, last, ranked)}.`),
  ];
  if (own.demoted === undefined) return made;
  const gave = `Enough of ${own.demoted.key} stands before it, so it gave way to others as good`;
  made.push(
    step("variety", shown, `${gave}, from place ${byScore} to ${index + 1}${shown ? "" : `; ${limit} are shown`}.`),
  );
  return made;
}

const NOTABLE = 0.005;

function behind(call: Call, own: RankedResult, last: RankedResult, ranked: WhyRanking): string {
  if (own.score === last.score) return ", the last with the same score: of equals the newer comes first";
  const theirs = new Map(parts(call, last, ranked).map(({ name, adds }) => [name, adds]));
  const lacking = parts(call, own, ranked)
    .map(({ name, adds }) => ({ name, adds, theirs: theirs.get(name) ?? 0 }))
    .filter(({ adds, theirs: more }) => more - adds > NOTABLE)
    .toSorted((x, y) => y.theirs - y.adds - (x.theirs - x.adds))
    .slice(0, 2)
    .map(({ name, adds, theirs: more }) => `${name} (${adds.toFixed(2)} against ${more.toFixed(2)})`);
  const weaker = lacking.length === 0 ? "" : `; it is weaker in ${listed(lacking)}`;
  return `, the last with ${round(last.score)}${weaker}`;
}
