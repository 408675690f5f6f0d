import { z } from "zod";
import { activity } from "../memory/activity.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

const Seen = z.object({
  type: f.type,
  id: z.string(),
  state: f.state,
  trust: z.string(),
  text: z.string().optional().describe("Its beginning; absent when it was forgotten."),
  maturity: z.string().optional(),
  learned: z
    .object({
      by: z.string().optional(),
      kind: z.string().optional(),
      sureness: z.number().optional(),
      hint: z.boolean().optional(),
    })
    .optional()
    .describe("Who found it in what was said, and how sure that was."),
});

interface Line {
  readonly occurred_at: string;
  readonly event_type: string;
  readonly entity_id: string;
  readonly actor: string;
}

const line = (e: Line): string => `${e.occurred_at} ${e.event_type} ${e.entity_id} by ${e.actor}`;

export const memoryActivityStream = defineTool({
  name: "memory_activity_stream",
  title: "Activity stream",
  description: "What happened to the memory, oldest first, page by page: every change, who made it and why.",
  input: f.input({
    since: f.time.optional(),
    scope: f.scope.optional(),
    limit: f.limit(1000).optional().describe("100 if left out."),
    cursor: f.text(64).optional().describe("next_cursor of the page before."),
    newest: z.boolean().optional().describe("The last ones instead of the first."),
    changes: z
      .boolean()
      .optional()
      .describe("Only what changed, each with its memory as it is now instead of a payload."),
    session_id: f.text(200).optional().describe("Only what was said in this session or learned from it."),
    ids: z.array(f.id).max(1_000).optional().describe("Only what happened to these memories."),
  }),
  output: f.output({
    events: z.array(
      z.object({
        id: z.string(),
        event_type: z.string(),
        entity_type: z.string(),
        entity_id: z.string(),
        occurred_at: z.string(),
        actor: z.string(),
        butler: z.string(),
        scope: z.string(),
        session_id: z.string().nullable(),
        request_id: z.string().nullable(),
        subrequest_id: z.string().nullable(),
        segment_id: z.string().nullable(),
        payload: z.record(z.string(), z.unknown()),
        memory: Seen.optional(),
        replaced: Seen.optional().describe("The fact that it took the place of."),
        sessions: z.array(z.string()).optional().describe("The sessions that it comes from."),
        reader: z.string().optional().describe("Who read the episodes that it was learned from."),
      }),
    ),
    next_cursor: z.string(),
    more: z.boolean(),
  }),
  effect: "read",
  core: false,
  run: (call, input) => activity(call, input),
  text: (a) =>
    a.events.length === 0
      ? "Nothing new."
      : [...a.events.map(line), `${a.more ? "There is more" : "The end"}: cursor ${a.next_cursor}`].join("\n"),
  brief: {
    shape: { next_cursor: z.string(), more: z.boolean(), events: z.array(z.unknown()) },
    tell: (a) =>
      a.events.length === 0 ? {} : { next_cursor: a.next_cursor, more: a.more, events: a.events.map(line) },
  },
});
