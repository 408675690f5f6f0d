/**
 * What happens when an agent's hook calls: at the start of a session it gets what is known, at a prompt what is new and fits,
 * and at the end of a turn its transcript is noted. Always an answer, always soon: a hook must never hold up its agent.
 */

import type { Home } from "../../daemon/home.ts";
import { within } from "../../daemon/pause.ts";
import type { HookAnswer, HookTold, Principal } from "../../doors/host.ts";
import { OPENING_PROMPT } from "../../doors/mcp/opening-prompt.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { type TypedCall, typedCall } from "../../engine/tools/typed-call.ts";
import { projectOf } from "../projects/project.ts";
import { placeKey, projectKey } from "../projects/project-key.ts";
import { noteSession } from "../sessions/session-log.ts";
import { episodeOf } from "../transcripts/episodes.ts";
import { isTranscriptAgent } from "../transcripts/read.ts";
import { askedOf, spokenExchange } from "../transcripts/spoken.ts";
import { AGENT_NAMES, type Dialect, HOOK_DIALECTS, type HookReading, isAgentName } from "./dialects.ts";
import { faultOf } from "./fault.ts";
import { heldPrompts } from "./prompts.ts";
import { contextFor, MemoryRefused, type Telling } from "./session-context.ts";
import type { By } from "./spool/files.ts";
import type { Pickup } from "./spool/pickup.ts";
import { leaveRow } from "./spool/rows.ts";
import { announce, firstWarning, readShown, readWarned, sessionKey, writeBack, writeShown } from "./spool/sessions.ts";
import { BACK, lateWords, withoutWords } from "./warnings.ts";

export interface HookParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this butler has a memory at all. */
  remembers(butler: string): boolean;
  invoke(principal: Principal, butler: string, request: ToolRequest): Promise<Outcome>;
  readonly pickup: Pickup;
  /** How long memory has for an answer. */
  readonly limitMs?: number;
}

/**
 * `local`: the hook came over the socket of this home. Only such a one may name files of this machine: whoever comes with a token,
 * whatever it is for, could have another's transcript read out to them.
 */
export type HookAnswerer = (principal: Principal, told: HookTold, local: boolean) => Promise<HookAnswer>;

interface Visit {
  readonly by: By;
  readonly told: HookReading;
  readonly agent: string;
  readonly event: string;
  readonly butler: string;
  readonly project: string;
  readonly key: string;
  readonly dialect: Dialect;
  /** The session hears of memory for the first time, or anew. */
  readonly opens: boolean;
  readonly call: TypedCall;
}

/** Claude Code cuts what a hook adds at 10,000 characters. */
const MOST_CHARS = 9_500;
/** Agents wait two seconds, of which starting the hook and its connection take a part. */
const LIMIT_MS = 1_400;

/** The folder lies on the caller's machine: nothing of ours is looked at to name it. */
const projectElsewhere = (folder: string, given: string | undefined): string =>
  (given === undefined ? undefined : projectKey(given)) ?? placeKey("folder", folder);

