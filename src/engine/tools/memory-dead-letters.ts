import { z } from "zod";
import { clip } from "../domain/text/text.ts";
import { handleDeadLetters } from "../memory/learn/dead-letters.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

interface Letter {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly content: string;
}

const line = ({ id, state, attempts, error, content }: Letter): string =>
  `${id} ${state} after ${attempts} attempts: ${error ?? "no reason was kept"} | ${clip(content, 80)}`;

export const memoryDeadLetters = defineTool({
  name: "memory_dead_letters",
  title: "Episodes nobody could learn from",
  description:
    "Lists your episodes whose consolidation failed for good, with the reason. With redrive (ids) or all they are sent on their way again, as if never tried: do so after the reason is gone.",
  input: f.input({
    redrive: z.array(f.id).min(1).max(1_000).optional(),
    all: z.boolean().optional(),
    limit: f.limit(200).optional(),
  }),
  output: f.output({
    redriven: z.array(z.string()),
    letters: z.array(
      z.object({
        id: z.string(),
        state: z.enum(["failed", "dead_letter"]),
        attempts: z.number(),
        error: z.string().nullable(),
        content: z.string(),
        created_at: z.string(),
      }),
    ),
  }),
  effect: "write",
  core: false,
  async run(call, input) {
    const { redriven, letters } = await handleDeadLetters(call, input);
    return {
      redriven: [...redriven],
      letters: letters.map((letter) => ({
        id: letter.id,
        state: letter.consolidation_status === "failed" ? ("failed" as const) : ("dead_letter" as const),
        attempts: letter.consolidation_attempts,
        error: letter.last_consolidation_error,
        content: clip(letter.content, 300),
        created_at: letter.created_at.toISOString(),
      })),
    };
  },
  text: ({ redriven, letters }) =>
    [
      ...(redriven.length === 0 ? [] : [`${redriven.length} sent on their way again.`]),
      ...(letters.length === 0 ? ["No episode has failed for good."] : []),
      ...letters.map(line),
    ].join("\n"),
  brief: {
    shape: { redriven: z.unknown(), letters: z.array(z.unknown()) },
    tell: ({ redriven, letters }) => ({
      ...(redriven.length === 0 ? {} : { redriven: redriven.length }),
      letters: letters.map(line),
    }),
  },
});
