/**
 * Which of several facts under one key is its value. A reader stands on several steps, and a fact whose day has come may not
 * have replaced the one before it yet: shown beside each other they would be two answers to one question. The better source
 * comes first; among equals the narrower step, for it was said of less; on one step the one that began last.
 */

import type { Held } from "./fact.ts";
import { trustRank } from "./learning/trust.ts";
import { effectiveConfidence } from "./lifecycle/decay.ts";

export interface Look {
  /** The steps that are read, the widest first; undefined: every scope, and each has its own value. */
  readonly ladder: readonly string[] | undefined;
  readonly now: Date;
  /** What is believed less does not hide a value of another step. */
  readonly threshold: number;
}

/** The moment a fact waits for: when it begins to be true, if that lies ahead. */
export const waitsFor = (validFrom: Date | null | undefined, now: Date): Date | null =>
  validFrom != null && validFrom > now ? validFrom : null;

export const hasBegun = ({ waits_until: day }: Pick<Held, "waits_until">, now: Date): boolean =>
  day === null || day <= now;

/** `all` hold the same key, the fact itself may be among them. engine/store/memories/present.ts says the same in SQL. */
export function isValue(fact: Held, all: readonly Held[], look: Look): boolean {
  return hasBegun(fact, look.now) && !all.some((other) => hides(other, fact, look));
}

function hides(other: Held, fact: Held, look: Look): boolean {
  const { now, ladder } = look;
  if (other.id === fact.id || !hasBegun(other, now)) return false;
  const here = other.scope === fact.scope;
  if (!here && (ladder === undefined || !ladder.includes(other.scope) || !isSeen(other, look))) return false;
  const [mine, theirs] = [precedenceOf(fact, look), precedenceOf(other, look)];
  const differs = theirs.findIndex((value, at) => value !== mine[at]);
  return differs >= 0 && (theirs[differs] ?? 0) > (mine[differs] ?? 0);
}

const isSeen = (fact: Held, { now, threshold }: Look): boolean =>
  (fact.valid_to === null || fact.valid_to > now) && effectiveConfidence(fact, now) >= threshold;

const precedenceOf = ({ trust, scope, waits_until: day }: Held, { ladder }: Look): number[] => [
  trustRank(trust),
  ladder?.indexOf(scope) ?? 0,
  day?.getTime() ?? Number.NEGATIVE_INFINITY,
];
