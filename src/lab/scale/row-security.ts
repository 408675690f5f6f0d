/**
 * What row security costs: the same calls with it and without, in turns. Every question has been asked once before, so that its
 * embedding is at hand: what is compared is the work of the store and of ranking, and the share is that of a search without its
 * forward pass, which is larger than that of a whole one.
 */
import type { Db } from "../../engine/adapters/db/port.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { answerOf, countMemories } from "../build.ts";
import { round, spread } from "../figures.ts";
import { inputsOf, KINDS } from "../measure.ts";

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
    costs[kind.name] = {
      on: spread(times.on).p50,
      off: spread(times.off).p50,
      share: round(shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 0, 3),
    };
  }
  return costs;
}

/** As the user of the connection, whatever a call asks for: row security does not bind a superuser. */
function unsecured(db: Db): Db {
  const bare: Db = { ...db.withSettings({}), withSettings: () => bare };
  return bare;
}
