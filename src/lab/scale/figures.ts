/** The report of `butler bench scale`. */
import type { IndexKind } from "../../engine/domain/ranking/index-kind.ts";
import {
  type AtOnce,
  callLines,
  least,
  most,
  type Report,
  round,
  STORAGE_TARGET,
  type Storage,
  stepLines,
  storageLine,
  type Verdict,
  verdictLine,
} from "../figures.ts";
import type { SecurityCost } from "./row-security.ts";

export interface ScaleReport {
  readonly n: number;
  readonly store: Report["store"];
  readonly queries: number;
  readonly machine: Report["machine"];
  readonly model: string;
  /** Texts that went through the model; every other vector is a mixture of theirs. */
  readonly embedded: number;
  /** Null when the store was built before. */
  readonly build: ScaleBuild | null;
  readonly index: IndexKind;
  readonly calls: Report["calls"];
  readonly at_once: AtOnce;
  readonly storage: Storage | null;
  readonly recall: VectorRecall;
  /** By kind of call. */
  readonly row_security: Readonly<Record<string, SecurityCost>>;
  readonly targets: readonly Verdict[];
}

export interface ScaleBuild {
  readonly seconds: number;
  readonly index_seconds: number;
  /** The rest of maintenance: folding, embedding, vacuum. */
  readonly maintenance_seconds: number;
}

/** Which share of the true nearest neighbours the vector arm of a search returns. */
export interface VectorRecall {
  readonly at: number;
  readonly queries: number;
  readonly mean: number;
  readonly worst: number;
  /** Milliseconds of the arm alone, and of comparing with every vector. */
  readonly arm_p50: number;
  readonly exact_p50: number;
}

export const recallOf = (truth: readonly string[], found: readonly string[]): number => {
  const seen = new Set(found);
  return truth.length === 0 ? 1 : truth.filter((id) => seen.has(id)).length / truth.length;
};

export function scaleVerdicts(report: Omit<ScaleReport, "targets">): Verdict[] {
  return [
    most(
      "memory_search, reranked, p95",
      "ms",
      report.calls["search hybrid"]?.p95 ?? null,
      report.n <= 100_000 ? 60 : 80,
    ),
    least(`vector arm, recall@${report.recall.at}`, "", report.recall.mean, 0.97),
    most("row security, share of a search", "", report.row_security["search hybrid"]?.share ?? null, 0.1),
    most("row security, share of a write", "", report.row_security["store episode"]?.share ?? null, 0.1),
    most("vectors and tokens a memory", "B", report.storage?.total ?? null, STORAGE_TARGET),
  ];
}

export function scaleLines(report: ScaleReport): string[] {
  const { machine, build, recall, index } = report;
  const count = (value: number) => value.toLocaleString("en");
  return [
    `${count(report.n)} memories, ${report.store}, ${report.model}, ${report.queries} calls each`,
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
    `${count(report.embedded)} texts went through the model; all other vectors are mixtures of theirs. Rows were written by SQL, without events.`,
    "",
    build === null
      ? "The store was built before."
      : `Filled in ${build.seconds} s; vector index ${build.index_seconds} s, other maintenance ${build.maintenance_seconds} s.`,
    "",
    ...callLines(report.calls, report.at_once),
    storageLine(report.storage),
    `vector arm (index: ${index}): recall@${recall.at} ${recall.mean} over ${recall.queries} queries, the worst ${recall.worst}; ${recall.arm_p50} ms, comparing everything ${recall.exact_p50} ms`,
    ...Object.entries(report.row_security).map(
      ([name, { on, off, share }]) =>
        `${name}, its text embedded before: ${on} ms with row security, ${off} ms without (${round(share * 100)} %)`,
    ),
    "",
    ...report.targets.map(verdictLine),
    "",
    ...stepLines(report.calls),
  ];
}
