/** `butler bench hooks`: the hooks that `butler install claude-code` puts into an agent, and `butler run`, as whole processes. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import { pause } from "../../daemon/pause.ts";
import type { Context } from "../../main/program/command.ts";
import {
  type BenchHome,
  type BenchHomeOptions,
  benchButler,
  filled,
  opened,
  thisMachine,
  withBenchHome,
} from "../bench-home.ts";
import { type Report, round, type Spread, spread } from "../figures.ts";
import { timeCommand } from "../latency/processes.ts";
import { picker, promptText } from "../sentences.ts";
import { fillElsewhere, installedHooks, learnElsewhere, PROJECT } from "./installed.ts";
import { agentStart, type HookScript, openFloor, timeHook } from "./measure.ts";

interface HookReport {
  readonly n: number;
  readonly machine: Report["machine"];
  readonly hooks: Readonly<Record<string, Spread>>;
  /** How many of the hooks brought memories. */
  readonly answered: { readonly start: number; readonly prompt: number; readonly cold: number };
  /** Milliseconds until the agent has started: by itself, by `butler run`, and the difference of the medians. */
  readonly run: { readonly alone: Spread; readonly with_memory: Spread; readonly added_p50: number };
  readonly targets: readonly {
    readonly name: string;
    readonly is: number;
    readonly most: number;
    readonly met: boolean;
  }[];
}

const COLD_STARTS = 10;
const NEW_OWNERS = 5;
/** An owner that has just opened its store reads it into memory, a second for 10,000 memories; what it answers meanwhile is a row of its own. */
const SETTLE_MS = 3_000;
const RUNS = 20;
/** The pause between two hooks. A person takes longer to type; counting references, which follows an answer, is over by then. */
const BETWEEN_MS = 200;
/** What a prompt may add to a bare shell and curl, where those take more than QUIET_FLOOR_MS (p50). */
const ABOVE_FLOOR_MS = 21;
const QUIET_FLOOR_MS = 14;
const PROMPT_MS = QUIET_FLOOR_MS + ABOVE_FLOOR_MS;
/** An agent that prints the time at which it began, and nothing else. */
const AGENT = "#!/bin/sh\ndate +%s%N\n";

interface HookOptions extends BenchHomeOptions {
  readonly json: boolean;
  /** Only builds the store and prints nothing. */
  readonly fill: boolean;
}

export async function benchHooks(options: HookOptions, context: Context): Promise<void> {
  if (options.fill) return withBenchHome(options, context, fill);
  const report = await withBenchHome(options, context, measure);
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of lines(report)) context.say(line);
}

async function measure(bench: BenchHome): Promise<HookReport> {
  const machine = thisMachine();
  await stopOwner(bench.home);
  fillElsewhere(bench, "hooks");
  learnElsewhere(bench);
  await stopOwner(bench.home);
  const agent = join(bench.home.root, "agent.sh");
  writeFileSync(agent, AGENT);
  chmodSync(agent, 0o755);
  useAgent(bench, agent);
  const script = installedHooks(bench);
  try {
    const measured = await hookTimes(bench, script);
    const run = await runTimes(bench, agent);
    const report = { n: bench.n, machine, ...measured, run };
    return { ...report, targets: verdicts(report) };
  } finally {
    await stopOwner(bench.home);
  }
}

/** The memories are stored in the project's own scope, where the sessions under test look. */
async function fill(bench: BenchHome): Promise<void> {
  const { memory, close } = await opened(bench);
  try {
    await filled(bench, memory, PROJECT);
  } finally {
    await close();
  }
}

function useAgent({ home, butler }: BenchHome, agent: string): void {
  const file = join(home.root, "roster", butler.name, "butler.toml");
  const { toml } = benchButler(butler.name);
  writeFileSync(file, `${toml}\n[butler.runtime]\ncommand = "sh"\nargs = ["${agent}"]\n`);
}

