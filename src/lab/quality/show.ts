/** Quality figures for people: a table a data set, one table for an ablation, and a chart of either. */
import type { BarChart } from "./plot.ts";
import type { QualityRun } from "./report.ts";

const percent = (share: number) => (share * 100).toFixed(1);
const signed = (share: number) => `${share >= 0 ? "+" : "−"}${percent(Math.abs(share))}`;

const WIDTH = 24;

export function runLines(run: QualityRun): string[] {
  const { recall_frac: recall, ci95, ms, model, index } = run;
  const [low, high] = ci95["recall_frac@10"];
  const cuts = Object.keys(recall) as (keyof typeof recall)[];
  const width = Math.max(
    WIDTH,
    ...Object.entries(run.categories).map(([name, { n }]) => categoryLabel(name, n).length),
  );
  const line = (first: string, cells: readonly string[]) =>
    `${first.padEnd(width)} ${cells.map((cell) => cell.padStart(9)).join(" ")}`;
  const of = (scores: QualityRun["any"]) => cuts.map((k) => percent(scores[k]));
  return [
    `${run.name}: ${run.n} questions, ${index.memories.toLocaleString("en")} memories ${index.kind === "pool" ? "in one store" : "in a store for each corpus"}${index.distractors > 0 ? ` beside ${index.distractors.toLocaleString("en")} invented ones` : ""}`,
    `${run.mode}, ${run.rerank === null ? "no reranker" : `rerank ${run.rerank}`}, ${model === null ? "no model" : `${model.name} (${model.file})`}, ${run.store}`,
    "",
    line(
      "% of the evidence in the",
      cuts.map((k) => `top ${k}`),
    ),
    line("recall_frac", of(recall)),
    line("any", of(run.any)),
    line("all", of(run.all)),
    ...(run.alone === undefined ? [] : [line("recall_frac if alone", of(run.alone.recall_frac))]),
    ...Object.entries(run.categories).map(([name, row]) => line(categoryLabel(name, row.n), of(row.recall_frac))),
    "",
    `recall_frac@10 ${percent(recall["10"])} (95 % over questions: ${percent(low)} to ${percent(high)}), nDCG@10 ${percent(run.ndcg10)}, MRR ${percent(run.mrr)}`,
    `within tokens: ${Object.entries(run.budget)
      .map(([tokens, share]) => `${tokens} → ${percent(share)}`)
      .join(" · ")}`,
    `ms a query: p50 ${ms.p50}, p95 ${ms.p95}, CPU ${ms.cpu}, embedding ${ms.embed}; ${run.queries_per_second} queries a second, one after the other`,
    ...leftOut(run),
    "",
  ];
}

const categoryLabel = (name: string, n: number) => `  ${name} (${n})`;

function leftOut({ left_out: left, degraded }: QualityRun): string[] {
  return [
    ...(left.empty_questions > 0 ? [`! ${left.empty_questions} questions have no evidence and were not asked.`] : []),
    ...(left.unknown_evidence > 0
      ? [`! ${left.unknown_evidence} times evidence names no memory of its corpus; it counts as not found.`]
      : []),
    ...(left.unreadable_times > 0 ? [`! ${left.unreadable_times} times could not be read and were left out.`] : []),
    ...(left.refused_memories > 0
      ? [
          `! ${left.refused_memories} memories were refused (the first: ${left.why_refused}); as evidence they count as not found.`,
        ]
      : []),
    ...(degraded === undefined ? [] : [`! Answers were degraded: ${degraded}`]),
  ];
}

/** A column of recall a file; of nDCG as well where nothing has a session, as such sets are usually judged by it. */
export function ablationLines(runs: readonly QualityRun[], documents: ReadonlySet<string>): string[] {
  const files = [...new Set(runs.map((run) => run.file))];
  const columns = files.flatMap((file) => [
    { file, head: `${file}, recall_frac@10`, figure: "recall_frac@10" as const },
    ...(documents.has(file) ? [{ file, head: `${file}, nDCG@10`, figure: "ndcg10" as const }] : []),
  ]);
  const cell = (variant: string, { file, figure }: (typeof columns)[number]) => {
    const run = runs.find((one) => one.file === file && one.variant === variant);
    if (run === undefined) return "";
    const value = percent(figure === "ndcg10" ? run.ndcg10 : run.recall_frac["10"]);
    if (run.difference === undefined) return value;
    const [low, high] = run.difference.ci95[figure];
    return `${value}  ${signed(run.difference[figure])} (${signed(low)} to ${signed(high)})`;
  };
  const rows = [...new Set(runs.map((run) => run.variant))].map((name) => [name, ...columns.map((c) => cell(name, c))]);
  const table = [["variant", ...columns.map((column) => column.head)], ...rows];
  const widths = (table[0] ?? []).map((_, at) => Math.max(...table.map((row) => (row[at] ?? "").length)));
  return [
    ...table.map((row) =>
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("   ")
        .trimEnd(),
    ),
    "",
    "In brackets: 95 % of the difference to the first line, by bootstrap over the same questions.",
  ];
}

export function chartOf(runs: readonly QualityRun[]): BarChart {
  const files = [...new Set(runs.map((run) => run.file))];
  const [first] = runs;
  return {
    title: `Evidence among the first ten results${first?.index.kind === "pool" ? ", everything in one store" : ""}`,
    unit: "%",
    groups: files.map((file) => ({
      label: runs.find((run) => run.file === file)?.name ?? file,
      bars: runs
        .filter((run) => run.file === file)
        .flatMap((run) => {
          const [low, high] = run.ci95["recall_frac@10"];
          const label =
            run.variant === "full" ? `${run.mode}${run.rerank === null ? "" : `, ${run.rerank}`}` : run.variant;
          const bar = { label, value: run.recall_frac["10"] * 100, low: low * 100, high: high * 100 };
          return run.alone === undefined ? [bar] : [bar, { label: "alone", value: run.alone.recall_frac["10"] * 100 }];
        }),
    })),
  };
}
