import { z } from "zod";
import { invalid } from "../../domain/errors.ts";
import { factText } from "../../domain/fact.ts";
import { effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import type { Found } from "../../memory/find.ts";
import type { Call } from "../../memory/memory.ts";
import { atThatTime } from "../../memory/past/past.ts";
import { unreadRowsThen } from "../../memory/past/rows.ts";
import { changedMemories } from "../../store/browse/changes.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";
import { placeBefore } from "./event-place.ts";

/** Events after which somebody knows something else than before. */
const CHANGING = [
  ...[
    "stored",
    "confirmed",
    "superseded",
    "forgotten",
    "restored",
    "expired",
    "faded",
    "revived",
    "began",
    "contradicted",
  ].map((what) => `fact.${what}`),
  ...[
    "stored",
    "confirmed",
    "forgotten",
    "restored",
    "expired",
    "faded",
    "revived",
    "promoted",
    "demoted",
    "inverted",
  ].map((what) => `rule.${what}`),
];

const Then = z
  .object({
    state: f.state,
    text: z.string().nullable(),
    effective_confidence: z.number(),
    maturity: z.string().optional(),
  })
  .nullable()
  .describe("Null when it was not known.");

export const viewChanges = defineView({
  name: "view_changes",
  title: "What changed between two moments: each memory as it was then and then",
  input: f.input({
    from: f.time,
    to: f.time.optional().describe("Now if left out."),
    ...v.placeFilter,
    cursor,
    limit: f.limit(100).optional(),
  }),
  output: f.output({
    from: z.string(),
    to: z.string(),
    changes: z.array(
      z.object({
        type: z.enum(["fact", "rule"]),
        id: z.string(),
        at: z.string().describe("Of its last change in that time."),
        events: z.array(z.string()),
        before: Then,
        after: Then,
      }),
    ),
    next_cursor: nextCursor,
  }),
  async run(call, input) {
    const { from, to = call.now, limit = 50 } = input;
    if (from > to) throw invalid("from", "from lies after to; turn them round.");
    const found = await changedMemories(call.memory.db, {
      ...v.seenBy(call, input),
      ...{ types: CHANGING, from, to, limit: limit + 1 },
      after: await placeBefore(call, v.timedPlace(placeOf(input.cursor, 2))?.[1]),
    });
    const { rows, last } = v.pageOf(found, limit);
    const ids = rows.map(({ id }) => id);
    const [before, after] = await Promise.all([
      unreadRowsThen(await atThatTime(call, from), ids),
      unreadRowsThen(await atThatTime(call, to), ids),
    ]);
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      changes: rows.map(({ id, type, at, events }) => ({
        id,
        type: type === "rule" ? ("rule" as const) : ("fact" as const),
        at: at.toISOString(),
        events: [...events],
        before: then(call, before.get(id), from),
        after: then(call, after.get(id), to),
      })),
      next_cursor: last === undefined ? null : cursorOf(last.at.toISOString(), last.event),
    };
  },
});

function then(call: Call, found: Found | undefined, at: Date): z.input<typeof Then> {
  if (found === undefined || found.type === "episode") return null;
  const { validity: state } = found.row;
  const text = found.type === "fact" ? factText(found.row) : found.row.content;
  return {
    state,
    text: v.textFor(call, state, text),
    effective_confidence: effectiveConfidence(found.row, at),
    ...(found.type === "rule" ? { maturity: found.row.maturity } : {}),
  };
}
