/** Two ways for a question to the owner to fail: nobody is there (ask again), or somebody who does not answer (do not). */
import { errorCode } from "../home.ts";

/** The owner is alive but did not answer in time: repeating would only pile up work. */
export class OwnerTimeout extends Error {}

/** What is left of a deadline has a dozen decimals, and the words reach people. */
export const noAnswerWithin = (ms: number): OwnerTimeout => new OwnerTimeout(`no answer within ${Math.round(ms)} ms`);

/** EAGAIN is a full backlog: Linux refuses a connect to a busy unix socket that way. */
const NOBODY_THERE = new Set([
  "ENOENT",
  "ENOTDIR",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "ENOTCONN",
  "EAGAIN",
]);

/** The owner is not there, or went away while we spoke: the call may be repeated under the same key. */
export function isGone(error: unknown): boolean {
  if (error instanceof OwnerTimeout) return false;
  const code = errorCode(error);
  return code === undefined ? error instanceof Error && error.message.includes("cut off") : NOBODY_THERE.has(code);
}
