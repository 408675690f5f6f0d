/**
 * The first blocks of a process run through code that V8 has not compiled yet. So when the read model has been loaded, a few are made for
 * nobody, of what the first question found, whenever nobody calls. They count nothing and tell nobody.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "../memory.ts";
import { context } from "./context.ts";
import { search } from "./search.ts";

const TIMES = 24;
/** Between two of them, and until it is looked again whether somebody waits. */
const STEP_MS = 20;
/** An owner that is busy from its first moment rehearses no more: its calls have done that. */
const MOST_STEPS = 500;

export interface Rehearsal {
  /** After the first question of a process, to whichever of its memories. Those that come later change nothing. */
  begin(call: Call, question: string): void;
  /** Before a memory is closed. Resolves when the block that is being made is done; no further one is begun. */
  stop(): Promise<void>;
}

export const noRehearsal: Rehearsal = { begin: () => undefined, stop: async () => undefined };

export function openRehearsal(): Rehearsal {
  let running: Promise<void> | undefined;
  let stopped = false;
  return {
    begin(call, question) {
      running ??= rehearse({ ...call, uncounted: true, following: undefined }, question, () => stopped).catch((err) =>
        call.memory.log.debug({ err }, "a rehearsal was left off"),
      );
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}

async function rehearse(call: Call, question: string, stopped: () => boolean): Promise<void> {
  const { traffic } = call.memory;
  const prompts = [question];
  for (let steps = 0, made = 0; steps < MOST_STEPS && made < TIMES; steps++) {
    const { calls } = traffic;
    await pause(STEP_MS, undefined, { ref: false });
    if (stopped()) return;
    // Whoever calls again and again is not to meet one of these in between.
    if (traffic.underWay > 0 || traffic.calls !== calls) continue;
    const prompt = prompts[made++];
    if (prompt === undefined || !(await isInMemory(call))) return;
    await context(call, { trigger_prompt: prompt });
    const { results } = await search(call, { query: prompt.slice(0, QUERY_CHARS), limit: TIMES, min_relevance: 0 });
    if (made === 1) prompts.push(...results.map(({ content }) => content));
  }
}

const QUERY_CHARS = 500;

/** A store that is too large for it has other work to do. */
const isInMemory = async ({ memory, caller }: Call): Promise<boolean> =>
  (await memory.readModel.caughtUp(memory.versions.serving?.version, caller.tenant)) !== undefined;
