/** Asks an owner for what changed in the memory of a butler. */
import type { OwnerClient } from "../../daemon/line/client.ts";
import { EVERY_SCOPE } from "../../engine/domain/scope.ts";
import type { Failure } from "../../engine/tools/outcome.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";
import type { StreamEvent } from "./happenings.ts";

export interface StreamQuestion {
  readonly since?: string | undefined;
  readonly cursor?: string | undefined;
  readonly session_id?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** The last so many; undefined: all that there are. */
  readonly newest?: number | undefined;
}

export type StreamAnswer =
  | { readonly events: readonly StreamEvent[]; readonly cursor: string }
  | { readonly failure: Failure };

/** The log of sessions may hold anything; one id that is none would refuse the question. */
export const MEMORY_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const PAGE = 1_000;
const MOST_IDS = 1_000;
/** More than that is not read for people. */
const MOST = 20_000;

export async function askStream(client: OwnerClient, butler: string, asked: StreamQuestion): Promise<StreamAnswer> {
  const call = typedCall((request) => client.invoke(butler, request));
  const { newest, since, session_id, ids } = asked;
  const events: StreamEvent[] = [];
  let { cursor } = asked;
  // The person of this home reads every scope; a shared Memory Butler may keep its token to one.
  let scope: string | undefined = EVERY_SCOPE;
  for (;;) {
    const outcome = await call("memory_activity_stream", {
      changes: true,
      limit: Math.min(PAGE, newest ?? PAGE),
      ...(newest === undefined ? {} : { newest: true }),
      ...(since === undefined ? {} : { since }),
      ...(cursor === undefined ? {} : { cursor }),
      ...(session_id === undefined ? {} : { session_id }),
      ...(ids === undefined ? {} : { ids: ids.filter((id) => MEMORY_ID.test(id)).slice(0, MOST_IDS) }),
      ...(scope === undefined ? {} : { scope }),
    });
    if (!outcome.ok && outcome.error.code === "forbidden" && scope !== undefined) {
      scope = undefined;
      continue;
    }
    if (!outcome.ok) return { failure: outcome.error };
    const { answer } = outcome;
    // The service of another build, or one that answers in another form.
    if (!Array.isArray(answer.events)) return { failure: UNKNOWN_FORM };
    events.push(...answer.events);
    cursor = answer.next_cursor;
    if (newest !== undefined || !answer.more || events.length >= MOST) return { events, cursor };
  }
}

const UNKNOWN_FORM: Failure = { code: "unavailable", message: "The memory answers in a form that is not known here." };
