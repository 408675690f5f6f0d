/** How long an agent waits for its hooks, with an owner at work and with nobody there, and whether they brought memories. */
import { join } from "node:path";
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import { pause } from "../../daemon/pause.ts";
import { openTokenizer } from "../../engine/adapters/tokenizer/gpt.ts";
import type { BenchHome } from "../bench-home.ts";
import { spread } from "../figures.ts";
import { type HookScript, timeHook } from "../hooks/measure.ts";
import { timeCommand } from "../latency/processes.ts";
import { picker, promptText } from "../sentences.ts";
import { type Figure, figure } from "./figure.ts";
import { curlFloor, type Floors } from "./floors.ts";

/** A person takes longer to type. What follows an answer, such as counting references, is over by then. */
const BETWEEN_MS = 300;
/** An owner that a session's start has started is ready for a prompt that is typed. */
const TYPING_MS = 4_000;

interface Times {
  readonly ms: number[];
  brought: number;
}

export async function measureSessions(bench: BenchHome, script: HookScript, floors: Floors, runs: number) {
  const warm = await withOwner(bench, script, runs);
  const curl = await curlFloor(bench.home.socket, runs);
  const cold = await withNobody(bench, script, runs);
  const shell = "an empty shell";
  const group = "What a session waits for";
  const time = (name: string, { ms }: Times, floor: number, of: string, most?: number): Figure =>
    figure(group, {
      name,
      unit: "ms",
      is: spread(ms).p50,
      floor,
      of,
      ...(most === undefined ? {} : { most: { value: most } }),
    });
  const missed = (name: string, { ms, brought }: Times): Figure =>
    figure(group, {
      name,
      unit: "runs",
      is: ms.length - brought,
      floor: ms.length,
      of: "of so many",
      most: { value: 0 },
    });
  return [
    time("opening, nobody there", cold.start, floors.shell, shell, 50),
    missed("opening, nobody there: without the block", cold.start),
    time("opening, owner there", warm.start, floors.shell, shell, 50),
    missed("opening, owner there: without the block", warm.start),
    time("prompt right after a start with nobody there", cold.prompt, floors.shell, shell, 50),
    time("prompt typed after a start with nobody there", cold.typed, curl, "curl to the owner"),
    missed("prompt typed after such a start: no memories", cold.typed),
    time("prompt, owner there", warm.prompt, curl, "curl to the owner"),
    figure(group, {
      name: "opening",
      unit: "tokens",
      is: await tokensOf(cold.opening),
      floor: 600,
      of: "a few hundred",
    }),
  ];
}

async function withOwner(bench: BenchHome, script: HookScript, runs: number) {
  const start: Times = { ms: [], brought: 0 };
  const prompt: Times = { ms: [], brought: 0 };
  const p = picker(11);
  await timeCommand(bench.program, "warm up");
  for (let n = 0; n < runs; n++) {
    bench.progress.show(n, runs, "hooks with an owner there");
    const session = sessionOf(bench, script, `warm-${process.pid}-${n}`);
    add(start, await timeHook(script, "SessionStart", { ...session, source: "startup" }));
    await pause(BETWEEN_MS);
    add(prompt, await timeHook(script, "UserPromptSubmit", { ...session, prompt: promptText(p) }));
    await pause(BETWEEN_MS);
  }
  return { start, prompt };
}

async function withNobody(bench: BenchHome, script: HookScript, runs: number) {
  const start: Times = { ms: [], brought: 0 };
  const prompt: Times = { ms: [], brought: 0 };
  const typed: Times = { ms: [], brought: 0 };
  const p = picker(13);
  let opening = "";
  for (let n = 0; n < runs; n++) {
    bench.progress.show(n, runs, "hooks that find nobody");
    await stopOwner(bench.home);
    const session = sessionOf(bench, script, `cold-${process.pid}-${n}`);
    const started = await timeHook(script, "SessionStart", { ...session, source: "startup" });
    add(start, started);
    opening = contextIn(started.said);
    add(prompt, await timeHook(script, "UserPromptSubmit", { ...session, prompt: promptText(p) }));
    await pause(TYPING_MS);
    add(typed, await timeHook(script, "UserPromptSubmit", { ...session, prompt: promptText(p) }));
  }
  return { start, prompt, typed, opening };
}

const sessionOf = ({ home }: BenchHome, script: HookScript, session: string) => ({
  session_id: session,
  cwd: script.folder,
  transcript_path: join(home.root, "none.jsonl"),
});

function add(times: Times, { ms, said }: { readonly ms: number; readonly said: string }): void {
  times.ms.push(ms);
  if (contextIn(said) !== "") times.brought += 1;
}

function contextIn(said: string): string {
  if (said.trim() === "") return "";
  const { hookSpecificOutput: answer } = JSON.parse(said) as { hookSpecificOutput?: { additionalContext?: string } };
  return answer?.additionalContext ?? "";
}

const tokensOf = async (text: string): Promise<number> => (await openTokenizer("o200k_base")).count(text);
