/** Turns away who sends too much, before the body is read. */
import type { MiddlewareHandler } from "hono";
import type { Failure } from "../../../engine/tools/outcome.ts";
import type { Principal } from "../../backend.ts";
import { type DoorEnv, turnAway } from "../guards.ts";
import type { RateGate } from "./rate-gate.ts";

/** What a caller has used up, and when there is more of it. */
export interface OverRate {
  /** The beginning of a sentence: "This token". */
  readonly what: string;
  readonly seconds: number;
  /** Every request would be refused until then, however short it is. */
  readonly every: boolean;
  /** It is the rate of the whole tenant. */
  readonly tenant: boolean;
}

export interface RateLimits {
  /** Why the request must wait, if so; `bytes`: the length of its body. */
  admit(principal: Principal, bytes: number): OverRate | undefined;
  /** A call that was refused counts too, a little. */
  refused(principal: Principal, over: Pick<OverRate, "tenant">): void;
  /** Whether there is time to tell a model why its call was refused; otherwise its client is told, which costs less. */
  mayExplain(principal: Principal): boolean;
}

export function rateFailure({ what, seconds }: Pick<OverRate, "what" | "seconds">): Failure {
  const retry = Math.max(1, Math.ceil(seconds));
  const message = `${what} is over its limit; try again in ${retry} ${retry === 1 ? "second" : "seconds"}.`;
  return { code: "unavailable", message, field: "rate", retry_after: retry };
}

/** A body that comes in pieces does not say how long it is. */
const UNKNOWN_LENGTH = 65_536;
const MCP_PATH = /^\/butlers\/[^/]+\/mcp$/;

export const isMcpPath = (path: string): boolean => MCP_PATH.test(path);
export const butlerIn = (path: string): string | undefined => /^\/(?:api\/)?butlers\/([^/]+)/.exec(path)?.[1];

/** No more of a body is charged than is read of it: one that claims to be endless would shut its token out for days. */
export function guardRate(
  limits: RateLimits,
  gate: RateGate | undefined,
  maxBodyBytes: number,
): MiddlewareHandler<DoorEnv> {
  return async (c, next) => {
    const principal = c.get("principal");
    const length = c.req.header("content-length");
    const bytes = c.req.method === "POST" ? Math.min(Number(length ?? UNKNOWN_LENGTH) || 0, maxBodyBytes) : 0;
    const over = limits.admit(principal, bytes);
    if (over === undefined) return next();
    limits.refused(principal, over);
    const failure = rateFailure(over);
    // A model reads the sentence only in the answer of a tool; the refusal is written down when the tool is called.
    if (isMcpPath(c.req.path) && limits.mayExplain(principal)) {
      c.set("overRate", failure);
      return next();
    }
    const header = c.req.header("authorization");
    if (over.every && header !== undefined) gate?.shut({ header, path: c.req.path, principal, over });
    const butler = butlerIn(c.req.path);
    return turnAway(c, failure, butler === undefined ? {} : { butler });
  };
}
