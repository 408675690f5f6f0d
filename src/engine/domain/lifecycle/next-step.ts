/** What a rule lacks for the next step of its ladder. */
import { type Evidence, effectiveness, type Maturity, type MaturityBars } from "./maturity.ts";

export interface NextStep {
  readonly to: "established" | "proven";
  /** Helpful marks that are still needed, for the number and for the effectiveness, when no harm is added. */
  readonly helpful: number;
  readonly days: number;
}

/** Undefined for a rule that is proven, or a warning. */
export function nextStep(current: Maturity, evidence: Evidence, bars: MaturityBars): NextStep | undefined {
  if (current === "proven" || current === "anti_pattern") return undefined;
  const to = current === "candidate" ? "established" : "proven";
  const bar = current === "candidate" ? bars.promote_to_established : bars.promote_to_proven;
  const age = current === "candidate" ? 0 : bars.promote_to_proven.min_age_days;
  return {
    to,
    helpful: Math.max(0, successesFor(bar, evidence.harmful) - evidence.success),
    days: Math.max(0, Math.ceil(age - evidence.ageDays)),
  };
}

/** The least number of successes that meets the bar beside so many harmful marks. */
function successesFor(bar: { min_successes: number; min_effectiveness: number }, harmful: number): number {
  // effectiveness = s / (s + 4 h + 0.01) ≥ e  ⇔  s ≥ e (4 h + 0.01) / (1 − e); the loop mends the rounding.
  const e = Math.min(bar.min_effectiveness, 0.999);
  let success = Math.max(bar.min_successes, Math.floor((e * (4 * harmful + 0.01)) / (1 - e)));
  while (effectiveness({ success, harmful }) < e) success++;
  return success;
}
