/** The speakers of the invented sessions: about half are conversations of two people, the others notes without a speaker. */
import { picker } from "../sentences.ts";
import { PEOPLE } from "../vocabulary.ts";

export const TURNS = 20;

export interface Turn {
  readonly session_id: string;
  readonly ordinal: number;
  readonly speaker?: string;
}

/** Session, speaker and position of the episode with this number: the same on every machine and in every run. */
export function turnOf(index: number): Turn {
  const session = Math.floor(index / TURNS);
  const ordinal = index % TURNS;
  const place = { session_id: `bench-${session}`, ordinal };
  const p = picker(session * 2_654_435_761 + 97);
  if (p.chance(0.5)) return place;
  const first = p.of(PEOPLE);
  const others = PEOPLE.filter((name) => name !== first);
  const pair = [first, p.of(others)];
  return { ...place, speaker: pair[ordinal % 2] ?? first };
}
