/** Turns away who sends too much, before the body is read. */
import type { MiddlewareHandler } from "hono";
import type { Failure } from "../../../engine/tools/outcome.ts";
import type { Principal } from "../../backend.ts";
import { type DoorEnv, turnAway } from "../guards.ts";

export interface RateLimits {
  /** Why the request must wait, if so; `bytes`: the length of its body. */
  admit(principal: Principal, bytes: number): Failure | undefined;
  /** Whether there is time to tell a model why its call was refused; otherwise its client is told, which costs less. */
  mayExplain(principal: Principal): boolean;
}

/** A body that comes in pieces does not say how long it is. */
const UNKNOWN_LENGTH = 65_536;
const MCP_PATH = /^\/butlers\/[^/]+\/mcp$/;

export function guardRate(limits: RateLimits): MiddlewareHandler<DoorEnv> {
  return async (c, next) => {
    const principal = c.get("principal");
    const length = c.req.header("content-length");
    const bytes = c.req.method === "POST" ? Number(length ?? UNKNOWN_LENGTH) || 0 : 0;
    const failure = limits.admit(principal, bytes);
    if (failure === undefined) return next();
    // A model reads the sentence only in the answer of a tool; the refusal is written down when the tool is called.
    if (MCP_PATH.test(c.req.path) && limits.mayExplain(principal)) {
      c.set("overRate", failure);
      return next();
    }
    const butler = /^\/(?:api\/)?butlers\/([^/]+)/.exec(c.req.path)?.[1];
    return turnAway(c, failure, butler === undefined ? {} : { butler });
  };
}
