import { z } from "zod";
import { KINDS } from "../domain/learning/kinds.ts";
import { shortId } from "../domain/short-id.ts";
import { clip } from "../domain/text/text.ts";
import { learning } from "../memory/learn/judgements.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

const Bar = z.object({
  kind: z.enum(KINDS),
  shipped: z.number(),
  bar: z.number().describe("In force."),
  wanted: z.number(),
  unwanted: z.number(),
  examples: z.number(),
});

const barLine = ({ kind, shipped, bar, examples }: z.infer<typeof Bar>): string =>
  `${kind} ${bar.toFixed(2)}${examples === 0 ? "" : ` (shipped ${shipped.toFixed(2)}, ${examples} examples)`}`;

export const memoryLearning = defineTool({
  name: "memory_learning",
  title: "How sure the reader has to be",
  description:
    "How sure the built-in reader must be of a sentence to keep it, by kind, and how forgetting, correcting, marking and confirming what it learned has moved that. reset starts again from the shipped bars: only if the person asks for it.",
  input: f.input({
    limit: f.limit(1_000).optional().describe("Of examples, the latest first; 10 if left out."),
    reset: z.boolean().optional(),
  }),
  output: f.output({
    butler: z.string(),
    reader: z.string().describe("Who reads the episodes; the bars are those of `local`."),
    reset: z.boolean(),
    since: z.string().optional().describe("When the bars were last reset."),
    bars: z.array(Bar).readonly(),
    examples: z
      .array(
        z.object({
          type: z.enum(["fact", "rule"]),
          id: z.string(),
          kind: z.enum(KINDS),
          judgement: z.string(),
          sureness: z.number().optional(),
          judged_at: z.string(),
          text: z.string().optional().describe("Absent for others than the person if it was forgotten."),
        }),
      )
      .readonly(),
  }),
  effect: "write",
  core: false,
  run: (call, input) => learning(call, input),
  text: ({ reset, bars, examples }) =>
    [
      ...(reset ? ["The bars are the shipped ones again."] : []),
      `The reader keeps a sentence when it is at least so sure of it: ${bars.map(barLine).join(", ")}.`,
      ...examples.map(({ id, kind, judgement, text }) => `${judgement} ${kind} ${shortId(id)} ${clip(text ?? "", 80)}`),
    ].join("\n"),
  brief: {
    shape: { reset: z.unknown(), bars: z.unknown(), examples: z.unknown() },
    tell: ({ reset, bars, examples }) => ({
      ...(reset ? { reset } : {}),
      bars: bars.map(barLine).join(", "),
      ...(examples.length === 0 ? {} : { examples: examples.length }),
    }),
  },
});
