import { z } from "zod";
import { EVERY_SCOPE } from "../../domain/scope.ts";
import { search } from "../../memory/recall/search.ts";
import * as f from "../../tools/fields.ts";
import { Result, resultsOutput } from "../../tools/results.ts";
import { defineView } from "../define.ts";

const TYPES = ["episode", "fact", "rule"] as const;

export const viewSearch = defineView({
  name: "view_search",
  title: "Search with the numbers behind each result",
  input: f.input({
    q: f.text(4_000).describe("A question or key words."),
    type: z.enum(TYPES).optional(),
    mode: z.enum(["hybrid", "semantic", "keyword"]).optional(),
    scope: f.scope.optional(),
    tag: f.text(64).optional(),
    min_relevance: f.confidence.optional(),
    as_of: f.asOf.optional(),
    limit: f.limit(100).optional().describe("20 if left out."),
  }),
  output: resultsOutput.extend({
    results: z.array(Result.required({ explain: true })),
    as_of: z.string().optional(),
  }),
  async run(call, { q, type, tag, scope, limit = 20, ...input }) {
    const answer = await search(call, {
      ...input,
      query: q,
      limit,
      types: type === undefined ? TYPES : [type],
      tags: tag === undefined ? undefined : [tag],
      scope: scope ?? (call.caller.admin ? EVERY_SCOPE : undefined),
      explain: true,
    });
    const results = answer.results.flatMap((one) =>
      one.explain === undefined ? [] : [{ ...one, explain: one.explain }],
    );
    return { ...answer, results };
  },
});
