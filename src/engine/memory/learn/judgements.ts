/** Learning from use: the bars of the reader as this house has moved them, which examples did it, and back to the shipped ones. */
import type { Sql } from "../../adapters/db/port.ts";
import { type AdaptedBar, adaptBars, barsInForce } from "../../domain/learning/adapt-bars.ts";
import type { Bars, Kind } from "../../domain/learning/kinds.ts";
import { redact } from "../../domain/redaction/redact.ts";
import { butlerOf, canSee, checkWholeLadder } from "../../domain/scope.ts";
import { type JudgedMemory, judgedMemories, lastReset, RESET_EVENT } from "../../store/jobs/judgements.ts";
import type { Call } from "../memory.ts";
import { eventOf, write } from "../write.ts";

export interface LearningInput {
  readonly limit?: number | undefined;
  readonly reset?: boolean | undefined;
}

export interface ShownExample extends Pick<JudgedMemory, "type" | "id" | "kind" | "judgement"> {
  readonly sureness?: number;
  readonly judged_at: string;
  readonly text?: string;
}

export interface LearningAnswer {
  readonly butler: string;
  /** Who reads the episodes; the bars are those of `local`. */
  readonly reader: string;
  readonly reset: boolean;
  readonly since?: string;
  readonly bars: readonly (AdaptedBar & { readonly kind: Kind })[];
  readonly examples: readonly ShownExample[];
}

const LIMIT = 10;

const judgedFor = ({ memory, caller }: Call, sql: Sql = memory.db): Promise<JudgedMemory[]> =>
  judgedMemories(sql, {
    ...{ tenant: caller.tenant, butler: butlerOf(caller.butler) },
    threshold: memory.settings.facts.retrieval_confidence_threshold,
  });

/** What the reader is to be as sure of as this house has taught it. */
export const barsOf = async (call: Call): Promise<Bars> => barsInForce(adaptBars(await judgedFor(call)));

/** Where nobody has judged anything. */
export const SHIPPED_BARS: Bars = barsInForce(adaptBars([]));

export async function learning(call: Call, input: LearningInput): Promise<LearningAnswer> {
  const { memory, caller } = call;
  const butler = butlerOf(caller.butler);
  checkWholeLadder(caller);
  const reset = input.reset === true && (await resetBars(call, input, butler));
  const judged = await judgedFor(call);
  const since = await lastReset(memory.db, caller.tenant, butler);
  return {
    butler,
    reader: memory.extractor?.provider ?? "none",
    reset,
    ...(since === undefined ? {} : { since: since.toISOString() }),
    bars: Object.entries(adaptBars(judged)).map(([kind, bar]) => ({ kind: kind as Kind, ...bar })),
    examples: judged
      .filter(({ scope }) => canSee(caller, scope))
      .slice(0, input.limit ?? LIMIT)
      .map((one) => shown(call, one)),
  };
}

/** Only the person is shown what a forgotten memory said. Redacted whatever the settings say: examples are made to be handed on. */
function shown({ caller }: Call, one: JudgedMemory): ShownExample {
  const { type, id, kind, judgement, sureness, judged_at, validity, content } = one;
  const hidden = validity === "retracted" && caller.voice !== "user";
  return {
    ...{ type, id, kind, judgement, judged_at: judged_at.toISOString() },
    ...(sureness === null ? {} : { sureness }),
    ...(hidden ? {} : { text: redact(content).text }),
  };
}

/** One event, after which earlier judgements count no more. Where there are none, nothing is written: false. */
async function resetBars(call: Call, input: LearningInput, butler: string): Promise<boolean> {
  const { answer } = await write(call, "memory_learning", input, async ({ sql, record }) => {
    const { length } = await judgedFor(call, sql);
    if (length === 0) return { reset: false };
    const entity = { type: "consolidation", id: call.memory.ids.next(call.now) } as const;
    record(eventOf(call, { type: RESET_EVENT, entity, scope: butler, payload: { examples: length } }));
    return { reset: true };
  });
  return answer.reset;
}
