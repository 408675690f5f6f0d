/** The definition of a tool, from which every door derives its own form. */
import type { z } from "zod";
import type { Call } from "../memory/memory.ts";

/** read: changes nothing but counts of references; write: adds or changes; forget: hides a memory, which can be restored. */
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
  /** The answer as text, for a model or a person. */
  text(answer: z.infer<O>): string;
}

/** A tool in the list of tools: name and schemas keep their types, `run` and `text` take what those schemas have checked. */
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
