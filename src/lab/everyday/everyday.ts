/** `butler bench everyday`: what a person who runs an agent all day waits for and pays for, each beside its floor in the same run. */
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import type { Context } from "../../main/program/command.ts";
import { type BenchHome, type BenchHomeOptions, thisMachine, withBenchHome } from "../bench-home.ts";
import type { Report } from "../figures.ts";
import { fillElsewhere, installedHooks, learnElsewhere } from "../hooks/installed.ts";
import { type Figure, figureLines } from "./figure.ts";
import { fillEveryday } from "./fill.ts";
import { floorsOf } from "./floors.ts";
import { measureLine } from "./line.ts";
import { measureOwner } from "./owner.ts";
import { measureSessions } from "./sessions.ts";

interface EverydayOptions extends BenchHomeOptions {
  readonly json: boolean;
  /** Only builds the store and prints nothing. */
  readonly fill: boolean;
}

interface EverydayReport {
  readonly n: number;
  readonly runs: number;
  readonly machine: Report["machine"];
  readonly figures: readonly Figure[];
}

export async function benchEveryday(options: EverydayOptions, context: Context): Promise<void> {
  if (options.fill) return withBenchHome(options, context, fillEveryday);
  const report = await withBenchHome(options, context, measure);
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of lines(report)) context.say(line);
}

async function measure(bench: BenchHome): Promise<EverydayReport> {
  const { n, queries: runs } = bench;
  const machine = thisMachine();
  await stopOwner(bench.home);
  fillElsewhere(bench, "everyday");
  const script = installedHooks(bench);
  try {
    learnElsewhere(bench);
    const floors = await floorsOf(Math.max(runs, 10));
    const figures = [
      ...(await measureSessions(bench, script, floors, runs)),
      ...(await measureOwner(bench, floors, Math.min(runs, 5))),
      ...(await measureLine(bench, floors, runs)),
    ];
    return { n, runs, machine, figures };
  } finally {
    await stopOwner(bench.home);
  }
}

const lines = ({ n, runs, machine, figures }: EverydayReport): string[] => [
  `${n} memories in one project, medians of ${runs} runs; ${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
  ...figureLines(figures),
];
