/** Changes from the pages: each is a call of the butler's own tools, by whoever is signed in. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Tool } from "../../../engine/tools/define.ts";
import { STATEMENT_MAX, text } from "../../../engine/tools/fields.ts";
import { checkInput } from "../../../engine/tools/invalid-input.ts";
import { memoryConfirm } from "../../../engine/tools/memory-confirm.ts";
import { memoryForget } from "../../../engine/tools/memory-forget.ts";
import { memoryMarkHarmful } from "../../../engine/tools/memory-mark-harmful.ts";
import { memoryMarkHelpful } from "../../../engine/tools/memory-mark-helpful.ts";
import { memoryRestore } from "../../../engine/tools/memory-restore.ts";
import type { Outcome } from "../../../engine/tools/outcome.ts";
import { controlUndo, undoInput } from "../../../engine/views/control/undo.ts";
import { roleOf } from "../access/session-routes.ts";
import { type ApiRoute, type Asked, MEMORY, refusal } from "./define.ts";

const none = z.strictObject({});
const Reason = z.strictObject({ reason: text(2_000).optional() });
const Note = z.strictObject({ note: text(2_000).optional() });
const Correction = z.strictObject({
  content: text(STATEMENT_MAX).describe("What is true instead."),
  reason: text(2_000).optional(),
});
const Redrive = z.strictObject({ ids: z.array(z.uuid()).min(1).max(1_000).optional().describe("All if left out.") });

const readers: Outcome = refusal(
  "forbidden",
  "You may look but not change anything; sign in as an admin for that.",
  "role",
);

type Work<I> = (asked: Asked, input: I) => Promise<Outcome>;

/** A route that changes something: for admins, with a checked body. */
export function writeRoute<I extends z.ZodObject>(
  route: Pick<ApiRoute, "id" | "path" | "summary" | "answer"> & { readonly input: I; readonly method?: "DELETE" },
  work: Work<z.output<I>>,
): ApiRoute {
  return {
    ...route,
    method: route.method ?? "POST",
    path: `${MEMORY}${route.path}`,
    async run(asked) {
      if (roleOf(asked.principal) !== "admin") return readers;
      const input = checkInput(route.input, asked.given);
      return input.ok ? work(asked, input.value) : refusal("invalid_input", input.error.message, input.error.field);
    },
  };
}

const invoke = ({ backend, principal, params, extras, signal }: Asked, tool: string, input: object, project?: string) =>
  backend.invoke(
    principal,
    params.name ?? "",
    { ...extras, ...(project === undefined ? {} : { project }), tool, input },
    { signal },
  );

/** One call of a tool with the id of the path. */
const toolRoute = <I extends z.ZodObject>(
  id: string,
  verb: string,
  tool: Tool,
  input: I,
  named: "id" | "rule_id" = "id",
): ApiRoute =>
  writeRoute({ id, path: `/memories/:id/${verb}`, summary: tool.title, input, answer: tool.output }, (asked, given) =>
    invoke(asked, tool.name, { ...given, [named]: asked.params.id }),
  );

const Corrected = z.object({
  id: z.string().describe("Of the memory that holds now."),
  status: z.enum(["created", "confirmed", "superseded"]),
  superseded_id: z.string().nullable(),
  contradicts_id: z.string().optional(),
  note: z.string().optional(),
});

interface Row {
  readonly type: string;
  readonly id: string;
  readonly state: string;
  readonly scope: string;
  readonly [column: string]: unknown;
}

