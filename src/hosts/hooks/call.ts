/**
 * The process of `butler hook`: asks the owner, starts one if none is running, and never takes longer than its agent waits. The hook's shell
 * script starts it when it found no owner.
 */

import { type Home, readIfThere } from "../../daemon/home.ts";
import { askAtOnce, type OwnerAccess } from "../../daemon/line/ask-owner.ts";
import { OwnerError } from "../../daemon/line/owner-error.ts";
import type { OwnerQuestion } from "../../daemon/line/question.ts";
import { within } from "../../daemon/pause.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { projectOf } from "../projects/project.ts";
import { type AgentName, HOOK_DIALECTS } from "./dialects.ts";
import { announce, firstWarning, sessionKey, standingAt } from "./spool/sessions.ts";
import { lateWords, withoutWords } from "./warnings.ts";

export interface HookCall extends OwnerAccess {
  readonly agent: AgentName;
  readonly event: string;
  readonly butler: string;
  readonly input: unknown;
  readonly project: string | undefined;
  /** On the clock of `performance.now()`. */
  readonly until: number;
  /** The owner was asked already and gave no answer in time. */
  readonly late: boolean;
  /** The opening that the session was given without asking, as its file says. */
  readonly given: string | undefined;
  /** When the agent went on, in milliseconds since 1970: it reads no answer. */
  readonly gone: number | undefined;
}

/** An agent that is ending kills its hooks soon; an owner that was started goes on starting without them. */
const KICK_MS = 250;

export async function callHook(call: HookCall): Promise<Record<string, unknown> | undefined> {
  const { home, agent, event } = call;
  const reading = HOOK_DIALECTS[agent].read(event, call.input);
  if (!reading) return undefined;
  const waits = reading.moment === "start" || reading.moment === "prompt";
  let why = (call.late ? whyNoOwner(home) : undefined) ?? "it gave no answer in time";
  let { late } = call;
  if (!late) {
    try {
      const deadlines = { reach: waits ? call.until : 0, answer: call.until };
      return (await askAtOnce(call, questionOf(call), deadlines)) as Record<string, unknown> | undefined;
    } catch (error) {
      why = reasonOf(error);
      // Out of time: the owner that was asked or started will answer the next prompt.
      late = (error instanceof OwnerError && error.code === "timeout") || performance.now() >= call.until;
    }
  }
  const by = "local" as const;
  const key = sessionKey({ by, butler: call.butler, agent, session: reading.session });
  const { session, folder, transcript, moment } = reading;
  const project = projectOf(folder, call.project).key;
  if (moment === "start") {
    // Loaded only here, because loading takes time: an owner that answers notes the session itself.
    const { noteSession } = await import("../sessions/session-log.ts");
    const at = systemClock.now().toISOString();
    const known = { id: session, key, butler: call.butler, agent, folder, project };
    noteSession(home, { started: { ...known, kind: "hook", at, memory: why } });
  }
  if (transcript !== undefined) {
    const entry = { by, agent, session, butler: call.butler, transcript, folder, project };
    announce(home, { ...entry, ...standingAt(moment) }, call.gone);
  }
  if (call.gone !== undefined) return undefined;
  if (!waits) {
    const { ensureOwner } = await import("../../daemon/owner/start-owner.ts");
    await within(KICK_MS, ensureOwner(home, await call.launch?.(), call.until)).catch(() => undefined);
    return undefined;
  }
  const follows = late && HOOK_DIALECTS[agent].brings.has("prompt");
  if (!firstWarning(home, key, follows ? "late" : "without")) return undefined;
  return HOOK_DIALECTS[agent].answer(event, { message: follows ? lateWords(why) : withoutWords(why) });
}

function questionOf({ agent, event, butler, input, project, given, gone }: HookCall): OwnerQuestion {
  const headers = {
    ...(project === undefined ? {} : { "x-butler-project": project }),
    ...(given === undefined ? {} : { "x-butler-given": given }),
  };
  return {
    method: "POST",
    path: `/hooks/${agent}/${encodeURIComponent(event)}?butler=${encodeURIComponent(butler)}${gone === undefined ? "" : `&gone=${gone / 1_000}`}`,
    body: input,
    headers,
  };
}

/** The sentence that an owner left which could not start. */
function whyNoOwner(home: Home): string | undefined {
  try {
    const { reason } = JSON.parse(readIfThere(home.failureFile) ?? "{}") as { reason?: unknown };
    return typeof reason === "string" ? reason : undefined;
  } catch {
    return undefined;
  }
}
