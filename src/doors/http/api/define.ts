/** The definition of a route of the pages' API. The Hono routes, the OpenAPI description and the types of the pages come from it. */
import { z } from "zod";
import type { Tool } from "../../../engine/tools/define.ts";
import type { Failure, Outcome, ToolRequest } from "../../../engine/tools/outcome.ts";
import type { View } from "../../../engine/views/define.ts";
import type { Backend, Principal } from "../../backend.ts";

/** A request whose caller is known. */
export interface Asked {
  readonly backend: Backend;
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  /** Of a GET the query, else the body; not checked yet. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly extras: Omit<ToolRequest, "tool" | "input">;
  readonly signal: AbortSignal;
}

/** What the description says of a route. */
export interface Described {
  /** The name of the operation and of its answer in the description. */
  readonly id: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly summary: string;
  /** Of the query or the body, without what stands in the path. */
  readonly input: z.ZodObject;
  readonly answer: z.ZodType;
  /** Answers with server-sent events, each of which is an answer. */
  readonly stream?: boolean;
}

export interface ApiRoute extends Described {
  run(asked: Asked): Promise<Outcome>;
}

export const MEMORY = "/api/butlers/:name/memory";

interface CallRoute {
  readonly id: string;
  readonly method?: "GET" | "POST";
  /** Below `MEMORY`; its parameters but `name` become arguments. */
  readonly path: string;
  readonly calls: View | Tool;
  readonly summary?: string;
}

/** A route that is one call of a view or a tool of the butler. */
export function callRoute({ id, method = "GET", path, calls, summary }: CallRoute): ApiRoute {
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => String(name));
  const taken = new Set(["request_context", ...named]);
  return {
    id,
    method,
    path: `${MEMORY}${path}`,
    summary: summary ?? calls.title,
    input: z.strictObject(Object.fromEntries(Object.entries(calls.input.shape).filter(([name]) => !taken.has(name)))),
    answer: calls.output,
    run: ({ backend, principal, params, given, extras, signal }) => {
      const { name = "", ...own } = params;
      return backend.invoke(principal, name, { tool: calls.name, input: { ...given, ...own }, ...extras }, { signal });
    },
  };
}

export const refusal = (code: Failure["code"], message: string, field?: string): Extract<Outcome, { ok: false }> => ({
  ok: false,
  error: { code, message, ...(field === undefined ? {} : { field }) },
});
