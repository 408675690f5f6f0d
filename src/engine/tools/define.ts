/** One capability, described once; every door is a projection of this. */
import type { z } from "zod";
import type { Call } from "../memory/memory.ts";

/** read: changes nothing a user would miss; write: adds or moves; forget: takes something out of sight (recoverable). */
export type Effect = "read" | "write" | "forget";

export interface ToolSpec<N extends string, I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: N;
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

/** A tool as the menu holds it: name and schemas keep their types, `run` and `text` take what those schemas have checked. */
export interface Tool<
  N extends string = string,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
> extends Omit<ToolSpec<N, I, O>, "run" | "text"> {
  run(call: Call, input: Record<string, unknown>): Promise<Record<string, unknown>>;
  text(answer: Record<string, unknown>): string;
}

export const defineTool = <const N extends string, I extends z.ZodObject, O extends z.ZodObject>(
  spec: ToolSpec<N, I, O>,
): Tool<N, I, O> => spec;
