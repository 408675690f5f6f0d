import { z } from "zod";
import { EVERY_SCOPE, ownSteps } from "../../domain/scope.ts";
import { context } from "../../memory/recall/context.ts";
import { search } from "../../memory/recall/search.ts";
import * as f from "../../tools/fields.ts";
import { contextAnswer } from "../../tools/memory-context.ts";
import { defineView } from "../define.ts";
import { viewTexts } from "../lists/texts.ts";

/** Candidates that are looked at for what was left out. */
const LOOKED_AT = 40;

export const viewPreview = defineView({
  name: "view_preview",
  title: "The block that a prompt would be given, and what was left out of it",
  input: f.input({
    prompt: f.text(f.CONTENT_MAX),
    token_budget: z.number().int().min(1).max(100_000).optional(),
    as_of: f.asOf.optional(),
  }),
  output: f.output({
    ...contextAnswer,
    tokens_by_section: z.array(z.object({ name: z.string(), tokens: z.number() })).describe("Frame first."),
    left_out: z
      .array(
        z.object({
          type: f.type,
          id: z.string(),
          text: z.string(),
          gate: z
            .enum(["confidence", "scope", "budget", "rank"])
            .describe("The first that kept it out; `why` says it in full."),
          effective_confidence: z.number(),
          relevance: z.number(),
        }),
      )
      .describe("What a search for the prompt finds and the block does not hold."),
    texts: viewTexts.output.shape.memories.describe("Of the items of the sections."),
  }),
  async run(call, { prompt, token_budget, as_of }) {
    const block = await context(call, { trigger_prompt: prompt, token_budget, as_of });
    const inBlock = block.sections.flatMap(({ items }) => items.map(({ id }) => id));
    const shown = new Set(inBlock);
    const found = await search(call, {
      query: prompt.slice(0, 4_000),
      limit: LOOKED_AT,
      min_confidence: 0,
      min_relevance: 0,
      as_of,
      scope: call.caller.admin ? EVERY_SCOPE : undefined,
    });
    const own = new Set(ownSteps(call.caller));
    const least = call.memory.settings.facts.retrieval_confidence_threshold;
    const dropping = new Set(block.sections.filter(({ dropped }) => dropped > 0).map(({ name }) => name));
    const { memories } = (await viewTexts.run(call, { ids: inBlock })) as z.infer<typeof viewTexts.output>;
    return {
      ...block,
      tokens_by_section: tokensOf(block.text, (text) => call.memory.tokenizer.count(text)),
      left_out: found.results
        .filter(({ id }) => !shown.has(id))
        .map(({ type, id, content, effective_confidence, relevance, scope }) => ({
          type,
          id,
          text: content.slice(0, 300),
          effective_confidence,
          relevance,
          gate: !own.has(scope)
            ? ("scope" as const)
            : type !== "episode" && effective_confidence < least
              ? ("confidence" as const)
              : dropping.has(`${type}s`)
                ? ("budget" as const)
                : ("rank" as const),
        })),
      texts: memories,
    };
  },
});

const NAMES: Readonly<Record<string, string>> = {
  "# Always": "profile",
  "# Facts": "facts",
  "# Rules": "rules",
  "# Earlier": "episodes",
};

/** The lines of memories begin with a dash, so a heading is always one of ours. */
function tokensOf(text: string, count: (text: string) => number) {
  const parts: { name: string; text: string }[] = [];
  let frame = "";
  for (const line of text.split(/(?<=\n)/)) {
    const name = NAMES[line.trimEnd()];
    const last = parts.at(-1);
    if (name !== undefined) parts.push({ name, text: line });
    else if (last === undefined || line.startsWith("</")) frame += line;
    else last.text += line;
  }
  return [{ name: "frame", text: frame }, ...parts].map((part) => ({ name: part.name, tokens: count(part.text) }));
}
