import { z } from "zod";
import { shortId } from "../domain/short-id.ts";
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

export const episodeShape = {
  id: z.string(),
  duplicate: z.boolean(),
  taken_out: z.string().describe("Secrets that were not stored."),
  expires_at: z.string(),
};

type Stored = z.infer<z.ZodObject<typeof episodeAnswer>>;

export const shortEpisode = ({ id, duplicate, redactions, expires_at }: Stored) => ({
  id: shortId(id),
  ...(duplicate ? { duplicate } : {}),
  ...takenOut(redactions),
  expires_at: f.day(expires_at),
});

export const memoryStoreEpisode = defineTool({
  name: "memory_store_episode",
  title: "Store an episode",
  description:
    "Store what happened: a decision, a result, an observation. It lives for days; what matters is later distilled into facts and rules. Not for long output, secrets, guesses, or what the project's files say.",
  input: f.input(episodeFields),
  output: f.output(episodeAnswer),
  effect: "write",
  core: true,
  async run(call, input) {
    const { answer, repeated } = await rememberEpisode(call, "memory_store_episode", input, input);
    return repeated && input.idempotency_key !== undefined ? { ...answer, duplicate: true } : answer;
  },
  text: (a) =>
    `${a.duplicate ? "Already stored" : "Stored"} episode ${shortId(a.id)} (${a.tier}, until ${f.day(a.expires_at)})${redacted(a.redactions)}.`,
  brief: { shape: episodeShape, tell: shortEpisode },
});

type Redactions = readonly { readonly kind: string; readonly count: number }[];

const inWords = (found: Redactions): string => found.map((r) => `${r.count} × ${r.kind}`).join(", ");

export const redacted = (found: Redactions): string => (found.length === 0 ? "" : `; taken out: ${inWords(found)}`);

export const takenOut = (found: Redactions) => (found.length === 0 ? {} : { taken_out: inWords(found) });
