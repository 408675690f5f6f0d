import { z } from "zod";
import { RELATIONS } from "../domain/link.ts";
import { get } from "../memory/get.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";

const LinkEnd = z.object({ relation: z.enum(RELATIONS), type: f.type, id: z.string(), created_at: z.string() });

export const memoryGet = defineTool({
  name: "memory_get",
  title: "Get one memory",
  description: "One memory whole, by its id: all fields, its links in both directions, and what happened to it.",
  input: f.input({
    id: f.memoryId,
    type: f.type.optional().describe("May be left out: ids are unique over all types."),
    as_of: f.asOf.optional(),
  }),
  output: f.output({
    as_of: z.string().optional(),
    memory: z.looseObject({
      type: f.type,
      id: z.string(),
      state: f.state,
      content: z.string(),
      scope: z.string(),
    }),
    links: z.object({ outbound: z.array(LinkEnd), inbound: z.array(LinkEnd) }),
    history: z.array(
      z.object({
        event_type: z.string(),
        occurred_at: z.string(),
        actor: z.string(),
        request_id: z.string().nullable(),
      }),
    ),
  }),
  effect: "read",
  core: false,
  run: (call, input) => get(call, input),
  text: (a) => {
    const links = [
      ...a.links.outbound.map((l) => `${l.relation} → ${l.type} ${l.id}`),
      ...a.links.inbound.map((l) => `${l.relation} ← ${l.type} ${l.id}`),
    ];
    const history = a.history.map((h) => `${h.occurred_at} ${h.event_type} by ${h.actor}`);
    return [
      `${a.memory.type} ${a.memory.id} (${a.memory.state}, ${a.memory.scope})`,
      a.memory.content,
      ...links,
      ...history,
    ].join("\n");
  },
});
