/** How far a rule is trusted, from its evidence. Harm weighs four times as much as help. */
export const MATURITY = ["candidate", "established", "proven", "anti_pattern"] as const;
export type Maturity = (typeof MATURITY)[number];
type Trust = Exclude<Maturity, "anti_pattern">;

export interface MaturityBars {
  readonly promote_to_established: { readonly min_successes: number; readonly min_effectiveness: number };
  readonly promote_to_proven: {
    readonly min_successes: number;
    readonly min_effectiveness: number;
    readonly min_age_days: number;
  };
  readonly harmful_to_antipattern: { readonly min_harmful: number; readonly max_effectiveness: number };
}

export const MATURITY_WEIGHT: Readonly<Record<Maturity, number>> = {
  candidate: 0.8,
  established: 1.0,
  proven: 1.2,
  anti_pattern: 1.0,
};

const LEVEL: Readonly<Record<Trust, number>> = { candidate: 0, established: 1, proven: 2 };

export interface Evidence {
  readonly success: number;
  readonly harmful: number;
  readonly ageDays: number;
}

export function effectiveness(evidence: Pick<Evidence, "success" | "harmful">): number {
  return evidence.success / (evidence.success + 4 * evidence.harmful + 0.01);
}

/** The highest level whose bar the evidence meets. */
export function earnedMaturity(evidence: Evidence, bars: MaturityBars): Trust {
  const effect = effectiveness(evidence);
  const { promote_to_proven: proven, promote_to_established: established } = bars;
  if (
    evidence.success >= proven.min_successes &&
    effect >= proven.min_effectiveness &&
    evidence.ageDays >= proven.min_age_days
  )
    return "proven";
  if (evidence.success >= established.min_successes && effect >= established.min_effectiveness) return "established";
  return "candidate";
}

/**
 *   candidate ⇄ established ⇄ proven      up on help, down on harm
 *        └──────────┴───────────┴──→ anti_pattern      enough harm; final
 */
export function nextMaturity(
  current: Maturity,
  mark: "helpful" | "harmful",
  evidence: Evidence,
  bars: MaturityBars,
): Maturity {
  if (current === "anti_pattern") return current;
  const { min_harmful, max_effectiveness } = bars.harmful_to_antipattern;
  if (mark === "harmful" && evidence.harmful >= min_harmful && effectiveness(evidence) < max_effectiveness)
    return "anti_pattern";
  const earned = earnedMaturity(evidence, bars);
  const rises = LEVEL[earned] > LEVEL[current];
  return mark === "helpful" ? (rises ? earned : current) : rises ? current : earned;
}

/**
 * A mark decides by its own outcome. The sweep has no mark: it demotes first, if there is harmful evidence, and else promotes, to
 * what evidence and age allow by now. Without harmful evidence no rule is demoted.
 */
export function judgeMaturity(
  current: Maturity,
  mark: "helpful" | "harmful" | undefined,
  evidence: Evidence,
  bars: MaturityBars,
): Maturity {
  const after = (outcome: "helpful" | "harmful") => nextMaturity(current, outcome, evidence, bars);
  if (mark !== undefined) return after(mark);
  const harmed = evidence.harmful > 0 ? after("harmful") : current;
  return harmed !== current ? harmed : after("helpful");
}

/** The warning that takes the place of a rule that did harm. */
export function warningFrom(original: string, reasons: readonly string[]): string {
  const told = [...new Set(reasons.map((r) => r.trim()).filter((r) => r !== ""))];
  const because = told.length === 0 ? "it did harm when applied" : told.join("; ");
  return `Avoid: ${original.trim()} (because: ${because})`;
}
