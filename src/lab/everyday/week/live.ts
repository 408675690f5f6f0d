/** Lives through a scripted week: hooks, spool, transcripts and jobs as the product has them, on a clock that is moved. */
import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { homeAt } from "../../../daemon/home.ts";
import type { Principal } from "../../../doors/backend.ts";
import { OPENING_PROMPT } from "../../../doors/mcp/opening-prompt.ts";
import { silentLog } from "../../../engine/adapters/log.ts";
import { MemoryError } from "../../../engine/domain/errors.ts";
import { jobNamed } from "../../../engine/memory/keep/jobs.ts";
import type { Memory } from "../../../engine/memory/memory.ts";
import { callTool } from "../../../engine/tools/call.ts";
import type { Outcome, ToolRequest } from "../../../engine/tools/outcome.ts";
import { hookAnswerer } from "../../../hosts/hooks/answer-hook.ts";
import { createPickup } from "../../../hosts/hooks/spool/pickup.ts";
import type { ScriptedSession, Week } from "./script.ts";
import { idOf, transcriptOf } from "./transcript-lines.ts";

export interface WeekStage {
  readonly memory: Memory;
  /** Moves the clock of that memory. */
  set(now: Date): void;
  /** A folder for the transcripts, the spool and nothing else. */
  readonly folder: string;
  /** More arguments of `memory_context`. */
  readonly asked: object;
}

/** What a session would be given at its start. */
export interface Opening {
  readonly session: number;
  readonly at: string;
  readonly text: string;
  readonly tokens: number;
}

const PROJECT = "week";
const SIX_HOURS = 6 * 3_600_000;
const WHO = { name: "week", tenant: "default", butler: "*", admin: false, voice: "user" } as const;
const PRINCIPAL: Principal = { ...WHO };

export async function liveWeek(stage: WeekStage, { sessions }: Week): Promise<Opening[]> {
  const { memory, set, folder } = stage;
  const home = homeAt(join(folder, "home"));
  const call = (request: ToolRequest): Promise<Outcome> => callTool(memory, WHO, request);
  const ingest = (_: unknown, __: string, project: string | undefined, episodes: readonly object[]) =>
    call({ tool: "memory_ingest_batch", input: { episodes }, ...(project === undefined ? {} : { project }) });
  const pickup = createPickup({ home, clock: memory.clock, log: silentLog, ingest, settleMs: 600_000 });
  const hooks = hookAnswerer({
    ...{ home, clock: memory.clock, log: silentLog, pickup },
    remembers: () => true,
    invoke: (_, __, request) => call(request),
    limitMs: 600_000,
  });
  const openings: Opening[] = [];
  let learnedAt = sessions[0]?.at.getTime() ?? 0;
  for (const [nth, scripted] of sessions.entries()) {
    for (; learnedAt + SIX_HOURS <= scripted.at.getTime(); learnedAt += SIX_HOURS) await work(learnedAt + SIX_HOURS);
    set(scripted.at);
    const session = idOf(`session ${nth}`);
    openings.push({ session: nth + 1, at: scripted.at.toISOString(), ...(await openingFor(session)) });
    await liveSession(scripted, session);
  }
  await pickup.stop();
  return openings;

  async function work(at: number): Promise<void> {
    set(new Date(at));
    await memory.afterwards.settled();
    for (const name of ["consolidate", "promote", "decay_sweep", "episode_cleanup"])
      await jobNamed(name)?.run({ memory, now: new Date(at), dryRun: false, interrupted: () => false });
  }

  async function openingFor(session: string) {
    const input = { trigger_prompt: OPENING_PROMPT, except_session: session, ...stage.asked };
    const outcome = await call({ tool: "memory_context", input, project: PROJECT });
    if (!outcome.ok) throw new MemoryError(outcome.error.code, outcome.error.message);
    const { text, tokens } = outcome.answer as { text: string; tokens: number };
    return { text, tokens };
  }

  async function liveSession(scripted: ScriptedSession, session: string): Promise<void> {
    const path = join(folder, "transcripts", `rollout-${session}.jsonl`);
    await mkdir(dirname(path), { recursive: true });
    const hook = async (event: string, more: object = {}) => {
      const input = { session_id: session, transcript_path: path, cwd: folder, hook_event_name: event, ...more };
      const asked = { agent: scripted.agent, event, butler: memory.butler, input, project: PROJECT };
      const told = await hooks(PRINCIPAL, asked, true);
      if (!told.ok) throw new MemoryError(told.error.code, told.error.message);
      told.settled?.(true);
    };
    await hook("SessionStart", { source: "startup" });
    let working = false;
    for (const { part, lines } of transcriptOf(scripted, session, folder)) {
      if (part.kind === "user") {
        if (working) await stop();
        await hook("UserPromptSubmit", { prompt: part.text });
        working = true;
      }
      await appendFile(path, lines.join(""));
    }
    await stop();
    if (scripted.agent === "claude-code") await hook("SessionEnd", { reason: "exit" });
    await pickup.sweep();

    async function stop() {
      await hook("Stop");
      await pickup.sweep();
    }
  }
}
