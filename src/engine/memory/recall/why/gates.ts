/** The conditions that a memory must meet whatever the question is, checked on its row as the statement of a search does. */
import { retold } from "../../../domain/learning/gist.ts";
import { isHint } from "../../../domain/learning/sureness.ts";
import type { Trust } from "../../../domain/learning/trust.ts";
import { DAY_MS, effectiveConfidence } from "../../../domain/lifecycle/decay.ts";
import { isUntrusted } from "../../../domain/lifecycle/quarantine.ts";
import { hasBegun } from "../../../domain/present.ts";
import { clip } from "../../../domain/text/text.ts";
import type { Rival } from "../../../store/memories/present.ts";
import type { Found } from "../../find.ts";
import type { Call } from "../../memory.ts";
import type { RetrieveQuery } from "../retrieve.ts";
import { at, listed, quoted, round, type Step, step } from "./step.ts";

/** The fact that superseded it, and those that are told instead of it. */
export interface Others {
  readonly successor: string | undefined;
  readonly rivals: readonly Rival[];
}

/** All conditions, also those after the first that fails: to mend one alone would not always help. */
export function gates(call: Call, found: Found, query: RetrieveQuery, { successor, rivals }: Others): Step[] {
  return [
    scope(found, query.scopes),
    forgotten(found),
    ...(found.type === "fact" ? [superseded(found, successor)] : []),
    expired(call, found),
    ...(found.type === "fact" ? [valid(call, found), outranked(found, rivals)] : []),
    ...filters(found, query),
    confidence(call, found, query.minConfidence),
    ...(query.trustedOnly === true ? [trusted(found)] : []),
  ];
}

function scope(found: Found, searched: readonly string[] | undefined): Step {
  const own = `It lies in scope “${found.scope}”`;
  if (searched === undefined) return step("scope", true, `${own}, and every scope is looked at.`);
  if (searched.includes(found.scope)) return step("scope", true, `${own}, which is looked at.`);
  return step("scope", false, `${own}, and only ${quoted([...new Set(searched)])} is looked at.`);
}

/** Who said it, in words for people. */
export const WHOSE: Readonly<Record<Trust, string>> = {
  user: "the user",
  agent: "an agent",
  imported: "an import",
  tool: "a tool",
};

function trusted(found: Found): Step {
  const { trust } = found.row;
  const from = `It is the word of ${WHOSE[trust]}`;
  if (found.type === "episode")
    return isUntrusted(trust) || retold(found.row.summary ?? found.row.content) === ""
      ? step("trust", false, "It is kept out: it holds what a tool said, which is no background for an agent.")
      : step("trust", true, `${from}.`);
  const { corroborated_at } = found.row;
  if (!isUntrusted(trust)) return step("trust", true, `${from}.`);
  return corroborated_at === null
    ? step(
        "trust",
        false,
        `It is kept out: learned from an untrusted source (${WHOSE[trust]}), not corroborated by another one; a person who confirms it lets it in.`,
      )
    : step("trust", true, `${from}, corroborated by another source on ${at(corroborated_at)}.`);
}

const REASON_CHARS = 200;

function forgotten({ row }: Found): Step {
  if (row.validity !== "retracted") return step("forgotten", true, "It has not been forgotten.");
  const when = row.forgotten_at === null ? "" : ` on ${at(row.forgotten_at)}`;
  const reason = row.forget_reason === null ? "no reason was given" : `“${clip(row.forget_reason, REASON_CHARS)}”`;
  return step("forgotten", false, `It was forgotten${when} (${reason}); it can be restored.`);
}

function superseded({ row }: Extract<Found, { type: "fact" }>, successor: string | undefined): Step {
  if (row.validity !== "superseded") return step("superseded", true, "No newer fact has taken its place.");
  const when = row.superseded_at === null ? "" : ` on ${at(row.superseded_at)}`;
  const by = successor === undefined ? "a newer fact" : `fact ${successor}`;
  return step("superseded", false, `It was superseded${when} by ${by}, which says something newer.`);
}

function expired(call: Call, found: Found): Step {
  if (found.type === "episode") {
    const { expires_at, tier } = found.row;
    if (expires_at > call.now) return step("expired", true, `Its time in tier ${tier} lasts until ${at(expires_at)}.`);
    return step("expired", false, `It has expired: its time in tier ${tier} was over on ${at(expires_at)}.`);
  }
  if (found.row.validity !== "expired") return step("expired", true, "It has not expired.");
  return step(
    "expired",
    false,
    "It has expired: nobody confirmed it for too long, it was over when it was told, or it is a claim against a better source.",
  );
}

function outranked({ row }: Extract<Found, { type: "fact" }>, [rival]: readonly Rival[]): Step {
  const key = `“${row.subject} ${row.predicate}”`;
  if (rival === undefined) return step("outranked", true, `It is the value of ${key}.`);
  return step(
    "outranked",
    false,
    `The value of ${key} is fact ${rival.id} in scope “${rival.scope}”, and one is told.`,
  );
}

function valid(call: Call, { row }: Extract<Found, { type: "fact" }>): Step {
  const { valid_to } = row;
  if (row.waits_until !== null && !hasBegun(row, call.now))
    return step("valid", false, `It begins to hold on ${at(row.waits_until)}.`);
  if (valid_to === null) return step("valid", true, "It holds without an end.");
  if (valid_to > call.now) return step("valid", true, `It holds until ${at(valid_to)}.`);
  return step("valid", false, `It held only until ${at(valid_to)}.`);
}

function filters(found: Found, { types, tier, tags }: RetrieveQuery): Step[] {
  const { type, row } = found;
  const made: Step[] = [];
  const wanted = types.includes(type);
  made.push(
    step(
      "types",
      wanted,
      wanted ? `It is one of the types asked for.` : `It is ${a(type)}; asked was for ${list(types)}.`,
    ),
  );
  if (tier !== undefined) {
    const own = found.type === "episode" ? `in tier ${found.row.tier}` : `${a(type)} and has no tier`;
    const ok = found.type === "episode" && found.row.tier === tier;
    made.push(
      step("tier", ok, ok ? `It is in tier ${tier}.` : `It is ${own}; asked was for episodes of tier ${tier}.`),
    );
  }
  if (tags !== undefined) {
    const missing = tags.filter((tag) => !row.tags.includes(tag));
    const ok = missing.length === 0;
    made.push(step("tags", ok, ok ? "It has every tag asked for." : `It lacks the tag ${quoted(missing)}.`));
  }
  return made;
}

export const a = (type: string): string => (type === "episode" ? "an episode" : `a ${type}`);
const list = (types: readonly string[]): string => listed(types.map((type) => `${type}s`));

function confidence(call: Call, found: Found, threshold: number): Step {
  if (found.type === "episode") return step("confidence", true, "Episodes do not fade.");
  const { confidence: stored, decay_rate, last_confirmed_at } = found.row;
  const now = effectiveConfidence(found.row, call.now);
  const ok = now >= threshold;
  const days = Math.max(0, (call.now.getTime() - last_confirmed_at.getTime()) / DAY_MS);
  const how = `stored ${round(stored)}, fading by ${decay_rate} a day for ${days.toFixed(1)} days since ${at(last_confirmed_at)}`;
  const words = `Its effective confidence is ${round(now)}, ${ok ? "at least" : "below"} the ${round(threshold)} asked for`;
  const hint = isHint(found.row, call.memory.settings.facts.retrieval_confidence_threshold);
  return step(
    "confidence",
    ok,
    `${words} (${how})${hint ? "; it was heard once, and a second saying confirms it" : ""}.`,
  );
}
