/** The definition of a tool, from which every door derives its own form. */
import type { z } from "zod";
import type { Call } from "../memory/memory.ts";

/** read: changes nothing but counts of references; write: adds or changes; forget: hides a memory, which can be restored. */
export type Effect = "read" | "write" | "forget";

/**
 * The answer in short, as JSON for a model: clients hand their model this or the text. The most important comes first, because what
 * would make it longer than the text is left out (doors/mcp/tool-result.ts).
 */
export interface Brief<A> {
  readonly shape: z.ZodRawShape;
  tell(answer: A): Record<string, unknown>;
}

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
  /** Without it the whole answer is cut to the length of the text. */
  readonly brief?: Brief<z.infer<O>>;
}

/** A tool in the list of tools: name and schemas keep their types, `run` and `text` take what those schemas have checked. */
export interface Tool<
  N extends string = string,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
> extends Omit<ToolSpec<N, I, O>, "run" | "text" | "brief"> {
  run(call: Call, input: Record<string, unknown>): Promise<Record<string, unknown>>;
  text(answer: Record<string, unknown>): string;
  readonly brief?: { readonly shape: z.ZodRawShape; tell(answer: Record<string, unknown>): Record<string, unknown> };
}

export const defineTool = <const N extends string, I extends z.ZodObject, O extends z.ZodObject>(
  spec: ToolSpec<N, I, O>,
): Tool<N, I, O> => spec;
