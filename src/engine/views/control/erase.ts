import { z } from "zod";
import { invalid } from "../../domain/errors.ts";
import { erase, type Target } from "../../memory/erase/erase.ts";
import * as f from "../../tools/fields.ts";
import { defineControl } from "../define.ts";

const KINDS = ["subject", "session", "id"] as const;

export const controlErase = defineControl({
  name: "control_erase",
  title: "Erase memories for good",
  input: f.input({
    subject: f.text(500).optional().describe("Everything about this subject, and everything that names it."),
    session: f.name.optional().describe("Everything that was said and stored in this session."),
    id: f.memoryId.optional().describe("One memory."),
    dry_run: z.boolean().optional(),
  }),
  output: f.output({
    receipt_id: z.string().nullable(),
    dry_run: z.boolean(),
    memories: z.array(z.object({ type: f.type, id: z.string() })),
    counts: z.record(z.string(), z.number()).describe("Rows that were deleted or blanked, by table."),
    sessions: z.array(z.string()),
    left: z.array(z.string()).describe("What only somebody else can erase."),
  }),
  // The openings that are kept ready may hold it, and are removed before.
  effect: "forget",
  async run(call, input) {
    const { memories, sessions, left, ...answer } = await erase(call, targetOf(input), input.dry_run === true);
    return {
      ...answer,
      memories: [...memories],
      sessions: [...sessions],
      left: [...left],
      counts: { ...answer.counts },
    };
  },
});

function targetOf(input: { readonly [K in (typeof KINDS)[number]]?: string | undefined }): Target {
  const [kind, ...more] = KINDS.filter((name) => input[name] !== undefined);
  if (kind === undefined || more.length > 0)
    throw invalid(kind ?? "subject", "name one thing to erase: a subject, a session or an id.");
  return { kind, value: input[kind] ?? "" };
}
