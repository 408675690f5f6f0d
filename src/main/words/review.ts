/** What waits for a person, as lines. */
import type { z } from "zod";
import { neutralLine } from "../../engine/domain/text/neutral.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { viewReview } from "../../engine/views/lists/review.ts";

export type ReviewShown = z.infer<typeof viewReview.output>;
type Item = ReviewShown["items"][number];

const WIDTH = 160;
const short = (text: string): string => clip(neutralLine(text), WIDTH);

export function reviewLines({ items, total }: ReviewShown, butler: string | undefined): string[] {
  if (items.length === 0) return ["Nothing waits for you."];
  const of = butler === undefined ? "" : ` --butler ${butler}`;
  return [
    ...items.flatMap(itemLines),
    ...(total > items.length ? [`and ${total - items.length} more.`] : []),
    `It holds: butler call memory_confirm --id <id>${of}. It does not: butler call memory_forget --id <id>${of}. Take back what put it here: butler undo --event <event>${of}.`,
  ];
}

function itemLines({ type, id, text, trust, kept_out, claims, review_until, event_id }: Item): string[] {
  const why = kept_out ? "kept out of context blocks, no other source has said it" : "contradicted";
  return [
    `${type} ${id} (trust ${trust}; ${why}; until ${review_until.slice(0, 10)}${event_id === null ? "" : `; event ${event_id}`})`,
    `  ${short(text)}`,
    ...claims.map((claim) => `  against it, ${claim.trust}: ${short(claim.text)} (${claim.type} ${claim.id})`),
  ];
}
