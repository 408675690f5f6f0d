/**
 * The stdio door, in the process that an agent starts: answers what is known without a memory, and hands everything else to the owner. It
 * loads nothing of the protocol's library. Only protocol is ever written to `stdout`.
 */
import { MemoryError, reasonOf } from "../../../engine/domain/errors.ts";
import { isRecord } from "../../../engine/domain/record.ts";
import type { Failure } from "../../../engine/tools/outcome.ts";
import { type Era, eraAfter } from "./era.ts";
import type { Request, RequestId } from "./json-rpc.ts";
import { failedAnswer, type Introduction, knownAnswer } from "./known-answers.ts";
import { cancelledBy, type LineOptions, type Lines, openLines } from "./lines.ts";

/** A request for the owner, and what it has to know of the connection. */
export interface Handed {
  readonly message: Request;
  readonly era: Era;
}

export interface ThinLineOptions extends Introduction, Omit<LineOptions, "onRequest" | "onNotification"> {
  /** What was decided before; default: nothing. */
  readonly era?: Era | undefined;
  /**
   * Resolves with the response as JSON; until then `tell` is called with each notification that belongs to it. After `signal` was aborted
   * nobody waits any more. Rejects with the reason why there is no answer.
   */
  ask(handed: Handed, tell: (notification: string) => void, signal: AbortSignal): Promise<string>;
}

export function serveThinLine(options: ThinLineOptions): Pick<Lines, "close" | "closed"> {
  let { era = "opening" } = options;
  const underWay = new Map<RequestId, AbortController>();
  const { versions } = options.known.modern;
  const lines = openLines({
    ...options,
    onRequest(request) {
      era = eraAfter(era, request, versions);
      const known = knownAnswer(options, era, request);
      if (known !== undefined) lines.answer(request.id, known);
      else void hand(options, lines, { message: request, era }, underWay);
    },
    onNotification(notification) {
      era = eraAfter(era, notification, versions);
      // The others mean nothing to a server that keeps nothing of a connection.
      const cancelled = cancelledBy(notification);
      if (cancelled !== undefined) underWay.get(cancelled)?.abort();
    },
  });
  return lines;
}

async function hand(
  options: ThinLineOptions,
  lines: Lines,
  handed: Handed,
  underWay: Map<RequestId, AbortController>,
): Promise<void> {
  const { message, era } = handed;
  const cancel = new AbortController();
  underWay.set(message.id, cancel);
  const tell = growing((notification) => {
    if (!cancel.signal.aborted) lines.write(notification);
  });
  try {
    lines.answer(message.id, await options.ask(handed, tell, cancel.signal));
  } catch (error) {
    if (!cancel.signal.aborted) lines.answer(message.id, failedAnswer(options, era, message, failureOf(error)));
  } finally {
    if (underWay.get(message.id) === cancel) underWay.delete(message.id);
  }
}

/** A request that is repeated with the next owner reports from the beginning; progress must grow. */
function growing(tell: (notification: string) => void): (notification: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (notification) => {
    const { params } = JSON.parse(notification) as { params?: unknown };
    const progress = isRecord(params) && typeof params.progress === "number" ? params.progress : undefined;
    if (progress !== undefined && progress <= last) return;
    last = progress ?? last;
    tell(notification);
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof MemoryError) return { code: error.code, message: error.message };
  return { code: "unavailable", message: `The memory could not be reached: ${reasonOf(error)}` };
}
