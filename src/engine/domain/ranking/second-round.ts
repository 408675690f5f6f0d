/**
 * What only shows when every candidate has been looked at once: that it answers a relevant question, or belongs to a relevant
 * session; and what its own words and its date tell. Needs nothing that was not fetched for the first round.
 *
 * Together worth 2.7 points of recall@10 on LoCoMo conversations and 2.2 on REALTALK that nothing was tuned on, most of it
 * for questions about time (74 → 81).
 */
import { type AskedFor, askedFor, liesIn } from "./asked-for.ts";
import type { SecondRound } from "./recipe.ts";
import { type Told, told } from "./told-times.ts";

/** A candidate in its own words. */
export interface Said {
  readonly id: string;
  readonly text: string;
  readonly at: Date | null;
}

/** A candidate after the first round. */
export interface Candidate {
  readonly said: Said;
  /** 0..1. */
  readonly relevance: number;
  /** Where it stands; without a session it is no turn that is helped by those around it. */
  readonly session: string | undefined;
  readonly ordinal: number;
  /** Said by somebody with a name, in a session: an assistant always answers, and never of itself. */
  readonly named: boolean;
  readonly told?: (() => Told) | undefined;
}

export const SECOND_SIGNALS = ["answer", "self", "time", "session", "date"] as const;
type SecondSignal = (typeof SECOND_SIGNALS)[number];
export type SecondNumbers = Readonly<Record<SecondSignal, number>>;

export interface Second {
  readonly weights: SecondNumbers;
  of(candidate: Candidate): SecondNumbers;
}

const NOTHING: SecondNumbers = { answer: 0, self: 0, time: 0, session: 0, date: 0 };

/** `short`: 1 among short memories, 0 among long ones. */
export function secondRound(
  question: { readonly text: string; readonly names: readonly string[] },
  candidates: readonly Candidate[],
  recipe: SecondRound,
  short: number,
): Second {
  if (short === 0) return { weights: NOTHING, of: () => NOTHING };
  const asked = askedFor(question.text, question.names);
  const sessions = sessionsOf(candidates);
  return {
    weights: weigh(recipe, asked, short),
    of: (candidate) => {
      const { at } = candidate.said;
      const turns = candidate.session === undefined ? undefined : sessions.get(candidate.session);
      const words = candidate.named ? (candidate.told?.() ?? told(candidate.said.text)) : undefined;
      return {
        answer: candidate.named ? answered(candidate, turns) : 0,
        self: words?.self ?? 0,
        time: words?.time ? 1 : 0,
        // One that stands alone is a session of its own, so that a fact does not lose against turns.
        session: turns?.best ?? candidate.relevance,
        date: asked.dates.length > 0 && at !== null && liesIn(asked.dates, at) ? 1 : 0,
      };
    },
  };
}

const weigh = (recipe: SecondRound, { when, list }: AskedFor, short: number): SecondNumbers => ({
  answer: when ? 0 : short * recipe.answer,
  self: short * recipe.self,
  time: short * (recipe.time.always + (when ? recipe.time.asked : 0)),
  session: list ? 0 : short * recipe.session,
  date: short * recipe.date,
});

interface Session {
  best: number;
  readonly turns: Map<number, Candidate>;
}

function sessionsOf(candidates: readonly Candidate[]): ReadonlyMap<string, Session> {
  const sessions = new Map<string, Session>();
  for (const candidate of candidates) {
    if (candidate.session === undefined) continue;
    const session = sessions.get(candidate.session) ?? { best: 0, turns: new Map() };
    session.best = Math.max(session.best, candidate.relevance);
    session.turns.set(candidate.ordinal, candidate);
    sessions.set(candidate.session, session);
  }
  return sessions;
}

/** How relevant the turn before it is, if that asks anywhere. */
function answered({ ordinal }: Candidate, session: Session | undefined): number {
  const before = session?.turns.get(ordinal - 1);
  return before?.said.text.includes("?") ? before.relevance : 0;
}
