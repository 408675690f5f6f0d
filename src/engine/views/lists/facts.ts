import { z } from "zod";
import { learnedOf } from "../../domain/learning/sureness.ts";
import { effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import { VALIDITY } from "../../domain/lifecycle/lifecycle.ts";
import { normaliseKey } from "../../domain/text/text.ts";
import type { Call } from "../../memory/memory.ts";
import { type FactPlace, type ListedFact, listFactPlaces, listFacts } from "../../store/browse/facts.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { cursor, cursorOf, nextCursor, placeOf } from "../cursor.ts";
import { defineView } from "../define.ts";
import { isAskedState, listThen } from "./rows-then.ts";
import { idsWithWords, MOST_FOUND } from "./with-words.ts";

export const Fact = z.object({
  id: z.string(),
  subject: z.string(),
  predicate: z.string(),
  content: z.string().nullable().describe("Null when it was forgotten and the caller may not bring it back."),
  state: f.state,
  scope: z.string(),
  permanence: f.permanence,
  confidence: z.number().describe("When it was last confirmed."),
  effective_confidence: z.number().describe("Now: confidence · exp(−decay_per_day · days since last_confirmed_at)."),
  decay_per_day: z.number(),
  last_confirmed_at: z.string(),
  importance: z.number(),
  trust: v.trust,
  reader: z.string().nullable().describe("Who found it in what was said; null when it was told to a tool."),
  tags: z.array(z.string()),
  created_at: z.string(),
  valid_from: z.string().nullable(),
  valid_to: z.string().nullable(),
  waits_until: z.string().nullable().describe("It becomes the value of its key then."),
  superseded_at: z.string().nullable(),
  supersedes_id: z.string().nullable(),
  forgotten_at: z.string().nullable(),
  references: z.number().describe("How often it was recalled."),
  last_referenced_at: z.string().nullable(),
  sources: z.number().describe("Episodes that it was learned from or that say the same."),
  replaced: z.number().describe("How many facts it took the place of, one after the other."),
  contradicted: z.boolean().describe("A live fact says otherwise."),
});

export const viewFacts = defineView({
  name: "view_facts",
  title: "Facts, page by page",
  input: f.input({
    state: z
      .enum([...VALIDITY, "live", "all"])
      .optional()
      .describe("live (active or fading) if left out."),
    ...v.placeFilter,
    tag: f.text(64).optional(),
    reader: f.text(200).optional().describe("patterns, the version of the reader, or provider and model."),
    trust: v.trust.optional(),
    subject: f.text(256).optional(),
    q: f.text(400).optional().describe(`Only facts with these words, at most the ${MOST_FOUND} that fit best.`),
    order: z.enum(["subject", "newest"]).optional(),
    as_of: f.asOf.optional(),
    cursor,
    limit: v.limit,
  }),
  output: f.output({ facts: z.array(Fact), next_cursor: nextCursor, as_of: z.string().optional() }),
  async run(call, input) {
    const { order = "subject", state = "live", limit = v.PAGE } = input;
    const seen = v.seenBy(call, input);
    const query = {
      ...seen,
      order,
      state,
      tag: input.tag,
      reader: input.reader,
      trust: input.trust,
      subject: input.subject === undefined ? undefined : normaliseKey(input.subject),
      ids: input.q === undefined ? undefined : await idsWithWords(call, "fact", input.q, input.scope),
      until: input.as_of,
      after: placeOf(input.cursor, order === "newest" ? 1 : 3),
    };
    if (input.as_of !== undefined) {
      const { db } = call.memory;
      const { rows: facts, last } = await listThen<FactPlace, ListedFact>(call, {
        ...{ until: input.as_of, limit, after: query.after },
        places: (after) => listFactPlaces(db, { ...query, state: "all", after, limit }),
        placeOf: (place) => placeParts(order, place),
        isWanted: ({ type, row }) => type === "fact" && isAskedState(state, row.validity),
        rows: (ids) => listFacts(db, { ...query, state: "all", ids, after: undefined, limit }),
        asThen: (fact, { row }) => ({ ...fact, ...row }) as ListedFact,
      });
      return {
        facts: facts.map((fact) => shown(call, fact, input.as_of)),
        next_cursor: last === undefined ? null : placeAfter(order, last),
        as_of: input.as_of.toISOString(),
      };
    }
    const { rows, last } = v.pageOf(await listFacts(call.memory.db, { ...query, limit: limit + 1 }), limit);
    return {
      facts: rows.map((fact) => shown(call, fact)),
      next_cursor: last === undefined ? null : placeAfter(order, last),
    };
  },
});

const placeParts = (order: "subject" | "newest", { subject, predicate, id }: FactPlace): readonly string[] =>
  order === "newest" ? [id] : [subject, predicate, id];

const placeAfter = (order: "subject" | "newest", fact: FactPlace): string => cursorOf(...placeParts(order, fact));

export function shown(call: Call, fact: ListedFact, at: Date = call.now): z.input<typeof Fact> {
  return {
    id: fact.id,
    subject: fact.subject_text,
    predicate: fact.predicate_text,
    content: v.textFor(call, fact.validity, fact.content),
    state: fact.validity,
    scope: fact.scope,
    permanence: fact.permanence,
    confidence: fact.confidence,
    effective_confidence: effectiveConfidence(fact, at),
    decay_per_day: fact.decay_rate,
    last_confirmed_at: fact.last_confirmed_at.toISOString(),
    importance: fact.importance,
    trust: fact.trust,
    reader: fact.source.startsWith("consolidation:") ? (learnedOf(fact.metadata).by ?? "unknown") : null,
    tags: [...fact.tags],
    created_at: fact.created_at.toISOString(),
    valid_from: v.iso(fact.valid_from),
    valid_to: v.iso(fact.valid_to),
    waits_until: v.iso(fact.waits_until),
    superseded_at: v.iso(fact.superseded_at),
    supersedes_id: fact.supersedes_id,
    forgotten_at: v.iso(fact.forgotten_at),
    references: fact.reference_count,
    last_referenced_at: v.iso(fact.last_referenced_at),
    sources: fact.sources,
    replaced: fact.replaced,
    contradicted: fact.contradicted,
  };
}
