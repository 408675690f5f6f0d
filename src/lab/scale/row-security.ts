/**
 * What row security costs: the same calls with it and without, in turns; of writes calls of the same kind, for none can be made twice. Every question has been asked once before, so that its
 * embedding is at hand: what is compared is the work of the store and of ranking, and the share is that of a search without its
 * forward pass, which is larger than that of a whole one.
 */
import type { Db } from "../../engine/adapters/db/port.ts";
import type { Embedding } from "../../engine/adapters/embedder/port.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { answerOf, countMemories } from "../build.ts";
import { round, spread } from "../figures.ts";
import { inputsOf, KINDS } from "../measure.ts";
import { episodeText, type Pick, picker } from "../sentences.ts";

export interface SecurityCost {
  /** Medians in milliseconds, of the faster of two calls for each question. */
  readonly on: number;
  readonly off: number;
  /** The median of what each question took longer, as a share of what it took without. */
  readonly share: number;
}

const COMPARED = ["search hybrid", "search keyword", "search semantic", "context"];
const TURNS = ["on", "off", "off", "on"] as const;

export async function securityCosts(
  memory: Memory,
  queries: number,
  seed: number,
): Promise<Record<string, SecurityCost>> {
  const memories = { on: memory, off: { ...memory, db: unsecured(memory.db) } };
  if ((await countMemories(memories.off)) === 0)
    throw unavailable("Without row security nothing can be read: measure with a superuser of the server.");
  const costs: Record<string, SecurityCost> = {};
  for (const [index, kind] of KINDS.filter(({ name }) => COMPARED.includes(name)).entries()) {
    const times = { on: [] as number[], off: [] as number[] };
    for (const input of inputsOf(kind, queries, seed + index)) {
      await answerOf(memory, kind.tool, input);
      const best = { on: Number.POSITIVE_INFINITY, off: Number.POSITIVE_INFINITY };
      for (const turn of TURNS) {
        await memory.afterwards.settled();
        const started = performance.now();
        await answerOf(memories[turn], kind.tool, input);
        best[turn] = Math.min(best[turn], performance.now() - started);
      }
      times.on.push(best.on);
      times.off.push(best.off);
    }
    const shares = times.on.map((on, at) => on / (times.off[at] ?? on) - 1);
    costs[kind.name] = costOf(times, median(shares));
  }
  return { ...costs, ...(await writeCosts(memories, queries, seed + 50)) };
}

type Times = Readonly<Record<"on" | "off", number[]>>;

const median = (shares: readonly number[]): number =>
  shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 0;
const costOf = ({ on, off }: Times, share: number): SecurityCost => ({
  ...{ on: spread(on).p50, off: spread(off).p50, share: round(share, 3) },
});

const WRITES: readonly {
  readonly name: string;
  readonly tool: "memory_store_episode" | "memory_store_fact";
  input(text: string, n: number): object;
}[] = [
  { name: "store episode", tool: "memory_store_episode", input: (content) => ({ content }) },
  {
    name: "store fact",
    tool: "memory_store_fact",
    input: (content, n) => ({ subject: `measured ${n}`, predicate: "said", content }),
  },
];

/** Each write is of another text, and its vector was made before: four at a time, and of each pair the faster one counts. */
async function writeCosts(
  memories: Readonly<Record<"on" | "off", Memory>>,
  queries: number,
  seed: number,
): Promise<Record<string, SecurityCost>> {
  const costs: Record<string, SecurityCost> = {};
  const p = picker(seed);
  const versions = await withVectorsReady(memories.on, p);
  const ready = { on: { ...memories.on, versions }, off: { ...memories.off, versions } };
  let n = seed;
  for (const { name, tool, input } of WRITES) {
    const times: Times = { on: [], off: [] };
    const shares: number[] = [];
    for (let round = 0; round < queries; round++) {
      const best = { on: Number.POSITIVE_INFINITY, off: Number.POSITIVE_INFINITY };
      for (const turn of TURNS) {
        const asked = input(`${episodeText(p)} ${n++}`, n);
        await memories.on.afterwards.settled();
        const started = performance.now();
        await answerOf(ready[turn], tool, asked as never);
        best[turn] = Math.min(best[turn], performance.now() - started);
      }
      times.on.push(best.on);
      times.off.push(best.off);
      shares.push(best.on / best.off - 1);
    }
    costs[name] = costOf(times, median(shares));
  }
  return costs;
}

const VECTORS = 50;

/** Vectors of other texts, one after the other: a forward pass would take longer than the store. */
async function withVectorsReady({ versions }: Memory, p: Pick): Promise<Memory["versions"]> {
  const written = versions.written.map(async (model) => {
    const made: Embedding[] = [];
    for (let nth = 0; nth < VECTORS; nth++) made.push(await model.embedder.embed(episodeText(p), "write"));
    let next = 0;
    const embed = async () => made[next++ % VECTORS] as Embedding;
    return { ...model, embedder: { ...model.embedder, embed } };
  });
  return { ...versions, written: await Promise.all(written) };
}

/** As the user of the connection, whatever a call asks for: row security does not bind a superuser. */
function unsecured(db: Db): Db {
  const bare: Db = { ...db.withSettings({}), withSettings: () => bare };
  return bare;
}
