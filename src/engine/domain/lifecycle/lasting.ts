/** Which facts belong into every context block, whatever is asked: those that stay true and matter much. */
import type { Permanence } from "./decay.ts";

export const LASTING: readonly Permanence[] = ["permanent", "stable"];
export const LASTING_IMPORTANCE = 7;

export const isLasting = (fact: { readonly permanence: string | undefined; readonly importance: number }): boolean =>
  LASTING.some((lasting) => lasting === fact.permanence) && fact.importance >= LASTING_IMPORTANCE;
