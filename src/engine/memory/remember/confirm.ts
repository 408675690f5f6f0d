/** Confirms a fact or a rule: confidence decays from now on, and a fading memory is active again. */

import { invalid } from "../../domain/errors.ts";
import { toldByHand } from "../../domain/learning/sureness.ts";
import { vouched } from "../../domain/learning/trust.ts";
import { effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import { next } from "../../domain/lifecycle/lifecycle.ts";
import { reviewAfter } from "../../domain/lifecycle/quarantine.ts";
import type { Rule } from "../../domain/rule.ts";
import { setVisibility } from "../../store/index/vectors.ts";
import { changeFact } from "../../store/memories/facts.ts";
import { changeRule } from "../../store/memories/rules.ts";
import { findMemory } from "../find.ts";
import type { Call } from "../memory.ts";
import { write } from "../write.ts";
import { visibleUntil } from "./index-memory.ts";

export interface ConfirmInput {
  readonly type?: "fact" | "rule" | undefined;
  readonly id: string;
}

export interface ConfirmAnswer {
  readonly type: "fact" | "rule";
  readonly id: string;
  readonly last_confirmed_at: string;
  readonly effective_confidence: number;
  readonly state: string;
}

export async function confirm(call: Call, input: ConfirmInput): Promise<ConfirmAnswer> {
  const { answer } = await write(call, "memory_confirm", input, async ({ sql, tell }): Promise<ConfirmAnswer> => {
    const found = await findMemory(call, sql, input.id, input.type, true);
    if (found.type === "episode")
      throw invalid("id", "episodes are not confirmed, they are referenced; confirm a fact or a rule.");
    const begins = found.type === "fact" ? found.row.waits_until : null;
    const set = {
      validity: next(found.row.validity, "confirm"),
      // A fact does not fade before it begins.
      last_confirmed_at: begins !== null && begins > call.now ? begins : call.now,
      trust: vouched(found.row.trust, call.caller.voice),
      ...toldByHand(found.row, call.memory.settings.facts.retrieval_confidence_threshold),
      // An agent that confirms what it was shown is no source of its own: only a person ends a review this way.
      ...reviewAfter(found.row, call.caller.voice, false, call.now),
    };
    if (found.type === "fact") await changeFact(sql, found.row.id, found.row.validity, set);
    else
      await changeRule(sql, found.row.id, found.row.validity, { ...set, validity: set.validity as Rule["validity"] });
    const confirmed = { ...found.row, ...set };
    const validTo = found.type === "fact" ? found.row.valid_to : null;
    await setVisibility(sql, found.row.id, visibleUntil(call.memory, confirmed, validTo));
    tell({
      type: `${found.type}.confirmed`,
      entity: { type: found.type, id: found.row.id },
      scope: found.scope,
      payload: { set, from: found.row.validity },
    });
    return {
      type: found.type,
      id: found.row.id,
      last_confirmed_at: set.last_confirmed_at.toISOString(),
      effective_confidence: effectiveConfidence(confirmed, call.now),
      state: set.validity,
    };
  });
  return answer;
}
