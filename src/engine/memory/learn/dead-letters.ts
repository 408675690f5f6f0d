/** Episodes that could not be consolidated: listed with the reason, and redriven when a person asks for it. */
import type { Consolidation } from "../../domain/episode.ts";
import { type DeadLetter, deadLetters, setStanding } from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { write } from "../write.ts";

const LIMIT = 50;
const AT_ONCE = 1_000;

export interface DeadLettersInput {
  readonly redrive?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

export interface DeadLettersAnswer {
  readonly redriven: readonly string[];
  readonly letters: readonly DeadLetter[];
}

export async function handleDeadLetters(call: Call, input: DeadLettersInput): Promise<DeadLettersAnswer> {
  const { tenant, butler } = call.caller;
  const listed = (limit: number) => deadLetters(call.memory.db, { tenant, butler }, limit);
  const wanted = input.redrive ?? [];
  if (wanted.length === 0 && input.all !== true) return { redriven: [], letters: await listed(input.limit ?? LIMIT) };
  const chosen = (await listed(AT_ONCE)).filter(({ id }) => input.all === true || wanted.includes(id));
  const { answer } = await write(call, "memory_dead_letters", input, async ({ sql, tell }) => {
    const redriven: string[] = [];
    for (const from of ["failed", "dead_letter"] as const satisfies readonly Consolidation[])
      for (const id of await setStanding(
        sql,
        from,
        chosen.filter((letter) => letter.consolidation_status === from).map(({ id }) => ({ id, ...PENDING_AGAIN })),
      )) {
        redriven.push(id);
        tell({
          type: "episode.redriven",
          entity: { type: "episode", id },
          scope: butler,
          payload: { set: PENDING_AGAIN, from },
        });
      }
    return { redriven };
  });
  return { redriven: answer.redriven, letters: await listed(input.limit ?? LIMIT) };
}

const PENDING_AGAIN = {
  consolidation_status: "pending",
  consolidation_attempts: 0,
  last_consolidation_error: null,
  next_consolidation_retry_at: null,
} as const;
