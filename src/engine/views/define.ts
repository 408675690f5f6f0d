/**
 * The definition of a view: a read for the pages of people. It is called by name like a tool, with the same checks of the caller, the
 * tenant, the scope and the clock, but no agent sees it: the list of tools costs every session tokens. Looking counts as no reference.
 */
import type { z } from "zod";
import type { Call } from "../memory/memory.ts";
import type { Effect } from "../tools/define.ts";

export interface ViewSpec<N extends string, I extends z.ZodObject, O extends z.ZodObject> {
  readonly name: N;
  readonly title: string;
  readonly input: I;
  readonly output: O;
  run(call: Call, input: z.infer<I>): Promise<z.input<O>>;
}

export interface View<
  N extends string = string,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
> extends Omit<ViewSpec<N, I, O>, "run"> {
  readonly effect: Effect;
  run(call: Call, input: Record<string, unknown>): Promise<Record<string, unknown>>;
}

export const defineView = <const N extends `view_${string}`, I extends z.ZodObject, O extends z.ZodObject>(
  spec: ViewSpec<N, I, O>,
): View<N, I, O> => ({ ...spec, effect: "read" });

/** What people do from a command or a page and no agent is offered: to undo, to erase, to have everything about a subject. */
export const defineControl = <const N extends `control_${string}`, I extends z.ZodObject, O extends z.ZodObject>(
  spec: ViewSpec<N, I, O> & { readonly effect: Effect },
): View<N, I, O> => spec;
