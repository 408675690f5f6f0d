/** `butler bench latency`: builds a store of invented memories and measures calls, processes and memory on it. */

import { connectOwner } from "../../daemon/line/client.ts";
import { findOwner } from "../../daemon/owner/start-owner.ts";
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import { asOwner } from "../../main/owner/launch.ts";
import type { Context } from "../../main/program/command.ts";
import { version } from "../../main/version.ts";
import { type BenchHome, type BenchHomeOptions, filled, opened, thisMachine, withBenchHome } from "../bench-home.ts";
import { answerOf } from "../build.ts";
import { type Build, type Report, round, spread, table, verdicts } from "../figures.ts";
import { inputsOf, type Measured, measureCalls, SEARCH } from "../measure.ts";
import { measureSocket, residentMb, timeCommand, weighProxy } from "./processes.ts";

const COLD_STARTS = 3;
const STEPS = 16;

export async function benchLatency(
  options: BenchHomeOptions & { readonly json: boolean },
  context: Context,
): Promise<void> {
  const report = await withBenchHome(options, context, measure);
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of table(report)) context.say(line);
}

async function measure(bench: BenchHome): Promise<Report> {
  const machine = thisMachine();
  await stopOwner(bench.home);
  const { build, measured, seed } = await inThisProcess(bench);
  const open_store = await openAndSearch(bench, seed);
  const outside = await inOtherProcesses(bench, seed, open_store);
  const { version: made } = bench.model;
  const report = {
    n: bench.n,
    store: bench.store,
    queries: bench.queries,
    machine,
    model: `${made.model} ${made.variant}`,
    build,
    ...measured,
    ...outside,
  };
  return { ...report, targets: verdicts(report) };
}

async function inThisProcess(bench: BenchHome): Promise<{ build: Build | null; measured: Measured; seed: number }> {
  const { memory, close } = await opened(bench);
  try {
    const { build, have } = await filled(bench, memory);
    // The measured writes stay in a kept store: another seed makes the next run write other texts.
    const seed = 1_000_003 * (have + 1);
    let step = 0;
    const measured = await measureCalls(memory, bench.queries, seed, (name) =>
      bench.progress.show(++step, STEPS, name),
    );
    return { build, measured, seed };
  } finally {
    await close();
  }
}

async function openAndSearch(bench: BenchHome, seed: number): Promise<number> {
  bench.progress.show(STEPS - 3, STEPS, "opening the store");
  const started = performance.now();
  const { memory, close } = await opened(bench);
  try {
    for (const input of searches(1, seed + 300)) await answerOf(memory, "memory_search", input);
    return round(performance.now() - started, 0);
  } finally {
    await close();
  }
}

const searches = (count: number, seed: number) => inputsOf(SEARCH, count, seed);

async function inOtherProcesses(
  bench: BenchHome,
  seed: number,
  open_store: number,
): Promise<Pick<Report, "socket" | "first_answer_ms" | "memory_mb">> {
  const { home, program, progress, queries } = bench;
  const asked = searches(3 * COLD_STARTS, seed + 400).map(({ query }) => query);
  const cold: number[] = [];
  const warm: number[] = [];
  try {
    for (let round = 0; round < COLD_STARTS; round++) {
      progress.show(STEPS - 2, STEPS, "new processes");
      await stopOwner(home);
      cold.push(await timeCommand(program, asked[round] ?? "release"));
    }
    for (let round = 0; round < COLD_STARTS; round++)
      warm.push(await timeCommand(program, asked[COLD_STARTS + round] ?? "release"));
    progress.show(STEPS - 1, STEPS, "the local socket");
    const owner = await findOwner(home, 5_000);
    if (!owner) throw unavailable("The owner has gone while it was being measured.");
    const launch = asOwner(program);
    const client = connectOwner({ home, launch, version, agent: true });
    const socket = await measureSocket(client, owner, program.butler, queries, seed + 500);
    const memoryOwner = residentMb(owner.pid);
    const proxy = await weighProxy(program, asked[2 * COLD_STARTS] ?? "release");
    client.close();
    return {
      socket,
      first_answer_ms: { new_process: spread(cold), with_owner: spread(warm), open_store },
      memory_mb: { owner: memoryOwner, proxy: proxy.resident, proxy_unshared: proxy.unshared },
    };
  } finally {
    await stopOwner(home);
  }
}
