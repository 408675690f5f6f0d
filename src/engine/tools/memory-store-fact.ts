import { z } from "zod";
import { shortId } from "../domain/short-id.ts";
import { rememberFact } from "../memory/remember/store-fact.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { redacted, takenOut } from "./memory-store-episode.ts";

export const memoryStoreFact = defineTool({
  name: "memory_store_fact",
  title: "Store a fact",
  description:
    'Store a lasting truth as subject, predicate and content. The same value again confirms it, another supersedes it; what the user said themselves stays, and yours is kept beside it as a claim. A predicate with several values carries its object: "likes:green tea".',
  input: f
    .input({
      subject: f.text(256).describe('Who or what it is about, such as "user" or "project apollo".'),
      predicate: f.text(256).describe('What is said of it, such as "lives_in" or "likes:green tea".'),
      content: f.text(f.STATEMENT_MAX).describe("The value, in words that can be read alone."),
      importance: f.importance
        .optional()
        .describe("0 to 10; 5 if left out. From 7 on, lasting facts are always in context."),
      permanence: f.permanence
        .optional()
        .describe(
          "How fast it fades: permanent never, stable a year, standard (default) a quarter, volatile weeks, ephemeral days.",
        ),
      scope: f.scope.optional(),
      tags: f.tags.optional(),
      confidence: f.confidence.optional().describe("0 to 1; 1 if left out."),
      valid_from: f.time.optional().describe("When it begins to be true; until then, what is true now stays."),
      valid_to: f.time.optional().describe("When it stops being true; in the past, it is kept as history."),
      source_episode_id: f.memoryId.optional().describe("The episode it was learned from."),
      metadata: f.metadata.optional(),
      idempotency_key: f.idempotencyKey.optional(),
    })
    .refine((i) => i.valid_from === undefined || i.valid_to === undefined || i.valid_from <= i.valid_to, {
      path: ["valid_to"],
      error: "is before valid_from",
    }),
  output: f.output({
    id: z.string(),
    status: z.enum(["created", "confirmed", "superseded"]),
    superseded_id: z.string().nullable().describe("The fact whose place it took."),
    state: f.state,
    subject: z.string(),
    predicate: z.string(),
    scope: z.string(),
    redactions: f.redactions,
    begins: z.string().optional().describe("It waits beside what is true until then, and takes its place by itself."),
    contradicts_id: z
      .string()
      .optional()
      .describe("The fact of a better source that says otherwise and stays; id is then a claim that nobody is told."),
    note: z.string().optional().describe("Why nothing was changed."),
  }),
  effect: "write",
  core: true,
  run: (call, input) => rememberFact(call, input),
  text: (a) =>
    `${said(a)}${redacted(a.redactions)}${a.begins === undefined ? "" : `; it begins on ${f.day(a.begins)}`}.`,
  brief: {
    shape: {
      id: z.string(),
      status: z.string(),
      superseded_id: z.string().nullable(),
      contradicts_id: z.string(),
      note: z.string(),
      taken_out: z.string(),
      begins: z.string(),
    },
    tell: (a) => ({
      id: shortId(a.id),
      ...(a.contradicts_id === undefined ? { status: a.status } : { contradicts_id: shortId(a.contradicts_id) }),
      ...(a.superseded_id === null ? {} : { superseded_id: shortId(a.superseded_id) }),
      ...(a.begins === undefined ? {} : { begins: f.day(a.begins) }),
      ...takenOut(a.redactions),
      note: a.note,
    }),
  },
});

interface Said {
  readonly id: string;
  readonly status: "created" | "confirmed" | "superseded";
  readonly superseded_id: string | null;
  readonly contradicts_id?: string | undefined;
  readonly subject: string;
  readonly predicate: string;
  readonly scope: string;
  readonly note?: string | undefined;
}

function said(a: Said): string {
  const fact = `${shortId(a.id)} (${a.subject} / ${a.predicate}, ${a.scope})`;
  if (a.contradicts_id !== undefined) return `${a.note} Claim ${fact} against fact ${shortId(a.contradicts_id)}`;
  if (a.note !== undefined) return `${a.note} Fact ${fact}`;
  if (a.superseded_id !== null) return `Stored fact ${fact}; it supersedes fact ${shortId(a.superseded_id)}`;
  return `${a.status === "confirmed" ? "Confirmed" : "Stored"} fact ${fact}`;
}
