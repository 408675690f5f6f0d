import { z } from "zod";
import { MATURITY } from "../domain/lifecycle/maturity.ts";
import { shortId } from "../domain/short-id.ts";
import { rememberRule } from "../memory/remember/store-rule.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { redacted, takenOut } from "./memory-store-episode.ts";

export const memoryStoreRule = defineTool({
  name: "memory_store_rule",
  title: "Store a rule",
  description:
    "Store how to behave: one instruction that holds beyond this task. It starts as a candidate; marks of helpful and harmful earn or lose it trust.",
  input: f.input({
    content: f.text(f.STATEMENT_MAX).describe("The rule, as an instruction."),
    scope: f.scope.optional(),
    tags: f.tags.optional(),
    source_episode_id: f.memoryId.optional().describe("The episode it was learned from."),
    matcher: f.metadata.optional().describe("When it applies, as data of your own."),
    idempotency_key: f.idempotencyKey.optional(),
  }),
  output: f.output({
    id: z.string(),
    maturity: z.enum(MATURITY),
    duplicate_of: z.string().nullable().describe("The rule that says the same, if there was one."),
    scope: z.string(),
    redactions: f.redactions,
  }),
  effect: "write",
  core: true,
  run: (call, input) => rememberRule(call, input),
  text: (a) =>
    a.duplicate_of === null
      ? `Stored rule ${shortId(a.id)} as ${a.maturity} (${a.scope})${redacted(a.redactions)}.`
      : `Already known as rule ${shortId(a.id)} (${a.maturity}, ${a.scope}).`,
  brief: {
    shape: { id: z.string(), duplicate_of: z.string().nullable(), maturity: z.string(), taken_out: z.string() },
    tell: (a) => ({
      id: shortId(a.id),
      ...(a.duplicate_of === null ? {} : { duplicate_of: shortId(a.duplicate_of) }),
      ...takenOut(a.redactions),
      maturity: a.maturity,
    }),
  },
});
