import { z } from "zod";
import { CONSOLIDATION } from "../../domain/episode.ts";
import { NEVER } from "../../domain/lifecycle/tiers.ts";
import type { Call } from "../../memory/memory.ts";
import { type ListedEpisode, listEpisodes, type Taught, taughtBy } from "../../store/browse/episodes.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";
import { idsWithWords } from "./with-words.ts";

const Lesson = z.object({
  type: z.enum(["fact", "rule"]),
  id: z.string(),
  text: z.string().nullable().describe("Null when it was forgotten."),
  state: f.state,
  relation: z.enum(["derived_from", "supports"]).describe("supports: it was known, and the episode says the same."),
});

export const Episode = z.object({
  id: z.string(),
  content: z
    .string()
    .nullable()
    .describe("Its beginning; null when it was forgotten and the caller may not bring it back."),
  length: z.number().describe("Characters of the whole."),
  summary: z.string().nullable(),
  state: f.state,
  scope: z.string(),
  session_id: z.string().nullable(),
  speaker: z.string().nullable(),
  tier: f.tier,
  promoted_at: z.string().nullable(),
  consolidation: z.object({
    status: z.enum(CONSOLIDATION),
    attempts: z.number(),
    error: z.string().nullable(),
    retry_at: z.string().nullable(),
  }),
  occurred_at: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable().describe("Null when its use has made it lasting."),
  importance: z.number(),
  trust: v.trust,
  tags: z.array(z.string()),
  references: z.number(),
  last_referenced_at: z.string().nullable(),
  taught: z.array(Lesson),
});

export const viewEpisodes = defineView({
  name: "view_episodes",
  title: "Episodes, page by page, with what each taught",
  input: f.input({
    state: z.enum(["active", "retracted"]).optional(),
    session: f.text(200).optional(),
    tier: f.tier.optional(),
    status: z.enum(CONSOLIDATION).optional(),
    ...v.placeFilter,
    tag: f.text(64).optional(),
    q: f.text(400).optional().describe("Only episodes with these words."),
    as_of: f.asOf.optional().describe("Only what was stored by then, of what has not been deleted since."),
    cursor,
    limit: v.limit,
  }),
  output: f.output({ episodes: z.array(Episode), next_cursor: nextCursor }),
  async run(call, input) {
    const { limit = v.PAGE, state = "active", session, tier, status, tag, as_of } = input;
    const { db } = call.memory;
    const seen = v.seenBy(call, input);
    const after = placeOf(input.cursor, 1)?.[0];
    const ids = input.q === undefined ? undefined : await idsWithWords(call, "episode", input.q, input.scope);
    const filter = { state, session, tier, status, tag, ids, until: as_of };
    const found = await listEpisodes(db, { ...seen, ...filter, after, limit: limit + 1 });
    const { rows, last } = v.pageOf(found, limit);
    const taught =
      rows.length === 0
        ? []
        : await taughtBy(
            db,
            v.seenBy(call),
            rows.map(({ id }) => id),
          );
    return {
      episodes: rows.map((episode) => shownEpisode(call, episode, taught)),
      next_cursor: last === undefined ? null : cursorOf(last.id),
    };
  },
});

function shownEpisode(call: Call, episode: ListedEpisode, taught: readonly Taught[]): z.input<typeof Episode> {
  return {
    id: episode.id,
    content: v.textFor(call, episode.validity, episode.content),
    length: episode.length,
    summary: episode.summary === null ? null : v.textFor(call, episode.validity, episode.summary),
    state: episode.validity,
    scope: episode.butler,
    session_id: episode.session_id,
    speaker: episode.speaker,
    tier: episode.tier,
    promoted_at: v.iso(episode.promoted_at),
    consolidation: {
      status: episode.consolidation_status,
      attempts: episode.consolidation_attempts,
      error: episode.last_consolidation_error,
      retry_at: v.iso(episode.next_consolidation_retry_at),
    },
    occurred_at: episode.occurred_at.toISOString(),
    created_at: episode.created_at.toISOString(),
    expires_at: episode.expires_at >= NEVER ? null : episode.expires_at.toISOString(),
    importance: episode.importance,
    trust: episode.trust,
    tags: [...episode.tags],
    references: episode.reference_count,
    last_referenced_at: v.iso(episode.last_referenced_at),
    taught: taught
      .filter((lesson) => lesson.episode === episode.id)
      .map(({ type, id, text, state, relation }) => ({ type, id, text, state: f.state.parse(state), relation })),
  };
}