async function hookTimes(bench: BenchHome, script: HookScript): Promise<Pick<HookReport, "hooks" | "answered">> {
  const { home, program, progress, queries } = bench;
  const times: Record<string, number[]> = { start: [], prompt: [], stop: [], floor: [], first: [], cold: [] };
  const answered = { start: 0, prompt: 0, cold: 0 };
  const p = picker(7);
  const transcript_path = join(home.root, "none.jsonl");
  const input = (session: string) => ({ session_id: session, cwd: script.folder, transcript_path });
  const floor = await openFloor(home.root);
  const bare = floor.script(script.env);
  await timeCommand(program, "warm up");
  await pause(SETTLE_MS);
  for (let n = 0; n < queries; n++) {
    progress.show(n, queries, "hooks with a warm owner");
    const session = `warm-${process.pid}-${n}`;
    const start = await timeHook(script, "SessionStart", { ...input(session), source: "startup" });
    await pause(BETWEEN_MS);
    const prompt = await timeHook(script, "UserPromptSubmit", { ...input(session), prompt: promptText(p) });
    await pause(BETWEEN_MS);
    const stop = await timeHook(script, "Stop", input(session));
    await pause(BETWEEN_MS);
    // In turns with the others, so that other load on the machine affects all alike.
    const alone = await timeHook(bare, "Stop", input(session));
    times.floor?.push(alone.ms);
    times.start?.push(start.ms);
    times.prompt?.push(prompt.ms);
    times.stop?.push(stop.ms);
    if (start.said.includes("additionalContext")) answered.start += 1;
    if (prompt.said.includes("additionalContext")) answered.prompt += 1;
  }
  await floor.close();
  for (let n = 0; n < NEW_OWNERS; n++) {
    progress.show(n, NEW_OWNERS, "first prompts of an owner");
    await stopOwner(home);
    await timeCommand(program, "open the store");
    const session = input(`new-${process.pid}-${n}`);
    await timeHook(script, "SessionStart", { ...session, source: "startup" });
    await pause(BETWEEN_MS);
    const first = await timeHook(script, "UserPromptSubmit", { ...session, prompt: promptText(p) });
    times.first?.push(first.ms);
  }
  for (let n = 0; n < COLD_STARTS; n++) {
    progress.show(n, COLD_STARTS, "hooks that find nobody");
    await stopOwner(home);
    const cold = await timeHook(script, "SessionStart", { ...input(`cold-${process.pid}-${n}`), source: "startup" });
    times.cold?.push(cold.ms);
    if (cold.said.includes("additionalContext")) answered.cold += 1;
  }
  return { hooks: Object.fromEntries(Object.entries(times).map(([name, all]) => [name, spread(all)])), answered };
}

async function runTimes({ program, progress, butler }: BenchHome, agent: string): Promise<HookReport["run"]> {
  await timeCommand(program, "warm up again");
  const alone: number[] = [];
  const through: number[] = [];
  const words = [...program.args, "run", butler.name, "What is left to do for the release?", "--project", PROJECT];
  // In turns, so that other load on the machine affects both alike.
  for (let n = 0; n < RUNS; n++) {
    progress.show(n, RUNS, "butler run");
    alone.push(await agentStart("sh", [agent], program));
    through.push(await agentStart(program.command, words, program));
  }
  const [direct, withMemory] = [spread(alone), spread(through)];
  return { alone: direct, with_memory: withMemory, added_p50: round(withMemory.p50 - direct.p50) };
}

function verdicts({ hooks, run }: Pick<HookReport, "hooks" | "run">): HookReport["targets"] {
  const target = (name: string, is: number, most: number) => ({ name, is, most, met: is <= most });
  return [
    target("SessionStart, warm, p95 ms", hooks.start?.p95 ?? Number.NaN, 150),
    target("SessionStart, cold, max ms", hooks.cold?.max ?? Number.NaN, 2_000),
    target("UserPromptSubmit p95 ms", hooks.prompt?.p95 ?? Number.NaN, mostForPrompt(hooks.floor?.p50 ?? 0)),
    target("butler run adds, median ms", run.added_p50, 100),
  ];
}

/** On a machine where a bare shell and curl take longer, a prompt may take so much longer too. */
const mostForPrompt = (floor: number): number => round(Math.max(PROMPT_MS, floor + ABOVE_FLOOR_MS));

function lines({ n, machine, hooks, answered, run, targets }: HookReport): string[] {
  const row = (name: string, { count, p50, p95, max }: Spread) =>
    `  ${name.padEnd(26)} ${String(count).padStart(5)} ${[p50, p95, max].map((ms) => ms.toFixed(1).padStart(9)).join("")}`;
  const names: Record<string, string> = {
    start: "SessionStart",
    prompt: "UserPromptSubmit",
    stop: "Stop",
    floor: "sh and curl alone",
    first: "first prompt of an owner",
    cold: "SessionStart, nobody there",
  };
  return [
    `${n} memories in one project, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, load ${machine.load}`,
    `  ${"milliseconds".padEnd(26)} ${"count".padStart(5)} ${["p50", "p95", "max"].map((head) => head.padStart(9)).join("")}`,
    ...Object.entries(hooks).map(([name, times]) => row(names[name] ?? name, times)),
    row("agent alone", run.alone),
    row("agent by butler run", run.with_memory),
    `  with memories: ${answered.start} starts, ${answered.prompt} prompts, ${answered.cold} of ${hooks.cold?.count} starts that found nobody`,
    ...targets.map(({ name, is, most, met }) => `  ${met ? "✓" : "✗"} ${name}: ${is} (≤ ${most})`),
  ];
}
