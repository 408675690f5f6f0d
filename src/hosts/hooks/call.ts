/**
 * A hook's own process: asks the owner, starts one if none is there, and never takes longer than its host waits. Used where the
 * quick way (a few lines of shell and curl) found nobody.
 */

import { type Home, reasonOf } from "../../daemon/home.ts";
import { isGone, OwnerTimeout } from "../../daemon/line/local-gone.ts";
import { ask } from "../../daemon/line/local-socket.ts";
import { ensureOwner, type Launch } from "../../daemon/owner/start-owner.ts";
import { within } from "../../daemon/pause.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { projectOf } from "../projects/project.ts";
import { lateWords, withoutWords } from "./desk-words.ts";
import { type AgentName, HOOK_DIALECTS } from "./dialects.ts";
import { announce, firstWarning, sessionKey } from "./spool.ts";

export interface HookCall {
  readonly home: Home;
  /** Absent: no owner is started. */
  readonly launch: Launch | undefined;
  readonly agent: AgentName;
  readonly event: string;
  readonly butler: string;
  readonly input: unknown;
  readonly project: string | undefined;
  /** On the clock of `performance.now()`. */
  readonly until: number;
  /** The owner was asked already and gave no answer in time. */
  readonly late: boolean;
}

/** An agent that is ending kills its hooks soon; the owner starts without them. */
const KICK_MS = 250;

export async function callHook(call: HookCall): Promise<Record<string, unknown> | undefined> {
  const { home, agent, event } = call;
  const told = HOOK_DIALECTS[agent].read(event, call.input);
  if (!told) return undefined;
  const waits = told.moment === "start" || told.moment === "prompt";
  let why = "it gave no answer in time";
  let { late } = call;
  if (!late) {
    try {
      return await askOwner(call, waits);
    } catch (error) {
      why = reasonOf(error);
      // Out of time: whoever was asked or started is there for the next prompt.
      late = error instanceof OwnerTimeout || performance.now() >= call.until;
    }
  }
  const by = "local" as const;
  const key = sessionKey({ by, butler: call.butler, agent, session: told.session });
  const { session, folder, transcript, moment } = told;
  const project = projectOf(folder, call.project).key;
  if (moment === "start") {
    // Only now: an owner that answers notes it itself, and loading it takes time.
    const { noteSession } = await import("../sessions/session-log.ts");
    const at = systemClock.now().toISOString();
    const known = { id: session, key, butler: call.butler, agent, folder, project };
    noteSession(home, { started: { ...known, kind: "hook", at, memory: why } });
  }
  if (transcript !== undefined) {
    const entry = { by, agent, session, butler: call.butler, transcript, folder, project };
    announce(home, { ...entry, ended: moment === "end", working: moment === "prompt" });
  }
  if (!waits) {
    await within(KICK_MS, ensureOwner(home, call.launch, call.until)).catch(() => undefined);
    return undefined;
  }
  const follows = late && HOOK_DIALECTS[agent].brings.has("prompt");
  if (!firstWarning(home, key, follows ? "late" : "without")) return undefined;
  return HOOK_DIALECTS[agent].answer(event, { message: follows ? lateWords(why) : withoutWords(why) });
}

async function askOwner(call: HookCall, waits: boolean): Promise<Record<string, unknown> | undefined> {
  try {
    return await post(call);
  } catch (error) {
    if (!isGone(error) || !waits) throw error;
  }
  await ensureOwner(call.home, call.launch, call.until);
  return post(call);
}

async function post({ home, agent, event, butler, input, project, until }: HookCall) {
  const path = `/hooks/${agent}/${encodeURIComponent(event)}?butler=${encodeURIComponent(butler)}`;
  const timeoutMs = Math.max(1, until - performance.now());
  const headers = project === undefined ? {} : { "x-butler-project": project };
  const { status, json } = await ask({ socket: home.socket, method: "POST", path, body: input, timeoutMs, headers });
  if (status === 200) return json as Record<string, unknown>;
  if (status === 204) return undefined;
  if (status === 503) throw Object.assign(new Error("the owner is stopping"), { code: "ECONNREFUSED" });
  const { error } = (json ?? {}) as { error?: { message?: string } };
  throw new Error(error?.message ?? `the owner answered with status ${status}`);
}
