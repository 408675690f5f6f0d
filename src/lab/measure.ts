/** Times of calls in this process, as the owner makes them. Every query is new, because the embedder caches recent ones. */

import { setTimeout } from "node:timers/promises";
import type { Memory } from "../engine/memory/memory.ts";
import { asOwner } from "../engine/memory/tenancy.ts";
import { answerOf, ingestAll, perSecond } from "./build.ts";
import {
  AFTER_LOAD,
  type AtOnce,
  BESIDE_WRITES,
  type Floor,
  round,
  type Storage,
  spread,
  type Timed,
} from "./figures.ts";
import { atOnce } from "./latency/at-once.ts";
import { distinct, episodeText, type Pick, picker, promptText, queryText } from "./sentences.ts";
import { vectorBytes } from "./sql/sizes.ts";
import { stopwatch } from "./stopwatch.ts";

export interface Measured {
  readonly calls: Record<string, Timed>;
  readonly at_once: AtOnce;
  readonly floor: Floor | null;
  readonly storage: Storage | null;
  readonly ingest_per_second: number;
}

export interface Kind<Input = unknown> {
  readonly name: string;
  readonly tool: string;
  input(p: Pick): Input;
}

export const SEARCH: Kind<{ query: string }> = {
  name: "search hybrid",
  tool: "memory_search",
  input: (p) => ({ query: queryText(p) }),
};

export const KINDS: readonly Kind[] = [
  SEARCH,
  { name: "search keyword", tool: "memory_search", input: (p) => ({ query: queryText(p), mode: "keyword" }) },
  { name: "search semantic", tool: "memory_search", input: (p) => ({ query: queryText(p), mode: "semantic" }) },
  { name: "context", tool: "memory_context", input: (p) => ({ trigger_prompt: promptText(p) }) },
  { name: "store episode", tool: "memory_store_episode", input: (p) => ({ content: episodeText(p) }) },
];

/** What the model is asked alone, in turns with calls of these names. */
const TEXTS: Readonly<Record<string, (p: Pick) => string>> = { "search hybrid": queryText, context: promptText };

/** Calls before the measurement, so that the JIT compiler is done, as it is in an owner that has served for a while: V8 goes on compiling until about the 300th search. */
const WARM_UP = 150;
const INGEST = 500;

export async function measureCalls(
  memory: Memory,
  queries: number,
  seed: number,
  progress: (name: string) => void,
): Promise<Measured> {
  const storage = await storageOf(memory);
  // As in an owner that has served for a while.
  await memory.readModel.load(memory.versions.serving?.version, "default");
  progress("the model alone");
  const floor = await floorOf(memory, queries, seed + 50);
  const calls: Record<string, Timed> = {};
  for (const [index, kind] of KINDS.entries()) {
    progress(kind.name);
    calls[kind.name] = await measureKind(memory, kind, queries, seed + index, true, TEXTS[kind.name]);
  }
  // The same calls without a pause: each then waits for the counting of references that follows the one before it.
  for (const [index, kind] of KINDS.filter(({ name }) => name === "search hybrid" || name === "context").entries()) {
    progress(`${kind.name}, in a row`);
    calls[`${kind.name}, in a row`] = await measureKind(memory, kind, queries, seed + 100 + index, false);
  }
  progress("search hybrid, eight at once");
  const at_once = await atOnce(memory, inputsOf(SEARCH, queries, seed + 150));
  progress("ingest");
  const p = picker(seed + 200);
  const texts = distinct(Math.min(INGEST, queries * 10), () => `${episodeText(p)} (${seed})`);
  const ms = await ingestAll(memory, texts, p, () => undefined);
  progress("search hybrid, after a bulk load");
  calls[AFTER_LOAD] = await measureKind(memory, SEARCH, queries, seed + 250, true);
  progress("search hybrid, beside writes");
  calls[BESIDE_WRITES] = await besideWrites(memory, seed + 350, () =>
    measureKind(memory, SEARCH, queries, seed + 300, true),
  );
  await memory.afterwards.settled();
  return { calls, at_once, floor, storage, ingest_per_second: perSecond(texts.length, ms) };
}

/** So often another agent stores an episode meanwhile: the 40 a second of the load model. */
const WRITE_EVERY_MS = 25;

/** Writes go on, each as soon as the one before is done and its time has come, until the work is done. */
async function besideWrites<T>(memory: Memory, seed: number, work: () => Promise<T>): Promise<T> {
  const p = picker(seed);
  let over = false;
  const write = async () => {
    for (let n = 0; !over; n++) {
      const pause = setTimeout(WRITE_EVERY_MS);
      await answerOf(memory, "memory_store_episode", { content: `${episodeText(p)} (${seed} ${n})` });
      await pause;
    }
  };
  const writing = write();
  try {
    return await work();
  } finally {
    over = true;
    await writing;
  }
}

