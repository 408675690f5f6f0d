import { z } from "zod";
import { TRUST } from "../domain/learning/trust.ts";
import { RELATIONS } from "../domain/link.ts";
import { shortId } from "../domain/short-id.ts";
import { clip } from "../domain/text/text.ts";
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
      trust: z.enum(TRUST),
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
    const { type, id, state, scope, content, trust, ...rest } = a.memory;
    return [
      `${type} ${shortId(id)} (${state}, ${scope}, trust ${trust})`,
      manyEscapes(content) ? JSON.stringify(content) : content,
      ...Object.entries(rest).flatMap(([name, value]) => fieldLine(name, value)),
      ...linkLines(a.links),
      ...a.history.map((h) => `${h.occurred_at} ${h.event_type} by ${h.actor}`),
    ].join("\n");
  },
  brief: {
    shape: { memory: z.looseObject({}), links: z.unknown(), history: z.array(z.unknown()) },
    tell: ({ memory: { type, id, state, scope, trust, content }, links }) => ({
      memory: { type, id: shortId(id), state, scope, trust, content },
      links: linkLines(links),
    }),
  },
});

/** What escaping may add before the text quotes the content too: JSON must hold all of it and not be longer than the text. */
const FREE_ESCAPES = 50;

const manyEscapes = (content: string): boolean => JSON.stringify(content).length > content.length + FREE_ESCAPES;

function fieldLine(name: string, value: unknown): string[] {
  if (value === null || value === undefined || value === "") return [];
  if (typeof value !== "object") return [`${name}: ${value}`];
  const json = JSON.stringify(value);
  return json === "[]" || json === "{}" ? [] : [`${name}: ${clip(json, 600)}`];
}

type Ends = readonly { readonly relation: string; readonly type: string; readonly id: string }[];

const linkLines = ({ outbound, inbound }: { readonly outbound: Ends; readonly inbound: Ends }): string[] => [
  ...outbound.map((l) => `${l.relation} → ${l.type} ${shortId(l.id)}`),
  ...inbound.map((l) => `${l.relation} ← ${l.type} ${shortId(l.id)}`),
];
