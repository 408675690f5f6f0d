import { z } from "zod";
import { listDeadLetters } from "../../store/browse/runs.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";

export const viewDeadLetters = defineView({
  name: "view_dead_letters",
  title: "Episodes that nobody could learn from, oldest first, with the reason",
  input: f.input({ ...v.placeFilter, cursor, limit: v.limit }),
  output: f.output({
    letters: z.array(
      z.object({
        id: z.string(),
        scope: z.string(),
        session_id: z.string().nullable(),
        status: z.enum(["failed", "dead_letter"]),
        attempts: z.number(),
        error: z.string().nullable(),
        content: z.string().describe("Its beginning."),
        created_at: z.string(),
      }),
    ),
    next_cursor: nextCursor,
  }),
  async run(call, input) {
    const { limit = v.PAGE } = input;
    const after = v.timedPlace(placeOf(input.cursor, 2));
    const found = await listDeadLetters(call.memory.db, v.seenBy(call, input), after, limit + 1);
    const { rows, last } = v.pageOf(found, limit);
    return {
      letters: rows.map(({ butler, consolidation_attempts, created_at, ...letter }) => ({
        ...letter,
        scope: butler,
        attempts: consolidation_attempts,
        created_at: created_at.toISOString(),
      })),
      next_cursor: last === undefined ? null : cursorOf(last.created_at.toISOString(), last.id),
    };
  },
});
