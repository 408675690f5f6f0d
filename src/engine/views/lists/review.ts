import { z } from "zod";
import { isKeptOut } from "../../domain/lifecycle/quarantine.ts";
import { countReviews, listWaiting } from "../../store/browse/review.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";

const Claim = z.object({ type: f.type, id: z.string(), trust: v.trust, text: z.string() });

export const ReviewItem = z.object({
  type: z.enum(["fact", "rule"]),
  id: z.string(),
  scope: z.string(),
  state: f.state,
  text: z.string(),
  trust: v.trust,
  kept_out: z
    .boolean()
    .describe("It comes from an untrusted source and no other has said it: no context block holds it."),
  claims: z.array(Claim).describe("What others have said against it, the newest first."),
  review_until: z.string().describe("Then it leaves this list by itself."),
  created_at: z.string(),
  event_id: z.string().nullable().describe("What put it on the list; it can be undone by this id."),
});

export const viewReview = defineView({
  name: "view_review",
  title: "What waits for a person: memories of untrusted sources, and contradicted ones",
  input: f.input({ ...v.placeFilter, cursor, limit: v.limit }),
  output: f.output({ total: z.number(), items: z.array(ReviewItem), next_cursor: nextCursor }),
  async run(call, input) {
    const { limit = v.PAGE } = input;
    const after = v.timedPlace(placeOf(input.cursor, 2));
    const seen = v.seenBy(call, input);
    const { db } = call.memory;
    const [found, total] = await Promise.all([
      listWaiting(db, { ...seen, after, limit: limit + 1 }),
      countReviews(db, seen),
    ]);
    const { rows, last } = v.pageOf(found, limit);
    return {
      total,
      items: rows.map(({ corroborated_at, review_until, created_at, claims, ...row }) => ({
        ...row,
        kept_out: isKeptOut({ trust: row.trust, corroborated_at }),
        claims: claims.map(({ type, id, trust, text }) => ({ type, id, trust, text })),
        review_until: review_until.toISOString(),
        created_at: created_at.toISOString(),
      })),
      next_cursor: last === undefined ? null : cursorOf(last.review_until.toISOString(), last.id),
    };
  },
});
