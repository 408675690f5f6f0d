import { z } from "zod";
import { invalid } from "../../domain/errors.ts";
import type { UndoNode } from "../../domain/undo/tree.ts";
import { undo } from "../../memory/undo/undo.ts";
import type { Cause } from "../../store/history/undo.ts";
import * as f from "../../tools/fields.ts";
import { defineControl } from "../define.ts";

const Stays = z.object({ type: f.type, id: z.string(), text: z.string(), why: z.string() });

const Node: z.ZodType<UndoNode> = z.object({
  type: f.type,
  id: z.string(),
  scope: z.string(),
  text: z.string(),
  deed: z.enum(["goes", "comes", "changes", "stays"]),
  what: z.array(z.string()).describe("What happens to it."),
  events: z.number().describe("How many of its events are taken back."),
  children: z.lazy(() => z.array(Node)).describe("What came of it and changes with it."),
});

const CAUSES = ["request", "session", "run", "source", "event", "since"] as const;

/** Exactly one of the causes. */
export const undoInput = {
  request: f.name.optional().describe("What this request did; the id of an undo is one too."),
  session: f.name.optional().describe("What this session said and did, and what was learned from it."),
  run: f.id.optional().describe("What this run of consolidation learned."),
  source: f.name.optional().describe("What came from this source, or was done by this caller."),
  event: f.id.optional().describe("What this one event did."),
  since: f.time.optional().describe("Everything since this moment."),
  dry_run: z.boolean().optional().describe("Only says what would be done."),
};

export const controlUndo = defineControl({
  name: "control_undo",
  title: "Undo what came of a cause",
  input: f.input({ ...undoInput, idempotency_key: f.idempotencyKey.optional() }),
  output: f.output({
    undo_id: z.string().nullable().describe("Undo the request with this id to take the undo back."),
    dry_run: z.boolean(),
    events: z.number().describe("Events of the cause."),
    counts: z.object({ goes: z.number(), comes: z.number(), changes: z.number(), stays: z.number() }),
    tree: z.array(Node),
    stays: z.array(Stays).describe("What is not reversed, and why."),
  }),
  // The openings that are kept ready may hold what it takes back, and are removed before.
  effect: "forget",
  async run(call, input) {
    const answer = await undo(call, causeOf(input), input.dry_run === true, input);
    return { ...answer, tree: [...answer.tree], stays: [...answer.stays] };
  },
});

function causeOf(input: { readonly [K in (typeof CAUSES)[number]]?: string | Date | undefined }): Cause {
  const [kind, ...more] = CAUSES.filter((name) => input[name] !== undefined);
  if (kind === undefined || more.length > 0)
    throw invalid(kind ?? "request", "name one cause: request, session, run, source, event or since.");
  const value = input[kind];
  if (kind === "since" && value instanceof Date) return { kind, value };
  return { kind: kind as Exclude<typeof kind, "since">, value: String(value) };
}
