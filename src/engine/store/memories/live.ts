/**
 * Which memories count, and what their text is: the conditions that many statements share, each with the alias of its table
 * ("" where a statement has that table alone) and the SQL of a moment (`now`, as a timestamptz). Migrations keep their own words: a
 * migration that has run must not change. The partial indexes match `isLive` and `isKept` only as they are spelled here.
 */

import { TRUST } from "../../domain/learning/trust.ts";
import { LASTING, LASTING_IMPORTANCE } from "../../domain/lifecycle/lasting.ts";
import { isUntrusted } from "../../domain/lifecycle/quarantine.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { SEALED_PREFIX } from "../../domain/sealed.ts";

const of = (alias: string, column: string): string => (alias === "" ? column : `${alias}.${column}`);

const TRUSTED = TRUST.filter((trust) => !isUntrusted(trust));

const LIVE = "in ('active', 'fading')";

/** Of a fact or rule: neither superseded, expired nor forgotten. It may have faded out of sight or wait for its day. */
export const isLive = (alias = ""): string => `${of(alias, "validity")} ${LIVE}`;

export const isNotLive = (alias = ""): string => `${of(alias, "validity")} not ${LIVE}`;

/** Of a fact in one outer join and a rule in another, one of which is there. */
export const isEitherLive = (fact: string, rule: string): string =>
  `coalesce(${fact}.validity, ${rule}.validity) ${LIVE}`;

/** Of an episode: not forgotten. Its time may be over: consolidation still learns from it then. */
export const isKept = (alias = ""): string => `${of(alias, "validity")} = 'active'`;

/** Of an episode: its time is not over. */
export const isInTime = (alias: string, now: string): string => `${of(alias, "expires_at")} > ${now}`;

/** Of an episode: neither forgotten nor over. */
export const isLiveEpisode = (alias: string, now: string): string => `${isKept(alias)} and ${isInTime(alias, now)}`;

/** The same of any memory, for statements over a table that is chosen by type. */
export const isLiveOf = (type: MemoryType, alias: string, now: string): string =>
  type === "episode" ? isLiveEpisode(alias, now) : isLive(alias);

export const TABLE_OF: Readonly<Record<MemoryType, "episodes" | "facts" | "rules">> = {
  episode: "episodes",
  fact: "facts",
  rule: "rules",
};

/** Of a fact: its validity has not ended. */
export const stillHolds = (alias: string, now: string): string =>
  `(${of(alias, "valid_to")} is null or ${of(alias, "valid_to")} > ${now})`;

/** Of a fact: it does not wait for a day ahead; `hasBegun` of engine/domain/present.ts. */
export const hasBegun = (alias: string, now: string): string =>
  `(${of(alias, "waits_until")} is null or ${of(alias, "waits_until")} <= ${now})`;

/** Of a live fact: it belongs into every context block; `isLasting` of engine/domain/lifecycle/lasting.ts. */
export const isLasting = (alias = ""): string =>
  `${of(alias, "permanence")} in ('${LASTING.join("', '")}') and ${of(alias, "importance")} >= ${LASTING_IMPORTANCE}`;

/** Of a fact or rule: it may be told in a context block; not `isKeptOut` of engine/domain/lifecycle/quarantine.ts. */
export const isLetIn = (alias = ""): string => `(${isTrusted(alias)} or ${of(alias, "corroborated_at")} is not null)`;

/** Of any memory: whoever said it is believed without a second source. */
export const isTrusted = (alias = ""): string => `${of(alias, "trust")} in ('${TRUSTED.join("', '")}')`;

/** Of a vector: its memory is neither faded, gone nor over. */
export const isVisible = (alias: string, now: string): string => `${of(alias, "visible_until")} > ${now}`;

/** Of a row of words: it is in the keyword index, folded or not, and not about to be removed. */
export const isFiled = (alias = ""): string => `${of(alias, "state")} <> 2`;

/** Days since the last confirmation. `date_part` gives a float8 at once, where `extract` would compute a million numerics. */
export const daysUnconfirmed = (alias: string, now: string): string =>
  `(greatest(0, date_part('epoch', ${now} - ${of(alias, "last_confirmed_at")})) / 86400)`;

/**
 * engine/domain/lifecycle/decay.ts in SQL. exp() of a very faint memory is an error to PostgreSQL, not 0, so the exponent
 * stops where the result is nothing anyway.
 */
export const effective = (alias: string, now: string): string =>
  `(${of(alias, "confidence")} * exp(greatest(-100, -${of(alias, "decay_rate")} * ${daysUnconfirmed(alias, now)})))`;

/** The text of a fact as it is embedded and indexed; `indexedFact` of engine/memory/sealing.ts. */
export const factText = (alias: string): string =>
  `${of(alias, "subject_text")} || ' ' || replace(${of(alias, "predicate_text")}, '_', ' ') || ': ' || case when ${of(alias, "content")} like '${SEALED_PREFIX}%' then '' else ${of(alias, "content")} end`;

/** The same of any memory. */
export const textOf = (type: MemoryType, alias: string): string =>
  type === "fact" ? factText(alias) : of(alias, "content");
