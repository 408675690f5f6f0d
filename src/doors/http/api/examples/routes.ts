/** Example memories by one click, and away again by another. */
import { z } from "zod";
import type { ApiRoute, Asked } from "../define.ts";
import { writeRoute } from "../write-routes.ts";
import { answered, call, examplesIn, TAG } from "./memories.ts";
import { tellExamples } from "./tell.ts";

const none = z.strictObject({});

const Told = z.object({
  tag: z.string().describe("What all of them are marked with, but for those that were learned from their episodes."),
  projects: z.array(z.string()).describe("They belong to these: an agent elsewhere is told nothing of them."),
  episodes: z.number(),
  facts: z.number(),
  rules: z.number(),
  note: z.string().optional().describe("Why little was learned from the episodes, if so."),
});

const Removed = z.object({ forgotten: z.number() });

/**
 * An actor whose name begins so is a job's: taking examples away is no judgement of what was learned from them, and must not teach the reader
 * to learn less. The reason says who asked for it.
 */
const ACTOR = "job:examples";

async function removeExamples(asked: Asked) {
  const { all } = await examplesIn(asked);
  const reason = `The examples were taken away by ${asked.principal.name}.`;
  for (const { id } of all) await call(asked, "memory_forget", { id, reason }, { actor: ACTOR });
  return { forgotten: all.length };
}

export const exampleRoutes: readonly ApiRoute[] = [
  writeRoute(
    {
      id: "TellExamples",
      path: "/examples",
      summary: `Fills an empty memory with an invented story, marked with the tag ${TAG}`,
      input: none,
      answer: Told,
    },
    answered(tellExamples),
  ),
  writeRoute(
    {
      id: "RemoveExamples",
      method: "DELETE",
      path: "/examples",
      summary: "Forgets the invented story and what was learned from it",
      input: none,
      answer: Removed,
    },
    answered(removeExamples),
  ),
];

export type ApiExamples = z.infer<typeof Told>;
export type ApiExamplesRemoved = z.infer<typeof Removed>;
