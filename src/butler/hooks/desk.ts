/**
 * What happens when an agent's hook calls: at the start of a session it gets what is known, at a prompt what is new and fits,
 * and at the end of a turn its transcript is noted. Always an answer, always soon: a hook must never hold up its agent.
 */
import type { Clock } from "../../adapters/clock.ts";
import type { Log } from "../../adapters/log.ts";
import type { HookAnswer, HookTold, Principal } from "../../serve/host.ts";
import type { Outcome, ToolRequest } from "../../tools/outcome.ts";
import { type Home, reasonOf } from "../home.ts";
import { within } from "../pause.ts";
import { projectOf } from "../project.ts";
import { noteSession } from "../session-log.ts";
import { episodeOf } from "../transcripts/episodes.ts";
import { spokenExchange } from "../transcripts/spoken.ts";
import { unavailableWords } from "./desk-words.ts";
import { AGENT_NAMES, type Dialect, HOOK_DIALECTS, type HookReading, isAgentName } from "./dialects.ts";
import { type Pickup, readable } from "./pickup.ts";
import { contextFor } from "./session-context.ts";
import { announce, firstWarning, leaveRow, sessionKey } from "./spool.ts";

export interface HookParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this butler has a memory at all. */
  remembers(butler: string): boolean;
  invoke(principal: Principal, butler: string, request: ToolRequest): Promise<Outcome>;
  readonly pickup: Pickup;
}

/** Whether the caller may name files of this machine: somebody elsewhere could have another's transcript read out to them. */
export type HookDesk = (principal: Principal, told: HookTold, files: boolean) => Promise<HookAnswer>;

interface Visit {
  readonly told: HookReading;
  readonly agent: string;
  readonly event: string;
  readonly butler: string;
  readonly project: string;
  readonly key: string;
  readonly dialect: Dialect;
  readonly files: boolean;
  call(tool: string, input: Record<string, unknown>): Promise<Outcome>;
}

/** Claude Code cuts what a hook adds at 10,000 characters. */
const MOST_CHARS = 9_500;
/** Hosts wait two seconds; the way here and back is theirs. */
const LIMIT_MS = 1_400;
const MOST_PROMPTS = 200;

export function hookDesk(parts: HookParts): HookDesk {
  const { home, clock, log } = parts;
  const now = () => clock.now().toISOString();
  /** Prompts being worked on, as they were typed: they may hold secrets and are not written down. */
  const prompts = new Map<string, string>();

  function keep(key: string, prompt: string): void {
    prompts.delete(key);
    prompts.set(key, prompt);
    for (const oldest of prompts.keys()) {
      if (prompts.size <= MOST_PROMPTS) break;
      prompts.delete(oldest);
    }
  }

  async function withContext(visit: Visit): Promise<HookAnswer> {
    const { dialect, event, key, told } = visit;
    const starts = told.moment === "start";
    try {
      const mostChars = Math.min(MOST_CHARS, dialect.contextCharacters);
      const gathering = contextFor({ home, key, told, mostChars, call: visit.call });
      if (!(await within(LIMIT_MS, gathering))) throw new Error(`it gave no answer within ${LIMIT_MS / 1000} s`);
      const context = await gathering;
      if (starts) noteStart(visit, context === "" ? "empty" : "used");
      return { ok: true, answer: dialect.answer(event, context === "" ? {} : { context }) };
    } catch (error) {
      const why = reasonOf(error);
      log.warn({ butler: visit.butler, reason: why }, "a hook goes without memory");
      if (starts) noteStart(visit, why);
      const message = firstWarning(home, key) ? unavailableWords(why) : undefined;
      return { ok: true, answer: dialect.answer(event, { message }) };
    }
  }

  function noteStart({ agent, butler, project, told }: Visit, memory: string): void {
    const { session: id, folder } = told;
    noteSession(home, { started: { id, butler, agent, kind: "hook", folder, project, at: now(), memory } });
  }

  function note(visit: Visit): void {
    const { agent, butler, project, key, told } = visit;
    const { moment, session, folder, transcript } = told;
    if (transcript === undefined || !visit.files || !readable(agent)) {
      noteWords(visit);
      return;
    }
    const working = moment === "prompt";
    announce(home, { agent, session, butler, transcript, folder, project, ended: moment === "end", working });
    if (moment === "turn-end" || moment === "end") parts.pickup.soon(key);
  }

  /** An agent without a transcript for us tells its prompt at one moment and its answer at another. */
  function noteWords({ agent, butler, project, key, told }: Visit): void {
    const { moment, session, folder, prompt, reply } = told;
    if (moment === "prompt" && prompt !== undefined) keep(key, prompt);
    const asked = prompt ?? prompts.get(key);
    if (moment !== "turn-end" || asked === undefined || reply === undefined) return;
    const exchange = spokenExchange(asked, reply, now());
    if (exchange) leaveRow(home, { butler, project, row: episodeOf(exchange, { agent, session, folder, project }) });
    parts.pickup.rowsSoon();
  }

  return async (principal, asked, files) => {
    const { agent, event, butler } = asked;
    if (!isAgentName(agent)) {
      const message = `There are no hooks for "${agent}"; there are for ${AGENT_NAMES.join(", ")}.`;
      return { ok: false, error: { code: "not_found", message, field: "agent" } };
    }
    const dialect = HOOK_DIALECTS[agent];
    const told = parts.remembers(butler) ? dialect.read(event, asked.input) : undefined;
    // An event we have no use for, or one of a newer version that we cannot read: the agent goes on.
    if (!told) return { ok: true, answer: dialect.answer(event, {}) };
    const project = projectOf(told.folder, asked.project).key;
    const session = `${agent}:${told.session}`;
    const call = (tool: string, input: Record<string, unknown>) =>
      parts.invoke(principal, butler, { tool, input, project, session });
    const visit: Visit = {
      told,
      agent,
      event,
      butler,
      project,
      key: sessionKey({ butler, agent, session: told.session }),
      dialect,
      call,
      files,
    };
    try {
      note(visit);
    } catch (error) {
      log.error({ reason: reasonOf(error) }, "a transcript could not be noted");
    }
    if (told.moment === "start" || told.moment === "prompt") return withContext(visit);
    if (told.moment === "end") noteSession(home, { ended: { id: told.session, at: now(), state: "done" } });
    return { ok: true, answer: dialect.answer(event, {}) };
  };
}
