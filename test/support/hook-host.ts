/** An agent's hooks at the desk of an owner, with its spool in a folder of its own and whatever memory the test puts behind it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import type { Principal } from "../../src/doors/backend.ts";
import type { Clock } from "../../src/engine/adapters/clock.ts";
import { type Log, silentLog } from "../../src/engine/adapters/log.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { hookAnswerer } from "../../src/hosts/hooks/answer-hook.ts";
import { createPickup } from "../../src/hosts/hooks/spool/pickup.ts";
import { announcedKeys } from "../../src/hosts/hooks/spool/sessions.ts";
import type { Ingest } from "../../src/hosts/hooks/spool/store-rows.ts";
import { storeTranscript } from "../../src/hosts/hooks/spool/store-transcript.ts";
import { transcript } from "./transcript.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export type Answer = {
  hookSpecificOutput?: { hookEventName: string; additionalContext: string };
  systemMessage?: string;
};

export const contextOf = (answer: Answer | undefined) => answer?.hookSpecificOutput?.additionalContext ?? "";

/** Of whoever speaks over the socket of the home. */
export const atHome = (tenant: string): Principal => ({
  name: "agent",
  tenant,
  butler: "general",
  admin: false,
  voice: "user",
});

export interface HookHostParts {
  invoke(principal: Principal, request: ToolRequest, butler: string): Promise<Outcome>;
  readonly tenant?: string;
  readonly log?: Log;
  remembers?(butler: string): boolean;
  notices?(butler: string): number | undefined;
}

export interface Told {
  readonly agent?: string;
  /** Whoever comes with a token; the socket without. */
  readonly token?: Principal;
  readonly butler?: string;
  /** False: the hook has gone when its answer comes. "never": nobody says. */
  readonly delivered?: boolean | "never";
  /** When the agent went on without waiting. */
  readonly gone?: number;
}

export function hookHost(parts: HookHostParts) {
  const root = mkdtempSync(join(tmpdir(), "hooks-"));
  folders.push(root);
  const home = homeAt(join(root, "home"));
  const project = join(root, "project");
  const { tenant = "default", log = silentLog } = parts;
  let now = Date.now();
  const clock: Clock = { now: () => new Date(now), fixed: true };
  const ingest: Ingest = (by, butler, key, episodes) =>
    parts.invoke(
      by === "local" ? atHome(tenant) : by,
      { tool: "memory_ingest_batch", input: { episodes }, project: key ?? "" },
      butler,
    );
  const reading = { home, clock, log, ingest };
  let limitMs = 600_000;
  let desk = makeDesk();
  function makeDesk() {
    const pickup = createPickup({ ...reading, settleMs: 60_000 });
    const hook = hookAnswerer({
      ...{ home, clock, log, pickup, limitMs, noteMs: 600_000 },
      remembers: parts.remembers ?? (() => true),
      ...(parts.notices === undefined ? {} : { notices: parts.notices }),
      invoke: (principal, butler, request) => parts.invoke(principal, request, butler),
    });
    return { hook, pickup };
  }
  return {
    root,
    home,
    project,
    transcript: (session: string) => transcript(join(root, `${session}.jsonl`), session, project),
    async event(event: string, session: string, more: object = {}, told: Told = {}): Promise<Answer | undefined> {
      const { agent = "claude-code", token, butler = "general", delivered = true, gone } = told;
      const input = { session_id: session, cwd: project, transcript_path: join(root, `${session}.jsonl`), ...more };
      const asked = { agent, event, butler, input, gone };
      const answer = await desk.hook(token ?? atHome(tenant), asked, token === undefined);
      if (!answer.ok) throw new Error(answer.error.message);
      if (delivered !== "never") answer.settled?.(delivered);
      return answer.answer as Answer | undefined;
    },
    sweep: () => desk.pickup.sweep(),
    /** Reads every announced transcript, as is done a moment after the end of a turn. */
    async read(): Promise<void> {
      const whole = { ...reading, quietMs: 600_000, signal: new AbortController().signal };
      for (const key of announcedKeys(home)) await storeTranscript(whole, key);
    },
    async restart(): Promise<void> {
      await desk.pickup.stop();
      desk = makeDesk();
    },
    /** How long memory has for an answer from now on. */
    async patience(ms: number): Promise<void> {
      limitMs = ms;
      await this.restart();
    },
    later(minutes: number): void {
      now += minutes * 60_000;
    },
  };
}