/** A fact is superseded by one of the same key; a rule, which has no key, is stored anew and the old one forgotten. */
async function correct(asked: Asked, { content, reason }: z.output<typeof Correction>): Promise<Outcome> {
  const found = await invoke(asked, "view_memory", { id: asked.params.id });
  if (!found.ok) return found;
  const { memory } = found.answer as { readonly memory: Row };
  if (memory.type === "episode") return refusal("conflict", "What happened is not corrected; forget it instead.");
  if (memory.state !== "active" && memory.state !== "fading")
    return refusal("conflict", `This ${memory.type} is ${memory.state}; only what holds now can be corrected.`);
  const stored =
    memory.type === "fact"
      ? await invoke(asked, "memory_store_fact", { ...factOf(memory), content, metadata: because(reason) })
      : await invoke(asked, "memory_store_rule", { content, scope: memory.scope, tags: memory.tags });
  if (!stored.ok) return stored;
  const {
    id,
    status,
    superseded_id = null,
    contradicts_id,
    note,
  } = stored.answer as Partial<z.infer<typeof Corrected>>;
  if (memory.type === "fact") return { ok: true, answer: defined({ id, status, superseded_id, contradicts_id, note }) };
  if (id === memory.id) return { ok: true, answer: { id, status: "confirmed", superseded_id: null } };
  const gone = await invoke(asked, "memory_forget", { id: memory.id, reason: reason ?? "corrected" });
  return gone.ok ? { ok: true, answer: { id, status: "superseded", superseded_id: memory.id } } : gone;
}

const factOf = ({ subject_text, predicate_text, scope, permanence, importance, tags }: Row) => ({
  subject: subject_text,
  predicate: predicate_text,
  scope,
  permanence,
  importance,
  tags,
});

const because = (reason: string | undefined) => (reason === undefined ? undefined : { corrected_because: reason });

const defined = (answer: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined));

const Redriven = z.object({ redriven: z.array(z.string()) });

/** The tool redrives the letters of one scope; those of a project are asked for as that project. */
async function redrive(asked: Asked, { ids }: z.output<typeof Redrive>): Promise<Outcome> {
  const found = await invoke(asked, "view_dead_letters", { limit: 200 });
  if (!found.ok) return found;
  const letters = found.answer.letters as { readonly id: string; readonly scope: string }[];
  const chosen = letters.filter(({ id }) => ids === undefined || ids.includes(id));
  const redriven: string[] = [];
  for (const scope of new Set(chosen.map((letter) => letter.scope))) {
    const own = chosen.filter((letter) => letter.scope === scope).map(({ id }) => id);
    const project = scope.includes("/") ? scope.slice(scope.indexOf("/") + 1) : undefined;
    const done = await invoke(asked, "memory_dead_letters", { redrive: own }, project);
    if (!done.ok) return done;
    redriven.push(...(done.answer.redriven as string[]));
  }
  return { ok: true, answer: { redriven } };
}

const JobRan = z.looseObject({ butler: z.string(), job: z.string(), state: z.string() });

async function runJob({ backend, principal, params, extras }: Asked): Promise<Outcome> {
  const { name = "", job } = params;
  if (!backend.home) return refusal("unavailable", "This server runs no jobs.");
  const ticket = extras.idempotencyKey ?? randomUUID();
  return backend.home.jobs(principal, name, { ask: "run", job, dry_run: false, ticket });
}

export const writeRoutes: readonly ApiRoute[] = [
  toolRoute("Confirm", "confirm", memoryConfirm, none),
  toolRoute("Forget", "forget", memoryForget, Reason),
  toolRoute("Restore", "restore", memoryRestore, none),
  toolRoute("MarkHelpful", "helpful", memoryMarkHelpful, Note, "rule_id"),
  toolRoute("MarkHarmful", "harmful", memoryMarkHarmful, Reason, "rule_id"),
  writeRoute(
    {
      id: "Correct",
      path: "/memories/:id/correct",
      summary: "Says what is true instead: the old one is superseded and kept",
      input: Correction,
      answer: Corrected,
    },
    correct,
  ),
  writeRoute(
    {
      id: "Undo",
      path: "/undo",
      summary:
        "Undoes what came of a request, session, run, source, event or time; with dry_run it only says what that is",
      input: z.strictObject(undoInput),
      answer: controlUndo.output,
    },
    (asked) => invoke(asked, controlUndo.name, asked.given),
  ),
  writeRoute(
    {
      id: "Redrive",
      path: "/dead-letters/redrive",
      summary: "Sends episodes that nobody could learn from on their way again",
      input: Redrive,
      answer: Redriven,
    },
    redrive,
  ),
  writeRoute(
    {
      id: "RunJob",
      path: "/jobs/:job/run",
      summary: "Runs a job now; asked again with the same Idempotency-Key it tells how that run stands",
      input: none,
      answer: JobRan,
    },
    runJob,
  ),
];
