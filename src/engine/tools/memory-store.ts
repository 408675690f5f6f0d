import { z } from "zod";
import { shortId } from "../domain/short-id.ts";
import { rememberEpisode } from "../memory/remember/store-episode.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { episodeShape, redacted, shortEpisode } from "./memory-store-episode.ts";

export const memoryStore = defineTool({
  name: "memory_store",
  title: "Store a note",
  description: "Store a piece of text in a tier: eden (days, the default), mid (weeks) or long (a year).",
  input: f.input({
    content: f.text(f.CONTENT_MAX),
    tags: f.tags.optional(),
    tier: f.tier.optional().describe("eden if left out."),
  }),
  output: f.output({
    id: z.string(),
    tier: f.tier,
    expires_at: z.string(),
    duplicate: z.boolean(),
    redactions: f.redactions,
  }),
  effect: "write",
  core: false,
  async run(call, input) {
    return (await rememberEpisode(call, "memory_store", input, input)).answer;
  },
  text: (a) =>
    `${a.duplicate ? "Already stored" : "Stored"} ${shortId(a.id)} in ${a.tier} until ${f.day(a.expires_at)}${redacted(a.redactions)}.`,
  brief: { shape: episodeShape, tell: shortEpisode },
});
