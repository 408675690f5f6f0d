import { z } from "zod";
import { UNREMARKABLE } from "../../domain/event.ts";
import { shownChanges } from "../../memory/activity-changes.ts";
import { listActivity } from "../../store/browse/activity.ts";
import * as f from "../../tools/fields.ts";
import { memoryActivityStream } from "../../tools/memory-activity-stream.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";
import { placeBefore } from "./event-place.ts";

export const Event = memoryActivityStream.output.shape.events.element;

export const viewActivity = defineView({
  name: "view_activity",
  title: "What happened, the newest first",
  input: f.input({
    type: z.enum(["episode", "fact", "rule", "consolidation", "read", "embedding_version"]).optional(),
    event: f.text(64).optional().describe("Only this type of event, such as fact.superseded."),
    actor: f.text(200).optional(),
    session: f.text(200).optional(),
    ...v.placeFilter,
    from: f.time.optional(),
    to: f.time.optional(),
    everything: z.boolean().optional().describe("Also what was read, tried and said again."),
    cursor,
    limit: v.limit,
  }),
  output: f.output({ events: z.array(Event), next_cursor: nextCursor }),
  async run(call, input) {
    const { limit = v.PAGE } = input;
    const seen = v.seenBy(call, input);
    const found = await listActivity(call.memory.db, {
      ...seen,
      entity: input.type,
      types: input.event === undefined ? undefined : [input.event],
      without: input.everything === true ? [] : UNREMARKABLE,
      actor: input.actor,
      session: input.session,
      from: input.from,
      to: input.to,
      before: await placeBefore(call, placeOf(input.cursor, 1)?.[0]),
      limit: limit + 1,
    });
    const { rows, last } = v.pageOf(found, limit);
    return {
      events: await shownChanges(call, v.seenBy(call).scopes, rows),
      next_cursor: last === undefined ? null : cursorOf(last.id),
    };
  },
});
