/** One tool call from raw input to outcome, the same for every door. */
import type { z } from "zod";
import { span } from "../adapters/trace.ts";
import { conflict, forbidden, invalid, MemoryError, unavailable } from "../domain/errors.ts";
import type { Trust } from "../domain/learning/trust.ts";
import type { RequestContext } from "../domain/request.ts";
import { boundProject, checkStep, isButlerName, projectScope } from "../domain/scope.ts";
import { tenantFault } from "../domain/tenant.ts";
import { clip } from "../domain/text/text.ts";
import { tellElevated } from "../memory/access.ts";
import { Cancelled, type Following, stopIfCancelled } from "../memory/following.ts";
import type { Call, Caller, Memory } from "../memory/memory.ts";
import { memoryOf, readingOf } from "../memory/tenancy.ts";
import { withWholeIds } from "../memory/whole-ids.ts";
import { viewNamed } from "../views/index.ts";
import * as f from "./fields.ts";
import { noSuchTool, toolNamed } from "./index.ts";
import { checkInput } from "./invalid-input.ts";
import type { Failure, Outcome, ToolRequest } from "./outcome.ts";
import { safeIds } from "./safe-ids.ts";

/** Who calls; the door has checked it. `butler: "*"` may call as any butler. */
export interface Identity {
  readonly name: string;
  readonly tenant: string;
  readonly butler: string;
  readonly admin: boolean;
  /** The highest trust that anything it stores can have. */
  readonly voice: Trust;
  /** May look at everything that it could otherwise change. */
  readonly readOnly?: boolean;
  /** Of a token that is bound to scopes: it reads and writes these and no others. */
  readonly scopes?: readonly string[] | undefined;
  /** May read the memories of another tenant that the request names; each time is an event of that tenant. */
  readonly crossTenant?: boolean;
}

export function callTool(
  memory: Memory,
  identity: Identity,
  request: ToolRequest,
  following?: Following,
): Promise<Outcome> {
  const { butler, log } = memory;
  const known = viewNamed(request.tool) ?? toolNamed(request.tool);
  const tool = known?.name ?? "unknown";
  const { door = "inside" } = request;
  const answered = memory.traffic.begin(known?.effect === "read");
  const started = performance.now();
  return span(
    `tool ${tool}`,
    { "butler.name": butler, "butler.door": door, "gen_ai.tool.name": tool },
    async (open) => {
      const outcome = await answerCall(memory, identity, request, following);
      if (!outcome.ok) open.fail(outcome.error.code);
      const error = outcome.ok ? undefined : outcome.error.code;
      log.debug({ butler, tool, door, ms: Math.round(performance.now() - started), error }, "a tool was called");
      return outcome;
    },
  ).finally(answered);
}

async function answerCall(
  memory: Memory,
  identity: Identity,
  request: ToolRequest,
  following?: Following,
): Promise<Outcome> {
  let requestId: string | undefined;
  let written: Memory | undefined;
  try {
    const view = viewNamed(request.tool);
    const tool = view ?? toolNamed(request.tool);
    if (!tool) throw new MemoryError("not_found", noSuchTool(request.tool));
    const { who, elevated } = inAskedTenant(identity, request.tenant);
    if (who.readOnly === true && tool.effect !== "read")
      throw forbidden("you may look but not change anything; sign in as an admin for that.", "role");
    requestId = requestIdIn(request.input);
    const safe = safeIds(memory);
    const input = safe.input(checked(tool.input, request.input === undefined ? {} : request.input));
    const project = safe.name(checked(GIVEN.project, request.project, "project"));
    const own = memoryOf(memory, who.tenant);
    if (tool.effect !== "read") written = own;
    const call: Call = {
      memory: written ?? readingOf(own),
      caller: {
        ...callerOf(memory, who, input.butler, project),
        session: safe.name(checked(GIVEN.session, request.session, "session")),
      },
      now: nowOf(memory, request.now),
      request: safe.request(input.request_context as RequestContext | undefined),
      idempotencyKey:
        (input.idempotency_key as string | undefined) ??
        safe.id(checked(GIVEN.key, request.idempotencyKey, "idempotency_key")),
      following,
      uncounted: view !== undefined || elevated,
    };
    stopIfCancelled(call);
    if (elevated) await tellElevated(call, tool.name);
    const answer = tool.output.parse(await tool.run(call, await withWholeIds(call, input)));
    return { ok: true, answer: requestId === undefined ? answer : { ...answer, request_id: requestId } };
  } catch (error) {
    return { ok: false, error: failureOf(memory, error, request.tool, requestId) };
  } finally {
    // After a failure too: what was written may have been committed all the same.
    written?.db.wrote?.();
  }
}

