/** What the numbers of a rule say in words. */
import type { ApiRule } from "../../../../src/doors/http/api/types.ts";
import { counted, listed, percent } from "../../parts/words.ts";

export function nextStepWords({ to, helpful, days }: NonNullable<ApiRule["next_step"]>): string {
  const missing = [helpful > 0 && counted(helpful, "more helpful mark"), days > 0 && counted(days, "day")].filter(
    (part) => part !== false,
  );
  return missing.length === 0 ? `ready to become ${to}` : `${listed(missing)} to become ${to}`;
}

export function effectWords({ helpful, harmful, effectiveness }: ApiRule): string {
  return helpful + harmful === 0 ? "not tried yet" : `${percent(effectiveness)} effective`;
}

export function marksWords({ helpful, harmful }: ApiRule): string {
  return listed([`${helpful} helpful`, `${harmful} harmful`]);
}