const SEARCHERS = 8;

async function floorOf({ embedder }: Memory, queries: number, seed: number): Promise<Floor | null> {
  if (embedder === undefined) return null;
  const p = picker(seed);
  const timesOf = async (text: () => string) => {
    const times: number[] = [];
    for (const one of distinct(queries + WARM_UP, text)) {
      const started = performance.now();
      await embedder.embed(one, "query");
      times.push(performance.now() - started);
    }
    return spread(times.slice(WARM_UP));
  };
  const query = await timesOf(() => queryText(p));
  const prompt = await timesOf(() => promptText(p));
  const texts = distinct(queries, () => `${queryText(p)} now`);
  const started = performance.now();
  const next = texts.values();
  await Promise.all(
    Array.from({ length: SEARCHERS }, async () => {
      for (const text of next) await embedder.embed(text, "query");
    }),
  );
  return { query, prompt, per_second: perSecond(texts.length, performance.now() - started) };
}

export function inputsOf<Input>(kind: Kind<Input>, count: number, seed: number): Input[] {
  const p = picker(seed);
  return distinct(count, () => kind.input(p), JSON.stringify);
}

export async function measureKind(
  memory: Memory,
  kind: Kind,
  queries: number,
  seed: number,
  calm: boolean,
  text?: (p: Pick) => string,
): Promise<Timed> {
  const watch = stopwatch(memory);
  const warmUp = Math.min(WARM_UP, queries);
  const inputs = inputsOf(kind, queries + warmUp, seed);
  const turns = text && modelTurns(memory, kind, text, inputs.length, seed);
  const times: number[] = [];
  let cpu = process.cpuUsage();
  let others = 0;
  for (const [index, input] of inputs.entries()) {
    if (index === warmUp) {
      await memory.afterwards.settled();
      watch.take();
      times.length = 0;
      turns?.times.splice(0);
      others = 0;
      cpu = process.cpuUsage();
    }
    const started = performance.now();
    await answerOf(watch.memory, kind.tool, input, { session: `bench-${seed}` });
    times.push(performance.now() - started);
    if (!calm) continue;
    watch.afterwards(true);
    await memory.afterwards.settled();
    watch.afterwards(false);
    const before = cpuMs();
    await turns?.next();
    others += cpuMs() - before;
  }
  await memory.afterwards.settled();
  const { user, system } = process.cpuUsage(cpu);
  const { steps, embeds, covered } = watch.take();
  const embedding = spread(embeds);
  // Without a pause the work after an answer overlaps the next call, so its time could not be told apart.
  if (calm) steps.set("JavaScript", Math.max(0, times.reduce((sum, ms) => sum + ms, 0) - covered));
  return {
    ...spread(times),
    embed_p50: embedding.p50,
    embed_p95: embedding.p95,
    ...(turns === undefined ? {} : { alone: spread(turns.times) }),
    cpu_ms: round(((user + system) / 1_000 - others) / times.length),
    steps: Object.fromEntries([...steps].map(([step, ms]) => [step, round(ms / times.length, 2)])),
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * The model alone after each call, and then such a call that is not timed: so the model, like the calls, comes upon caches and cores as a call and the
 * counting of what it read have left them. Asked in a row it finds its weights where it left them, which no call does.
 */
function modelTurns(memory: Memory, kind: Kind, text: (p: Pick) => string, count: number, seed: number) {
  const p = picker(seed + 60);
  const texts = distinct(count, () => text(p)).values();
  const between = inputsOf(kind, count, seed + 70).values();
  const times: number[] = [];
  return {
    times,
    async next(): Promise<void> {
      const [alone, input] = [texts.next().value, between.next().value];
      if (memory.embedder === undefined || alone === undefined) return;
      const started = performance.now();
      await memory.embedder.embed(alone, "query");
      times.push(performance.now() - started);
      await answerOf(memory, kind.tool, input, { session: `bench-${seed}` });
      await memory.afterwards.settled();
    },
  };
}

/** Bytes per memory of vectors and token bits with their indexes. */
export async function storageOf(memory: Memory): Promise<Storage | null> {
  const { serving } = memory.versions;
  if (serving === undefined) return null;
  const { rows, ...parts } = await vectorBytes(asOwner(memory, "lab"), serving.version);
  const each = (bytes: number) => round(bytes / Math.max(1, rows), 0);
  const { table, toast, ann_index, other_indexes } = parts;
  return {
    total: each(table + toast + ann_index + other_indexes),
    table: each(table),
    toast: each(toast),
    ann_index: each(ann_index),
    other_indexes: each(other_indexes),
  };
}