/** What comes beside the input. Made once: making a schema takes longer than checking by it. */
const GIVEN = {
  project: f.project.optional(),
  session: f.name.optional(),
  key: f.idempotencyKey.optional(),
} as const;

/** Session and key are checked like arguments: over HTTP they come from headers, which may hold anything. */
function checked<S extends z.ZodType>(schema: S, value: unknown, place = ""): z.output<S> {
  const result = checkInput(schema, value, place);
  if (!result.ok) throw result.error;
  return result.value;
}

/** The tenant comes with the token. One that a request names beside it is refused, unless the token is for such reads. */
function inAskedTenant(
  who: Identity,
  asked: string | undefined,
): { readonly who: Identity; readonly elevated: boolean } {
  if (asked === undefined || asked === who.tenant) return { who, elevated: false };
  if (who.crossTenant !== true)
    throw forbidden("this token is for the memories of its own tenant; leave X-Butler-Tenant out.", "tenant");
  const tenant = checked(f.name, asked, "tenant");
  const fault = tenantFault(tenant);
  if (fault !== undefined) throw invalid("tenant", `A tenant's name ${fault}.`);
  return { who: { ...who, tenant, admin: true, readOnly: true }, elevated: true };
}

type Known = Omit<Caller, "session">;

function callerOf(memory: Memory, who: Identity, asked: unknown, project: string | undefined): Known {
  const shared = memory.role === "memory";
  if (who.butler !== "*" && who.butler !== memory.butler && !shared)
    throw forbidden(`this token belongs to butler "${who.butler}", not to "${memory.butler}".`, "butler");
  const own = who.butler === "*" ? (shared && typeof asked === "string" ? asked : memory.butler) : who.butler;
  if (!isButlerName(own)) throw invalid("butler", `"${clip(own, 60)}" is not the name of a butler.`);
  if (asked !== undefined && asked !== own)
    throw forbidden(`butler "${asked}" is not yours; this connection belongs to "${own}".`, "butler");
  const { tenant, admin, name: actor, voice, scopes } = who;
  const known = { tenant, butler: own, admin, actor, voice, ...(scopes === undefined ? {} : { scopes }) };
  const stands = project ?? (scopes === undefined ? undefined : boundProject(own, scopes));
  const caller = stands === undefined ? known : { ...known, butler: projectScope(own, stands) };
  checkStep(caller);
  return caller;
}

function nowOf(memory: Memory, asked: string | undefined): Date {
  if (asked === undefined) return memory.clock.now();
  if (!memory.clock.fixed)
    throw conflict(
      "BUTLER_NOW is set, but the memory runs on real time: unset it, or stop the owner and start it with BUTLER_NOW.",
    );
  const now = new Date(asked);
  if (Number.isNaN(now.getTime()))
    throw new MemoryError("invalid_input", "BUTLER_NOW is not a time; write it like 2026-05-01T09:30:00Z.", {
      field: "now",
    });
  return now;
}

function requestIdIn(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("request_context" in input)) return undefined;
  const context = input.request_context;
  if (typeof context !== "object" || context === null || !("request_id" in context)) return undefined;
  return typeof context.request_id === "string" ? clip(context.request_id, 200) : undefined;
}

function failureOf(memory: Memory, error: unknown, tool: string, requestId: string | undefined): Failure {
  const known = error instanceof MemoryError ? error : translate(error);
  if (known instanceof Cancelled) memory.log.info({ tool }, known.message);
  else if (known.code === "internal" || known.code === "unavailable" || known.code === "integrity")
    memory.log.error({ err: error, tool, request_id: safeIds(memory).id(requestId) }, known.message);
  return {
    code: known.code,
    message: known.message,
    ...(known.field === undefined ? {} : { field: known.field }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
}

/** SQLSTATE classes that mean something to a caller. Any other error is internal, and its message stays in the log. */
function translate(error: unknown): MemoryError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "23505") return conflict("another memory that says the same is already there.");
  if (code.startsWith("23"))
    return new MemoryError(
      "integrity",
      "the store refused this change because it would break one of its rules; nothing was changed.",
      { cause: error },
    );
  if (code === "53100" || code === "ENOSPC")
    return unavailable("the disk is full: free some space and try again.", error);
  if (/^(08|57P|53|ECONN|EPIPE|ETIMEDOUT)/.test(code))
    return unavailable("the database cannot be reached right now; try again in a moment.", error);
  return new MemoryError(
    "internal",
    "something went wrong inside, and the log says what; look at what is stored before you repeat the call.",
    { cause: error },
  );
}
