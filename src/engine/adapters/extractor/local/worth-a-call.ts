/** Which episodes are worth the call of a language model: the trained reader and the patterns look at them first, at no cost. */
import { withoutPasted } from "../../../domain/text/pasted.ts";
import type { EpisodeShown } from "../port.ts";
import { teachesNothing } from "./collect.ts";
import { readEpisode } from "./read.ts";
import { shippedReader } from "./reader/reader.ts";

/**
 * Far below the bars for learning without a model. Chosen with corpus/train alone, each author's messages read with weights that were
 * trained without that author: 99 % of what was worth keeping reaches it (`butler bench learning`).
 */
export const WORTH = 0.05;
/** A shorter text without a sentence in it ("ok", "1") says nothing. */
const LEAST_CHARS = 6;
/** A longer one without a sentence in it was pasted. */
const MOST_UNREAD_CHARS = 600;

/** A longer text is not read first; it is sent. */
const MOST_CHARS = 40_000;

/** How sure the reader may be, at most, that something in a person's words is worth keeping, from 0 to 1. */
export function hopeOf(text: string, reader = shippedReader()): number {
  if (text.length > MOST_CHARS) return 1;
  const { words } = withoutPasted(text);
  const sentences = reader.read(words);
  if (sentences.length === 0) return saysNothing(words) ? 0 : 1;
  const best = Math.max(...sentences.map(({ sureness }) => sureness));
  return best < WORTH && foundByPatterns(words) ? WORTH : best;
}

/** Of a text that looks like code ("std::thread is not allowed here") the reader has no opinion: a model may have one. */
const saysNothing = (words: string): boolean => words.length < LEAST_CHARS || words.length > MOST_UNREAD_CHARS;

const SPEAKER = { subject: "user", name: "The user" };

function foundByPatterns(text: string): boolean {
  const day = "2000-01-01";
  const said: EpisodeShown = { label: "e1", text, speaker: "user", day, trust: "user", session: null };
  const setting = { speaker: SPEAKER, day, betweenPeople: false, names: new Set<string>() };
  const { drafts, rules } = readEpisode(said, setting, undefined);
  return drafts.length > 0 || rules.length > 0;
}

/** What an assistant said and what tools gave out is read along with a person's words, and is no reason for a call. */
export const isWorthACall = (turn: EpisodeShown): boolean => !teachesNothing(turn) && hopeOf(turn.text) >= WORTH;
