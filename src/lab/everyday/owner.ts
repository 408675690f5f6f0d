/** The owner: its first answer after a cold start, the memory it takes awake and at rest, and how soon it is back. */
import { connectOwner } from "../../daemon/line/client.ts";
import { requestOwner } from "../../daemon/line/request.ts";
import { findOwner } from "../../daemon/owner/start-owner.ts";
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import { MemoryError, unavailable } from "../../engine/domain/errors.ts";
import { asOwner } from "../../main/owner/launch.ts";
import { version } from "../../main/version.ts";
import type { BenchHome } from "../bench-home.ts";
import { spread } from "../figures.ts";
import { cpuMs, residentMb } from "../latency/processes.ts";
import { picker, promptText } from "../sentences.ts";
import { type Figure, figure } from "./figure.ts";
import type { Floors } from "./floors.ts";

interface OwnerTimes {
  readonly first: number[];
  readonly cpu: number[];
  readonly awake: number[];
  readonly back: number[];
  awakeMb: number | null;
  restMb: number | null;
}

const REST_MS = 30_000;

export async function measureOwner(bench: BenchHome, floors: Floors, runs: number): Promise<Figure[]> {
  const times: OwnerTimes = { first: [], cpu: [], awake: [], back: [], awakeMb: null, restMb: null };
  for (let n = 0; n < runs; n++) {
    bench.progress.show(n, runs, "cold owners");
    await stopOwner(bench.home);
    await oneLife(bench, times, 100 + n);
  }
  const group = "Owner";
  const node = "an empty Node process";
  const p50 = (all: readonly number[]) => (all.length === 0 ? null : spread(all).p50);
  return [
    figure(group, {
      name: "cold start to the first answer",
      unit: "ms",
      is: p50(times.first),
      floor: floors.node,
      of: node,
      most: { value: 1_200 },
    }),
    figure(group, {
      name: "cold start to the first answer",
      unit: "CPU ms",
      is: p50(times.cpu),
      floor: floors.node,
      of: node,
    }),
    figure(group, { name: "resident, awake", unit: "MB", is: times.awakeMb, floor: floors.nodeMb, of: node }),
    figure(group, {
      name: "resident, at rest",
      unit: "MB",
      is: times.restMb,
      floor: floors.nodeMb,
      of: node,
      most: { value: 150 },
    }),
    figure(group, {
      name: "first answer after a rest",
      unit: "ms",
      is: p50(times.back),
      floor: p50(times.awake),
      of: "the same call, awake",
      most: { value: 500 },
    }),
  ];
}

async function oneLife({ home, program }: BenchHome, times: OwnerTimes, seed: number): Promise<void> {
  const p = picker(seed);
  const launch = asOwner(program);
  const client = connectOwner({ home, launch, version });
  async function ask(into: number[]): Promise<void> {
    const started = performance.now();
    const input = { trigger_prompt: promptText(p) };
    const outcome = await client.invoke(program.butler, { tool: "memory_context", input });
    if (!outcome.ok) throw new MemoryError(outcome.error.code, outcome.error.message);
    into.push(performance.now() - started);
  }
  try {
    await ask(times.first);
    const owner = await findOwner(home, 5_000);
    if (!owner) throw unavailable("The owner has gone while it was being measured.");
    const cpu = cpuMs(owner.pid);
    if (cpu !== null) times.cpu.push(cpu);
    for (let n = 0; n < 10; n++) await ask(times.awake);
    times.awakeMb = residentMb(owner.pid);
    await requestOwner({ socket: home.socket, method: "POST", path: "/owner/rest", timeoutMs: REST_MS });
    times.restMb = residentMb(owner.pid);
    await ask(times.back);
  } finally {
    client.close();
  }
}
