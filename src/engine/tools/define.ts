/** One capability, described once; every door is a projection of this. */
import type { z } from "zod";
import type { Call } from "../memory/memory.ts";

/** read: changes nothing a user would miss; write: adds or moves; forget: takes something out of sight (recoverable). */
export type Effect = "read" | "write" | "forget";

export interface ToolSpec<I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** For the agent that decides whether to call it. */
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly effect: Effect;
  /** Part of the small set an agent sees by default. */
  readonly core: boolean;
  run(call: Call, input: z.infer<I>): Promise<z.input<O>>;
  /** The text twin: what a model or a person reads. */
  text(answer: z.infer<O>): string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly effect: Effect;
  readonly core: boolean;
  run(call: Call, input: Record<string, unknown>): Promise<Record<string, unknown>>;
  text(answer: Record<string, unknown>): string;
}

export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(spec: ToolSpec<I, O>): Tool {
  return {
    ...spec,
    run: (call, input) => spec.run(call, input as z.infer<I>),
    text: (answer) => spec.text(answer as z.infer<O>),
  };
}
