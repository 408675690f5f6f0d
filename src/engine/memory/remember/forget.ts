/** Forgets a memory: no search finds it, it can be restored, and the audit stream says who forgot it and why. */

import { next } from "../../domain/lifecycle/lifecycle.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { setEpisodeValidity } from "../../store/memories/episodes.ts";
import { changeFact } from "../../store/memories/facts.ts";
import { changeRule } from "../../store/memories/rules.ts";
import { findMemory } from "../find.ts";
import type { Call } from "../memory.ts";
import { openRedactor } from "../privacy.ts";
import { write } from "../write.ts";
import { hideFromSearch } from "./index-memory.ts";

export interface ForgetInput {
  readonly type?: MemoryType | undefined;
  readonly id: string;
  readonly reason?: string | undefined;
}

export interface ForgetAnswer {
  readonly type: MemoryType;
  readonly id: string;
  readonly state: "retracted";
  readonly recoverable: boolean;
}

export async function forget(call: Call, input: ForgetInput): Promise<ForgetAnswer> {
  const { answer } = await write(call, "memory_forget", input, async ({ sql, tell }): Promise<ForgetAnswer> => {
    const found = await findMemory(call, sql, input.id, input.type, true);
    const { type, row } = found;
    const told: ForgetAnswer = { type, id: row.id, state: "retracted", recoverable: true };
    if (row.validity === "retracted") return told;
    next(row.validity, "retract");
    const set = {
      validity: "retracted",
      forgotten_at: call.now,
      forget_reason: input.reason === undefined ? null : openRedactor(call.memory).text(input.reason),
    } as const;
    if (type === "fact") await changeFact(sql, row.id, row.validity, set);
    else if (type === "rule") await changeRule(sql, row.id, row.validity, set);
    else await setEpisodeValidity(sql, row.id, row.validity, set);
    await hideFromSearch(sql, [row.id], call.now);
    tell({
      type: `${type}.forgotten`,
      entity: { type, id: row.id },
      scope: found.scope,
      payload: { set, from: row.validity },
    });
    return told;
  });
  return answer;
}