export function hookAnswerer(parts: HookParts): HookAnswerer {
  const { home, clock, log, limitMs = LIMIT_MS } = parts;
  const late = `it gave no answer within ${limitMs / 1000} s`;
  const now = () => clock.now().toISOString();
  const prompts = heldPrompts();
  /** Of each session the answer that is on its way: until it has arrived or is lost, nobody knows what there is left to tell. */
  const onTheWay = new Map<string, Promise<void>>();

  async function gather(visit: Visit, before: Promise<void> | undefined): Promise<Telling> {
    await before;
    const { told, key, dialect, call } = visit;
    const mostChars = Math.min(MOST_CHARS, dialect.contextCharacters);
    return contextFor({ told, shown: readShown(home, key), mostChars, call });
  }

  async function withContext(visit: Visit): Promise<HookAnswer> {
    const { dialect, event, key } = visit;
    let arrived: () => void = () => undefined;
    const settled = new Promise<void>((done) => {
      arrived = done;
    });
    const gathering = gather(visit, onTheWay.get(key));
    onTheWay.set(key, settled);
    void settled.then(() => {
      if (onTheWay.get(key) === settled) onTheWay.delete(key);
    });
    try {
      const telling = (await within(limitMs, gathering)) ? await gathering : undefined;
      if (!telling) throw new MemoryRefused(late);
      const { text } = telling;
      const message = readWarned(home, key) === "without" ? BACK : undefined;
      return {
        ok: true,
        answer: dialect.answer(event, { context: text === "" ? undefined : text, message }),
        settled(delivered) {
          try {
            if (delivered) hasBeenTold(visit, telling, message);
            else missed(visit, "its hook did not wait for the answer");
          } catch (error) {
            log.error({ reason: faultOf(error) }, "what a session was told could not be noted");
          } finally {
            arrived();
          }
        },
      };
    } catch (error) {
      arrived();
      const why = error instanceof MemoryRefused ? reasonOf(error) : faultOf(error);
      missed(visit, why);
      return { ok: true, answer: dialect.answer(event, { message: warning(visit, why) }) };
    }
  }

  /** Where only a prompt brings context, everything is at least open and loaded when it comes. */
  async function wakeUp({ call }: Visit): Promise<void> {
    const looking = call("memory_context", { trigger_prompt: OPENING_PROMPT, token_budget: 1 });
    await within(limitMs, looking).catch((error: unknown) =>
      log.warn({ reason: faultOf(error) }, "memory is not there yet"),
    );
  }

  function hasBeenTold(visit: Visit, { text, shown }: Telling, message: string | undefined): void {
    writeShown(home, visit.key, shown);
    if (message === BACK) writeBack(home, visit.key);
    if (visit.opens) noteStart(visit, text === "" ? "empty" : "used");
  }

  function missed(visit: Visit, why: string): void {
    log.warn({ butler: visit.butler, reason: why }, "a hook goes without memory");
    if (visit.opens) noteStart(visit, why);
  }

  /** A session that has had its block, or gets it with its next prompt, does not run without memory. */
  function warning({ dialect, key }: Visit, why: string): string | undefined {
    const follows = (why === late && dialect.brings.has("prompt")) || readShown(home, key) !== undefined;
    if (!firstWarning(home, key, follows ? "late" : "without")) return undefined;
    return follows ? lateWords(why) : withoutWords(why);
  }

  function noteStart({ agent, butler, project, key, told }: Visit, memory: string): void {
    const { session: id, folder } = told;
    noteSession(home, { started: { id, key, butler, agent, kind: "hook", folder, project, at: now(), memory } });
  }

  function note(visit: Visit): void {
    const { by, agent, butler, project, key, told } = visit;
    const { moment, session, folder, transcript } = told;
    if (transcript === undefined || by !== "local" || !isTranscriptAgent(agent)) {
      noteWords(visit);
      return;
    }
    const working = moment === "prompt";
    announce(home, { by, agent, session, butler, transcript, folder, project, ended: moment === "end", working });
    if (moment === "turn-end" || moment === "end") parts.pickup.soon(key);
  }

  /** An agent without a transcript for us tells its prompt at one moment and its answer at another. */
  function noteWords({ by, agent, butler, project, key, told }: Visit): void {
    const { moment, session, folder, prompt, reply } = told;
    if (moment === "prompt" && prompt !== undefined) prompts.hold(key, prompt);
    if (moment !== "turn-end" || reply === undefined) return;
    const asked = prompt === undefined ? prompts.of(key) : askedOf(prompt);
    const exchange = spokenExchange(asked, reply, now());
    if (exchange)
      leaveRow(home, { by, butler, project, row: episodeOf(exchange, { agent, session, folder, project }) });
    parts.pickup.rowsSoon();
  }

  return async (principal, asked, local) => {
    const { agent, event, butler } = asked;
    if (!isAgentName(agent)) {
      const message = `There are no hooks for "${agent}"; there are for ${AGENT_NAMES.join(", ")}.`;
      return { ok: false, error: { code: "not_found", message, field: "agent" } };
    }
    const dialect = HOOK_DIALECTS[agent];
    const told = parts.remembers(butler) ? dialect.read(event, asked.input) : undefined;
    // An event we have no use for, or one of a newer version that we cannot read: the agent goes on.
    if (!told) return { ok: true, answer: dialect.answer(event, {}) };
    const by = local ? ("local" as const) : principal;
    const project = local ? projectOf(told.folder, asked.project).key : projectElsewhere(told.folder, asked.project);
    const session = `${agent}:${told.session}`;
    const call = typedCall((request) => parts.invoke(principal, butler, { ...request, project, session }));
    const key = sessionKey({ by, butler, agent, session: told.session });
    const opens = told.moment === "start" || readShown(home, key) === undefined;
    const visit: Visit = { by, told, agent, event, butler, project, key, dialect, opens, call };
    try {
      note(visit);
    } catch (error) {
      log.error({ reason: faultOf(error) }, "a transcript could not be noted");
    }
    if (dialect.brings.has(told.moment)) return withContext(visit);
    if (told.moment === "start") await wakeUp(visit);
    if (told.moment === "end") noteSession(home, { ended: { id: told.session, key, at: now(), state: "done" } });
    return { ok: true, answer: dialect.answer(event, {}) };
  };
}
