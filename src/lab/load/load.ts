/** `butler bench load`: many people read and write at once for minutes, against an owner in a process of its own. */
import { connectOwner, type OwnerClient } from "../../daemon/line/client.ts";
import { findOwner } from "../../daemon/owner/start-owner.ts";
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import { pause } from "../../daemon/pause.ts";
import { MemoryError, unavailable } from "../../engine/domain/errors.ts";
import type { OpenMemory } from "../../engine/memory/open.ts";
import { wholeMemory } from "../../engine/memory/tenancy.ts";
import type { ToolAnswer } from "../../engine/tools/index.ts";
import { asOwner } from "../../main/owner/launch.ts";
import type { Context } from "../../main/program/command.ts";
import { version } from "../../main/version.ts";
import { type BenchHome, type BenchHomeOptions, filled, opened, thisMachine, withBenchHome } from "../bench-home.ts";
import { familyCpuMs, familyResidentMb } from "../family.ts";
import { round, spread } from "../figures.ts";
import { episodeText, picker, promptText } from "../sentences.ts";
import { heldEpisodes } from "../sql/held.ts";
import { drive, endOf, type MakeCall } from "./drive.ts";
import {
  cpuOf,
  growthOf,
  kindFigures,
  type LoadReport,
  loadLines,
  type Sample,
  slicesOf,
  verdictsOf,
  type Waiting,
  writesOf,
} from "./figures.ts";
import { arrivalsOf, type LoadShape } from "./schedule.ts";

interface LoadOptions extends BenchHomeOptions {
  readonly shape: LoadShape;
  readonly json: boolean;
}

/** Seconds of the same load before it is counted: an owner that has served for a while is compiled and has its arrays in memory. */
const WARM_UP_SECONDS = 10;
const ALONE = 100;
const REST_MS = 50;
const SAMPLE_MS = 1_000;
/** How long the counts may take: an owner that cannot keep up answers them behind all that waits. */
const COUNTS_MS = 15 * 60_000;
const SESSIONS = 300;

export async function benchLoad(options: LoadOptions, context: Context): Promise<void> {
  const report = await withBenchHome(options, context, (bench) => measure(bench, options.shape));
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of loadLines(report)) context.say(line);
}

async function measure(bench: BenchHome, shape: LoadShape): Promise<LoadReport> {
  await stopOwner(bench.home);
  const have = await fill(bench);
  const { acknowledged, ...seen } = await underLoad(bench, shape, have);
  const held = await heldOf(bench, acknowledged);
  const came = seen.after.episodes - seen.before.episodes;
  const report = { ...seen, ...writesOf(seen.kinds.episode.answered, held, came) };
  return { ...report, targets: verdictsOf(report) };
}

interface Seen extends Omit<LoadReport, "targets" | "lost" | "stored_unacknowledged"> {
  /** Ids of the episodes that the owner said it has stored. */
  readonly acknowledged: readonly string[];
}

/** Ends with its owner stopped. */
async function underLoad(bench: BenchHome, shape: LoadShape, have: number): Promise<Seen> {
  const { home, program, progress, n, store } = bench;
  const machine = thisMachine();
  const client = connectOwner({ home, launch: asOwner(program), version, agent: true });
  const patient = connectOwner({ home, launch: asOwner(program), version, answerMs: COUNTS_MS });
  try {
    const call = callsOn(client, program.butler, 7_000_003 * (have + 1));
    await oneAtATime(call, 1);
    const warm = { ...shape, seconds: Math.min(WARM_UP_SECONDS, shape.seconds / 5) };
    await drive(arrivalsOf(warm, picker(have + 1)), call, () => progress.show(0, shape.seconds, "warming up"));
    const alone = await oneAtATime(call, Math.min(ALONE, shape.reads * shape.seconds));
    const owner = await findOwner(home, 5_000);
    if (!owner) throw unavailable("The owner has gone while it was being measured.");
    const before = await waitingOn(patient, program.butler);
    const cpu = familyCpuMs(owner.pid);
    const watch = watchMemory(owner.pid);
    const driven = await drive(arrivalsOf(shape, picker(have + 2)), call, (second) =>
      progress.show(second, shape.seconds, "seconds under load"),
    );
    const samples = watch();
    const cpuAfter = familyCpuMs(owner.pid);
    const after = await waitingOn(patient, program.butler);
    const kinds = { context: kindFigures(driven.answers, "context"), episode: kindFigures(driven.answers, "episode") };
    const slices = slicesOf(shape.seconds, driven, samples);
    return {
      ...shape,
      n,
      store,
      machine,
      alone,
      kinds,
      slices,
      most_open: driven.most_open,
      drained_ms: round(driven.drained_ms, 0),
      late_p95: spread(driven.answers.map(({ late }) => late)).p95,
      resident_growth: growthOf(slices, kinds.episode.answered),
      cpu: cpuOf(cpu, cpuAfter, shape, driven),
      before,
      after,
      acknowledged: driven.answers.flatMap(({ acknowledged }) => acknowledged ?? []),
    };
  } finally {
    client.close();
    patient.close();
    await stopOwner(home);
  }
}

const fill = (bench: BenchHome): Promise<number> =>
  inStore(bench, async (memory) => (await filled(bench, memory)).have);

/** What the owner acknowledged is looked up in the store that it has left. */
const heldOf = (bench: BenchHome, acknowledged: readonly string[]): Promise<number> =>
  inStore(bench, (memory) => heldEpisodes(wholeMemory(memory, "lab").db, acknowledged));

async function inStore<T>(bench: BenchHome, work: (memory: OpenMemory) => Promise<T>): Promise<T> {
  const { memory, close } = await opened(bench);
  try {
    return await work(memory);
  } finally {
    await close();
  }
}

/** Every prompt and every episode is new: a repeated prompt would be answered from the embedder's cache, a repeated episode be a duplicate. */
function callsOn(client: OwnerClient, butler: string, seed: number): MakeCall {
  const p = picker(seed);
  let last = 0;
  return async ({ kind }) => {
    last += 1;
    const session = `load-${seed}-${last % SESSIONS}`;
    const asked =
      kind === "context"
        ? { tool: "memory_context", input: { trigger_prompt: promptText(p) }, session }
        : {
            tool: "memory_store_episode",
            input: { content: `${episodeText(p)} (${seed}/${last})`, session_id: session },
            session,
          };
    return endOf(kind, await client.invoke(butler, asked));
  };
}

async function oneAtATime(call: MakeCall, count: number) {
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const started = performance.now();
    const { error } = await call({ at: 0, kind: "context", burst: false }, number);
    if (error !== undefined) throw unavailable(`A context read failed before there was any load: ${error}.`);
    times.push(performance.now() - started);
    await pause(REST_MS);
  }
  return spread(times);
}

async function waitingOn(client: OwnerClient, butler: string): Promise<Waiting> {
  const outcome = await client.invoke(butler, { tool: "memory_stats", input: {} });
  if (!outcome.ok) throw new MemoryError(outcome.error.code, outcome.error.message);
  const { episodes } = outcome.answer as unknown as ToolAnswer<"memory_stats">;
  return { episodes: episodes.total, backlog: episodes.backlog, backlog_age_hours: episodes.backlog_age_hours };
}

/** Begins to sample; the returned function ends it. */
function watchMemory(pid: number): () => Sample[] {
  const samples: Sample[] = [];
  const started = performance.now();
  const take = () => samples.push({ at: performance.now() - started, mb: familyResidentMb(pid) });
  take();
  const timer = setInterval(take, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return samples;
  };
}
