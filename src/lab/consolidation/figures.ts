/** The figures of consolidation over a data set, and how they are shown. */
import { least, most, round, type Verdict, verdictLine } from "../figures.ts";
import type { CorpusFigures } from "./measure.ts";

export interface Judged {
  /** Verdicts that apply to what the extractor says now, and how many of them are "right". */
  readonly judged: number;
  readonly right: number;
  /** Verdicts on items that the extractor does not produce any more. */
  readonly gone: number;
}

export interface ConsolidationReport {
  readonly file: string;
  readonly extractor: string;
  readonly store: "pglite" | "postgres";
  readonly corpora: readonly CorpusFigures[];
  readonly turns: number;
  readonly facts: number;
  readonly rules: number;
  readonly facts_per_100_turns: number;
  readonly duplicate_rate: { readonly exact: number; readonly near: number };
  readonly provenance: number;
  readonly precision: (Judged & { readonly share: number | null }) | null;
  readonly turns_per_second: number;
  readonly changed_again: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly targets: readonly Verdict[];
}

export function consolidationReport(
  made: Pick<ConsolidationReport, "file" | "extractor" | "store">,
  corpora: readonly CorpusFigures[],
  judged: Judged | null,
): ConsolidationReport {
  const sum = (of: (one: CorpusFigures) => number) => corpora.reduce((total, one) => total + of(one), 0);
  const [turns, facts, rules] = [sum(({ turns: n }) => n), sum(({ facts: n }) => n), sum(({ rules: n }) => n)];
  const share = (part: number, whole: number) => (whole === 0 ? 0 : round(part / whole, 4));
  const counts: Record<string, number> = {};
  for (const one of corpora) for (const [name, n] of Object.entries(one.counts)) counts[name] = (counts[name] ?? 0) + n;
  const duplicate_rate = {
    exact: share(
      sum((one) => one.exact_duplicates),
      facts,
    ),
    near: share(
      sum((one) => one.near_duplicates),
      facts,
    ),
  };
  const provenance = share(facts + rules - sum((one) => one.unwitnessed), facts + rules);
  const precision = judged && { ...judged, share: judged.judged === 0 ? null : share(judged.right, judged.judged) };
  const turns_per_second = round(turns / sum((one) => one.store_seconds + one.learn_seconds));
  const changed_again = sum((one) => one.changed_again);
  return {
    ...{ ...made, corpora, turns, facts, rules, duplicate_rate, provenance, precision },
    facts_per_100_turns: round((100 * facts) / Math.max(1, turns)),
    ...{ turns_per_second, changed_again, counts },
    targets: [
      most("exact and near duplicates", "%", round(100 * (duplicate_rate.exact + duplicate_rate.near), 2), 1),
      least("facts and rules with provenance", "%", round(100 * provenance, 1), 100),
      ...(precision === null
        ? []
        : [least("judged right", "%", precision.share === null ? null : round(100 * precision.share, 1), 90)]),
      least("turns stored and learned from", "/s", turns_per_second, 50),
      most("changed by a second run", "", changed_again, 0),
    ],
  };
}

export function consolidationLines(report: ConsolidationReport): string[] {
  const { turns, facts, rules, precision } = report;
  return [
    `${report.file}: ${turns} turns in ${report.corpora.length} corpora, extractor ${report.extractor}, ${report.store}`,
    `${facts} facts and ${rules} rules: ${report.facts_per_100_turns} facts for 100 turns`,
    ...(precision === null
      ? ["No verdicts of a reader are kept for this file."]
      : [`${precision.right} of ${precision.judged} judged items are right; ${precision.gone} judged ones are gone.`]),
    Object.entries(report.counts)
      .map(([name, n]) => `${name.replaceAll("_", " ")} ${n}`)
      .join(" · "),
    "",
    ...report.targets.map(verdictLine),
  ];
}
