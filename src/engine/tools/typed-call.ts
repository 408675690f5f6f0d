/** A tool called by its name with the types of the menu, over anything that answers requests. */
import type { ToolAnswer, ToolInput, ToolName } from "./index.ts";
import type { Outcome, ToolRequest } from "./outcome.ts";

/** What may stand beside a tool and its input. */
export type RequestOptions = Omit<ToolRequest, "tool" | "input">;

/** The names of the menu are offered to whoever types; any other string is a name that only the running program knows. */
export type AnyToolName = ToolName | (string & Record<never, never>);

export type OutcomeOf<N extends string> = Outcome<ToolAnswer<N>>;

export type TypedCall<Options = RequestOptions> = <N extends AnyToolName>(
  tool: N,
  input: ToolInput<N>,
  options?: Options,
) => Promise<OutcomeOf<N>>;

/** The one place that says which answer belongs to which tool: it was made by that tool's output schema, here or in another process. */
export const typedCall =
  (ask: (request: ToolRequest) => Promise<Outcome>): TypedCall =>
  async <N extends AnyToolName>(tool: N, input: ToolInput<N>, options: RequestOptions = {}) =>
    (await ask({ tool, input, ...options })) as OutcomeOf<N>;
