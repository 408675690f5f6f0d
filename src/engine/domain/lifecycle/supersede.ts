/** What a newly told fact means for the live fact that holds its key. */

import type { Fact } from "../fact.ts";
import { isWeaker } from "../learning/trust.ts";
import { standingOf } from "../lifecycle/quarantine.ts";
import { sameMeaning } from "../text/text.ts";

export type Verdict = "create" | "confirm" | "supersede" | "history" | "contradict" | "echo";

/** A fact that is told, or one that holds the key. */
type Rivalry = Pick<Fact, "content" | "trust" | "valid_to" | "corroborated_at">;

/**
 * The same meaning confirms; another content supersedes. From a source that is trusted less, the same is an echo and another
 * content only contradicts. A fact whose validity has already ended is history: it is kept, and replaces no other. A holder
 * whose validity has ended gives way even to its own words: confirming it would leave what is true again out of every search.
 */
export function judgeFact(told: Rivalry, live: Rivalry | undefined, now: Date): Verdict {
  if (told.valid_to !== null && told.valid_to.getTime() <= now.getTime()) return "history";
  if (live === undefined) return "create";
  if (live.valid_to !== null && live.valid_to.getTime() <= now.getTime()) return "supersede";
  const same = sameMeaning(told.content, live.content);
  if (isWeaker(told.trust, standingOf(live))) return same ? "echo" : "contradict";
  return same ? "confirm" : "supersede";
}

export interface Judgement<H> {
  readonly verdict: Verdict;
  /** The fact that the verdict is about. */
  readonly holder: H | undefined;
  /** Those that give way. */
  readonly replaced: readonly H[];
}

/**
 * The same among all that holds a key: one fact that is true now, and those that wait for their day. What begins ahead leaves the
 * present one as it is. It has to do with what waits for the same day, or says the same of another one: the last word about a
 * plan is the plan.
 */
export function judgeTold<H extends Rivalry & Pick<Fact, "waits_until">>(
  told: Rivalry & Pick<Fact, "waits_until">,
  { live, waiting }: { readonly live: H | undefined; readonly waiting: readonly H[] },
  now: Date,
): Judgement<H> {
  const present = judgeFact(told, live, now);
  const day = told.waits_until?.getTime();
  if (day === undefined || present === "history")
    return { verdict: present, holder: live, replaced: present === "supersede" && live ? [live] : [] };
  const saysSame = (held: H) => sameMeaning(told.content, held.content);
  const isThen = (held: H) => held.waits_until?.getTime() === day;
  const rivals = waiting.filter((held) => isThen(held) || saysSame(held));
  const better = rivals.find((held) => isWeaker(told.trust, standingOf(held)));
  if (better) return { verdict: saysSame(better) ? "echo" : "contradict", holder: better, replaced: [] };
  const twin = rivals.find((held) => isThen(held) && saysSame(held));
  if (twin) return { verdict: "confirm", holder: twin, replaced: [] };
  if (rivals.length > 0) return { verdict: "supersede", holder: rivals[0], replaced: rivals };
  // "Berlin again from December" is news when Porto comes in June, though Berlin is true now.
  const between = waiting.some(({ waits_until }) => waits_until !== null && waits_until.getTime() < day);
  const isNews = present === "supersede" || (present === "confirm" && between);
  return isNews
    ? { verdict: "create", holder: undefined, replaced: [] }
    : { verdict: present, holder: live, replaced: [] };
}
