import { z } from "zod";
import { RELATIONS } from "../../domain/link.ts";
import { get } from "../../memory/get.ts";
import { chainOf, lifeOf, readingsOfEpisode } from "../../store/browse/memory.ts";
import { shownMemories } from "../../store/history/shown-memories.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";

const End = z.object({
  relation: z.enum(RELATIONS),
  type: f.type,
  id: z.string(),
  created_at: z.string(),
  text: z.string().nullable().describe("Null when it was forgotten or is gone."),
  state: f.state.nullable().describe("Null when it is gone."),
});

const LIFE = 200;

export const viewMemory = defineView({
  name: "view_memory",
  title: "One memory: its row, links with their texts, its life and its chain",
  input: f.input({ id: f.memoryId, as_of: f.asOf.optional() }),
  output: f.output({
    as_of: z.string().optional(),
    memory: z.looseObject({
      type: f.type,
      id: z.string(),
      state: f.state,
      content: z.string().nullable(),
      scope: z.string(),
      effective_confidence: z.number().optional(),
    }),
    links: z.object({ outbound: z.array(End), inbound: z.array(End) }),
    life: z
      .array(
        z.object({
          id: z.string(),
          event_type: z.string(),
          occurred_at: z.string(),
          actor: z.string(),
          session_id: z.string().nullable(),
          request_id: z.string().nullable(),
          payload: z.record(z.string(), z.unknown()),
        }),
      )
      .describe(`Oldest first; the last ${LIFE}.`),
    chain: z
      .array(
        z.object({
          id: z.string(),
          content: z.string().nullable(),
          state: f.state,
          created_at: z.string(),
          superseded_at: z.string().nullable(),
          confidence: z.number(),
          trust: v.trust,
        }),
      )
      .describe("Of a fact: those before and after it, oldest first."),
    recalled: z.object({
      times: z.number(),
      last_at: z.string().nullable(),
      by: z
        .array(z.object({ session: z.string(), day: z.string(), n: z.number() }))
        .describe("Of an episode: in which sessions, on which days."),
    }),
  }),
  async run(call, input) {
    const { db } = call.memory;
    const seen = v.seenBy(call);
    const { memory, links, as_of } = await get(call, input);
    const { type, id, state, content, scope, ...row } = memory as Whole;
    const ends = [...links.outbound, ...links.inbound].map((link) => link.id);
    const [shown, life, chain, by] = await Promise.all([
      shownMemories(db, seen, ends),
      lifeOf(db, seen.tenant, id, input.as_of ?? call.now, LIFE),
      type === "fact" ? chainOf(db, seen, id) : [],
      type === "episode" ? readingsOfEpisode(db, seen.tenant, id) : [],
    ]);
    const endOf = (link: (typeof links.outbound)[number]) => {
      const found = shown.get(link.id);
      return { ...link, text: found?.text ?? null, state: found === undefined ? null : f.state.parse(found.state) };
    };
    return {
      ...(as_of === undefined ? {} : { as_of }),
      memory: { ...row, type, id, state, scope, content: v.textFor(call, state, content) },
      links: { outbound: links.outbound.map(endOf), inbound: links.inbound.map(endOf) },
      life: life.toReversed().map(({ seq: _, occurred_at, ...event }) => ({
        ...event,
        payload: { ...event.payload },
        occurred_at: occurred_at.toISOString(),
      })),
      chain: chain.map((fact) => ({
        id: fact.id,
        content: v.textFor(call, fact.validity, fact.content),
        state: fact.validity,
        created_at: fact.created_at.toISOString(),
        superseded_at: v.iso(fact.superseded_at),
        confidence: fact.confidence,
        trust: fact.trust,
      })),
      recalled: { times: row.reference_count ?? 0, last_at: row.last_referenced_at ?? null, by },
    };
  },
});

type Whole = Awaited<ReturnType<typeof get>>["memory"] & {
  readonly reference_count?: number;
  readonly last_referenced_at?: string | null;
};
