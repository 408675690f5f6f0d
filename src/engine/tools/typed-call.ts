/** Calls a tool by its name with that tool's types, over anything that answers requests. */
import type { ToolAnswer, ToolInput, ToolName } from "./index.ts";
import type { Outcome, ToolRequest } from "./outcome.ts";

/** What may be given beside a tool and its input. */
export type RequestOptions = Omit<ToolRequest, "tool" | "input">;

/** An editor completes the known names; any other string is allowed, for a name that is known only at run time. */
export type AnyToolName = ToolName | (string & Record<never, never>);

export type OutcomeOf<N extends string> = Outcome<ToolAnswer<N>>;

export type TypedCall<Options = RequestOptions> = <N extends AnyToolName>(
  tool: N,
  input: ToolInput<N>,
  options?: Options,
) => Promise<OutcomeOf<N>>;

/** The only cast from an outcome to a tool's answer type: the tool's output schema has checked it, here or in another process. */
export const typedCall =
  (ask: (request: ToolRequest) => Promise<Outcome>): TypedCall =>
  async <N extends AnyToolName>(tool: N, input: ToolInput<N>, options: RequestOptions = {}) =>
    (await ask({ tool, input, ...options })) as OutcomeOf<N>;
