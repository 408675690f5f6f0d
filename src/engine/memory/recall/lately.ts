/** What happened lately, as lines of an opening: what was said and decided for as long as it is there, what was worked on for a few sessions. */

import { type Gist, gistOf } from "../../domain/learning/gist.ts";
import { junkReasons } from "../../domain/lifecycle/junk.ts";
import type { Line } from "../../domain/ranking/budget.ts";
import { dayOf } from "../../domain/ranking/scoring.ts";
import { neutralLine } from "../../domain/text/neutral.ts";
import { contentKey } from "../../domain/text/text.ts";
import type { OpeningEpisode } from "../../store/memories/opening.ts";
import type { ContextItem } from "./block.ts";

/** What was only worked on is told of so many sessions, the last ones. */
const WORKED_ON_SESSIONS = 3;
const MOST_LINES = 16;
/** How many days of age weigh as much as one step of worth. */
const DAYS_A_STEP = 4;
/** What was left open, and what was said of the day, is told for so many days. */
const OPEN_DAYS = 1;

interface Told {
  readonly episode: OpeningEpisode;
  readonly gist: Gist;
}

/** Newest first. When there are too many, what is worth less and older is left out. */
export function latelyLines(episodes: readonly OpeningEpisode[], now: Date): Line<ContextItem>[] {
  const sessions = new Set([...new Set(episodes.map(({ session_id }) => session_id))].slice(0, WORKED_ON_SESSIONS));
  const age = ({ occurred_at }: OpeningEpisode) => Math.max(0, dayOf(now) - dayOf(occurred_at));
  const isOver = (episode: OpeningEpisode, { worth, momentary }: Gist) =>
    (worth === 1 && !sessions.has(episode.session_id)) || (momentary && age(episode) > OPEN_DAYS);
  const corrected = correctedIn(episodes);
  const told = episodes
    .filter(({ content }) => junkReasons(content).length === 0)
    .flatMap((episode): Told[] => {
      const gist = gistOf(episode.content);
      if (gist === undefined || isOver(episode, gist) || (gist.worth < 3 && corrected.has(placeOf(episode)))) return [];
      return [{ episode, gist }];
    });
  const weight = ({ gist, episode }: Told) => gist.worth - age(episode) / DAYS_A_STEP;
  const kept = told.toSorted((a, b) => weight(b) - weight(a) || byTime(a, b)).slice(0, MOST_LINES);
  return kept.toSorted(byTime).map((one) => lineOf(one, age(one.episode) <= OPEN_DAYS));
}

const placeOf = ({ session_id, ordinal }: Pick<OpeningEpisode, "session_id" | "ordinal">): string =>
  JSON.stringify([session_id, ordinal]);

/** What the person set right with their next words: the correction says all that is left of it. */
function correctedIn(episodes: readonly OpeningEpisode[]): ReadonlySet<string> {
  const corrections = episodes.filter(({ tags, ordinal }) => ordinal !== null && tags.includes("correction"));
  return new Set(corrections.map(({ session_id, ordinal }) => placeOf({ session_id, ordinal: (ordinal ?? 0) - 1 })));
}

const byTime = (a: Told, b: Told): number =>
  b.episode.occurred_at.getTime() - a.episode.occurred_at.getTime() || (a.episode.id < b.episode.id ? 1 : -1);

function lineOf({ episode, gist }: Told, withOpen: boolean): Line<ContextItem> {
  const { id, speaker, occurred_at, importance } = episode;
  const who = speaker === null ? "" : ` ${neutralLine(speaker)}:`;
  const open = withOpen && gist.open !== "" ? ` (open: ${gist.open})` : "";
  return {
    line: `- ${occurred_at.toISOString().slice(0, 10)}${who} ${neutralLine(`${gist.text}${open}`)}\n`,
    item: { type: "episode", id, score: importance },
    key: contentKey(gist.text),
  };
}
