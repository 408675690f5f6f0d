/** The figures of one run over one data set, in the shape that is printed as JSON. */
import { round, spread } from "../figures.ts";
import type { Asked, Asking } from "./ask.ts";
import type { DataSet, LeftOut } from "./data.ts";
import { type Interval, interval95 } from "./interval.ts";
import { type At, type Budget, type Cut, meanOf, meanScores, type Scores } from "./metrics.ts";

export interface QualityRun extends Scores {
  readonly name: string;
  readonly file: string;
  readonly n: number;
  readonly categories: Readonly<Record<string, { readonly n: number; readonly recall_frac: At<Cut> }>>;
  /** 95 % interval of the mean over questions, by bootstrap. */
  readonly ci95: { readonly "recall_frac@10": Interval; readonly ndcg10: Interval };
  /** `cpu` and `embed` are means per query. */
  readonly ms: { readonly p50: number; readonly p95: number; readonly cpu: number; readonly embed: number };
  /** Queries per second, one after the other, with the counting of references between them. */
  readonly queries_per_second: number;
  readonly variant: string;
  readonly mode: string;
  readonly rerank: string | null;
  readonly store: "pglite" | "postgres";
  readonly model: { readonly name: string; readonly file: string; readonly sha256: string } | null;
  readonly index: { readonly kind: "per corpus" | "pool"; readonly memories: number; readonly distractors: number };
  readonly left_out: LeftOut & { readonly refused_memories: number; readonly why_refused?: string };
  readonly degraded?: string;
  /** Only with a pool: the figures of the same questions with one store for each corpus. */
  readonly alone?: Pick<Scores, "recall_frac" | "ndcg10" | "mrr">;
  /** Only in an ablation: the difference from the full recipe, question by question. */
  readonly difference?: Difference;
}

export interface Difference {
  readonly "recall_frac@10": number;
  readonly ndcg10: number;
  readonly ci95: QualityRun["ci95"];
}

/** What is known of a run apart from its answers. */
export type Setting = Pick<QualityRun, "variant" | "rerank" | "store" | "model" | "index"> & {
  readonly refused: number;
  readonly why: string | undefined;
};

/** The answers of one data set, from however many stores. */
export function gather(parts: readonly Asking[]): Asking {
  const total = (of: (part: Asking) => number) => parts.reduce((sum, part) => sum + of(part), 0);
  return {
    asked: parts.flatMap((part) => part.asked),
    cpuMs: total((part) => part.cpuMs),
    embedMs: total((part) => part.embedMs),
    seconds: total((part) => part.seconds),
    mode: parts[0]?.mode ?? "",
    degraded: parts.find((part) => part.degraded !== undefined)?.degraded,
  };
}

export function reportOf(data: DataSet, gathered: Asking, setting: Setting): QualityRun {
  const { asked } = gathered;
  const n = asked.length;
  const scores = asked.map((one) => one.scores);
  const { refused, why, ...known } = setting;
  const { p50, p95 } = spread(asked.map((one) => one.ms));
  const each = (total: number) => (n === 0 ? 0 : round(total / n));
  return {
    name: data.name,
    file: data.file,
    n,
    ...shares(meanScores(scores)),
    categories: categoriesOf(asked),
    ci95: { "recall_frac@10": interval(scores.map(recall10)), ndcg10: interval(scores.map((one) => one.ndcg10)) },
    ms: { p50, p95, cpu: each(gathered.cpuMs), embed: each(gathered.embedMs) },
    queries_per_second: gathered.seconds === 0 ? 0 : round(n / gathered.seconds),
    ...known,
    mode: gathered.mode,
    left_out: { ...data.left, refused_memories: refused, ...(why === undefined ? {} : { why_refused: why }) },
    ...(gathered.degraded === undefined ? {} : { degraded: gathered.degraded }),
  };
}

export function differenceOf(full: readonly Asked[], other: readonly Asked[]): Difference {
  const changes = (of: (scores: Scores) => number) =>
    full.flatMap((one, index) => {
      const twin = other[index];
      return twin === undefined ? [] : [of(twin.scores) - of(one.scores)];
    });
  const recall = changes(recall10);
  const ndcg = changes((scores) => scores.ndcg10);
  return {
    "recall_frac@10": share(meanOf(recall)),
    ndcg10: share(meanOf(ndcg)),
    ci95: { "recall_frac@10": interval(recall), ndcg10: interval(ndcg) },
  };
}

const recall10 = (scores: Scores) => scores.recall_frac["10"];
const share = (value: number) => round(value, 4);

function interval(values: readonly number[]): Interval {
  const [low, high] = interval95(values);
  return [share(low), share(high)];
}

function categoriesOf(asked: readonly Asked[]): QualityRun["categories"] {
  const names = [...new Set(asked.map((one) => one.category))].toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const scores = asked.filter((one) => one.category === name).map((one) => one.scores);
      return [name, { n: scores.length, recall_frac: shares(meanScores(scores)).recall_frac }];
    }),
  );
}

/** Four digits: one question in two thousand is still visible. */
function shares(scores: Scores): Scores {
  const each = <K extends Cut | Budget>(of: At<K>) =>
    Object.fromEntries(Object.entries<number>(of).map(([key, value]) => [key, share(value)])) as At<K>;
  return {
    recall_frac: each(scores.recall_frac),
    any: each(scores.any),
    all: each(scores.all),
    ndcg10: share(scores.ndcg10),
    mrr: share(scores.mrr),
    budget: each(scores.budget),
  };
}
