import { z } from "zod";
import { rememberEpisode } from "../memory/remember/store-episode.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

/** Shared with the batch tool, whose rows are checked one by one. */
export const episodeFields = {
  content: f.text(f.CONTENT_MAX).describe("What happened, in plain words."),
  butler: f.butler.optional(),
  session_id: f.name.optional().describe("The session it happened in."),
  importance: f.importance.optional().describe("0 to 10; 5 if left out."),
  tags: f.tags.optional(),
  speaker: f.name.optional().describe("Who said it."),
  occurred_at: f.time.optional().describe("When it happened, if not now (for back-fill)."),
  metadata: f.metadata.optional(),
  idempotency_key: f.idempotencyKey.optional(),
};

export const episodeAnswer = {
  id: z.string(),
  tier: f.tier,
  expires_at: z.string(),
  duplicate: z.boolean().describe("True when this episode was already there."),
  redactions: f.redactions,
};

export const memoryStoreEpisode = defineTool({
  name: "memory_store_episode",
  title: "Store an episode",
  description:
    "Store what happened in a session: an observation, a decision, a result. Episodes live for days; what matters in them is later distilled into facts and rules. Telling the same thing twice in a session stores it once.",
  input: f.input(episodeFields),
  output: f.output(episodeAnswer),
  effect: "write",
  core: true,
  async run(call, input) {
    const { answer, repeated } = await rememberEpisode(call, "memory_store_episode", input, input);
    return repeated && input.idempotency_key !== undefined ? { ...answer, duplicate: true } : answer;
  },
  text: (a) =>
    `${a.duplicate ? "Already stored" : "Stored"} episode ${a.id} (${a.tier}, until ${a.expires_at.slice(0, 10)})${redacted(a.redactions)}.`,
});

export function redacted(found: readonly { kind: string; count: number }[]): string {
  return found.length === 0 ? "" : `; taken out: ${found.map((r) => `${r.count} × ${r.kind}`).join(", ")}`;
}
