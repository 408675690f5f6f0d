/** Twenty sessions of an agent at once with their hooks, and the owner killed under them: no session notices, nothing is lost or doubled. */

import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { contextIn, type HookEnd, installHooks } from "../support/agent-hooks.ts";
import { butler, canListProcesses, cleanUp, ownerNote, processesOf, seededHome } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { transcript } from "../support/transcript.ts";

afterAll(cleanUp);

const SESSIONS = 20;
const KILL_AT = [45, 90];

test.skipIf(!canListProcesses)("twenty sessions, the owner killed twice", async () => {
  const home = await seededHome();
  const hooks = await installHooks(home);
  let ended = 0;
  let killed = 0;
  const victims: number[] = [];
  const expected: string[] = [];
  const failed: HookEnd[] = [];

  async function fire(event: string, input: object): Promise<HookEnd> {
    const end = await hooks.fire(event, input);
    ended += 1;
    if (end.code !== 0 || !(end.stdout === "" || end.stdout.startsWith("{"))) failed.push(end);
    const pid = ownerNote(home)?.pid;
    const due = ended >= (KILL_AT[killed] ?? Number.POSITIVE_INFINITY);
    // The note of an owner that was killed stays until the next one writes its own.
    if (due && pid !== undefined && pid !== victims.at(-1)) {
      victims.push(pid);
      killed += 1;
      process.kill(pid, "SIGKILL");
    }
    return end;
  }

  async function session(n: number): Promise<void> {
    const id = `session-${n}`;
    const said = transcript(join(home, "transcripts", `${id}.jsonl`), id, hooks.project);
    const common = { session_id: id, transcript_path: said.path };
    await fire("SessionStart", { ...common, source: "startup" });
    // At least two turns, and on until the owner has been killed as often as it should.
    for (let turn = 1; turn <= 2 || (killed < KILL_AT.length && turn < 50); turn++) {
      const prompt = `Session ${n} asks for step ${turn} of the plan`;
      await fire("UserPromptSubmit", { ...common, prompt });
      said.user(prompt);
      said.agent(`Step ${turn} of session ${n} is done.`);
      await fire("Stop", common);
      expected.push(`User: ${prompt}\nAgent: Step ${turn} of session ${n} is done.`);
    }
    await fire("SessionEnd", { ...common, reason: "other" });
  }

  await Promise.all(Array.from({ length: SESSIONS }, (_, n) => session(n)));
  expect(failed).toEqual([]);
  expect({ hooks: ended, killed }).toEqual({ hooks: SESSIONS * 2 + expected.length * 2, killed: KILL_AT.length });

  expected.sort();
  await vi.waitFor(async () => expect(await episodes(home)).toEqual(expected), { ...PATIENCE, interval: 1_000 });
  // Whatever still reads them again stores nothing twice.
  await butler(home, ["stop"]);
  expect(await episodes(home)).toEqual(expected);
  await vi.waitFor(() => expect(processesOf(home)).toEqual([]), { ...PATIENCE, interval: 200 });

  // Starting an owner may take longer than a hook waits when the machine is busy.
  await butler(home, ["stats"]);
  const start = (n: number) =>
    hooks.fire("SessionStart", { session_id: `next ${n}`, transcript_path: join(home, "none.jsonl") });
  let next = await start(0);
  for (let n = 1; contextIn(next) === "" && n < 20; n++) next = await start(n);
  expect(contextIn(next)).toContain("plan");
});

async function episodes(home: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const asked = { scope: "*", limit: 1_000, ...(cursor === undefined ? {} : { cursor }) };
    const page = await butler(home, ["call", "memory_activity_stream", "--json", JSON.stringify(asked)]);
    const { events, next_cursor } = JSON.parse(page.stdout) as {
      events: { event_type: string; payload: { row?: { content: string } } }[];
      next_cursor: string;
    };
    for (const { event_type, payload } of events)
      if (event_type === "episode.stored") found.push(payload.row?.content ?? "");
    if (events.length < asked.limit) return found.toSorted();
    cursor = next_cursor;
  }
}
