/** Questions of a session to the owner, within the time that a session waits. */
import { askAtOnce, type OwnerAccess } from "../../daemon/line/ask-owner.ts";
import { OwnerError } from "../../daemon/line/owner-error.ts";

/** An agent that waits longer than this for its memory is slower than one without. */
export const SESSION_WAIT_MS = 2_000;

/** Rejects with a message for a person. `until` is on the clock of `performance.now()`. */
export async function askOwner(access: OwnerAccess, path: string, body: unknown, until: number): Promise<unknown> {
  try {
    return await askAtOnce(access, { method: "POST", path, body }, { reach: until, answer: until });
  } catch (error) {
    if (!(error instanceof OwnerError) || error.code !== "timeout") throw error;
    throw new Error(`no answer within ${SESSION_WAIT_MS / 1_000} s`, { cause: error });
  }
}
