/** All peers are open at the same time, each in its process, and are asked in turns: no minute of the machine is one peer's alone. */
import { reasonOf } from "../../engine/domain/errors.ts";
import type { Turn } from "./measure.ts";
import type { PeerProcess } from "./process.ts";

/** So often each has its turn: with a part of the questions one at a time, and later with some eight at once. */
const ROUNDS = 8;
const ROUNDS_AT_ONCE = 2;

/** Of `count` questions a share for each of so many rounds. */
const parts = (count: number, rounds: number): [number, number][] =>
  Array.from({ length: rounds }, (_, round): [number, number] => [
    Math.floor((round * count) / rounds),
    Math.floor(((round + 1) * count) / rounds),
  ]).filter(([from, to]) => to > from);

export function turnsOf(questions: number, atOnce: number): Turn[] {
  return [
    ...parts(questions, ROUNDS).map((one) => ({ one })),
    ...parts(atOnce, ROUNDS_AT_ONCE).map((at_once) => ({ at_once })),
  ];
}

/** What each answers at the end, or why it has not. Those that are told here have answered that they are open. */
export async function askInTurns<T>(
  peers: ReadonlyMap<string, PeerProcess>,
  turns: readonly Turn[],
  show: (turn: number) => void,
): Promise<Map<string, T | string>> {
  const results = new Map<string, T | string>();
  const go = async <A>(name: string, work: () => Promise<A>): Promise<A | undefined> => {
    if (results.has(name)) return undefined;
    try {
      return await work();
    } catch (error) {
      results.set(name, reasonOf(error));
      return undefined;
    }
  };
  for (const [index, turn] of turns.entries()) {
    show(index + 1);
    for (const [name, peer] of peers)
      await go(name, () => {
        peer.tell(turn);
        return peer.answer();
      });
  }
  for (const [name, peer] of peers) {
    peer.end();
    const figures = await go(name, () => peer.answer<T & object>());
    if (figures !== undefined) results.set(name, figures);
  }
  return results;
}
