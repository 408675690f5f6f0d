/** Where the patterns and the reader found something in the same sentence: which of it is believed, and which of it is told. */
import { lexemes } from "../../../domain/text/lexemes.ts";
import { contentKey } from "../../../domain/text/text.ts";
import type { Reading } from "./read.ts";
import type { Read } from "./reader/reader.ts";
import type { Found } from "./table.ts";

/**
 * Tastes have the same form whether they are meant or not: where the reader finds nothing lasting ("oh great, i just love
 * queues"), they are not believed. What happened, and who somebody is, is.
 */
export function withoutDoubtful({ drafts, rules }: Reading, read: readonly Read[]): Reading {
  const doubted = read
    .filter(({ sureness, text }) => sureness < DOUBT && IRONY.test(text))
    .map(({ text }) => wordSet(text));
  const isDoubted = (content: string) => {
    const words = wordSet(content);
    return doubted.some((known) => [...words].every((word) => known.has(word)));
  };
  const isUnlikely = unlikelyBy(read);
  return {
    drafts: drafts.filter(
      ({ row, content, predicate, valid_to }) =>
        !(DOUBTFUL.test(row) && isDoubted(predicate.split(":")[1] ?? content)) &&
        (valid_to !== null || !isUnlikely(content)),
    ),
    rules: rules.filter(({ made }) => !isUnlikely(made)),
  };
}

/** Of 75 items that patterns found in such sentences, of authors whom the reader did not know, 6 were wanted. */
const UNLIKELY = 0.05;
const TO_REMEMBER =
  /(?<!\p{L})(?:remember|in mind|note that|a note|forget|for the record|merke?|notier\p{L}*|vergiss)(?!\p{L})/iu;

/** Whether the reader sees nothing lasting in any sentence that an item may come from. What somebody asks to
 * remember is never doubted, and a plan is over by itself. */
function unlikelyBy(read: readonly Read[]): (content: string) => boolean {
  const sentences = read.map(({ text, sureness }) => ({
    words: wordSet(text),
    unlikely: sureness < UNLIKELY && !TO_REMEMBER.test(text),
  }));
  return (content) => {
    const words = [...wordSet(content)];
    const from = sentences.filter((one) => 2 * words.filter((word) => one.words.has(word)).length >= words.length);
    return from.length > 0 && from.every(({ unlikely }) => unlikely);
  };
}

const DOUBT = 0.2;
/** Words that are said when something is not meant, or is somebody else's. */
const IRONY =
  /(?<!\p{L})(?:oh|great|just|so|said|says|especially when|ganz toll|na super|herrlich|toll|wunderbar|klasse|prima)(?!\p{L})|["“”„«»]/iu;
const DOUBTFUL = /^(?:preferences|favourites|object first|german)\//;

/** An item of a pattern is about a sentence if they share this much of the shorter one's words. */
const SHARED = 0.5;
/** Items of patterns tell a sentence if they have this share of its words. */
const TOLD = 0.6;
/** A sentence says more than the items if so many of its words are in none of them. */
const LEAST_MORE = 4;
/** "I'm" is what an item calls the user. */
const EMPTY = /^(?:user|the|i'(?:m|ve|d|ll)|we'(?:re|ve|d|ll))$/;
const wordSet = (text: string): ReadonlySet<string> =>
  new Set(
    contentKey(text)
      .split(" ")
      .filter((word) => word.length > 2 && !EMPTY.test(word)),
  );
const shared = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  [...one].filter((word) => other.has(word)).length;

const isAbout = (item: ReadonlySet<string>, sentence: ReadonlySet<string>): boolean => {
  const both = shared(item, sentence);
  return both > 0 && both >= SHARED * Math.min(item.size, sentence.size);
};

/** Words that mean something, without their endings: "lives" is what "live" is. */
const meaning = (text: string): ReadonlySet<string> => new Set(lexemes(text));

/** Whether the items tell the sentence, but for a word or two. */
function isTold(sentence: ReadonlySet<string>, items: readonly ReadonlySet<string>[]): boolean {
  const told = shared(sentence, new Set(items.flatMap((item) => [...item])));
  return told >= TOLD * sentence.size || sentence.size - told < LEAST_MORE;
}

/**
 * Whether the patterns have not found it in this episode; with `more`, a sentence of which they tell only a piece is
 * new too: "we chose that over month end math" is not what was chosen.
 */
export function besides({ drafts, rules }: Reading): (kept: Read, more?: "more") => boolean {
  const found = [...drafts.map(({ content }) => content), ...rules.map(({ made }) => made)].map((said) => ({
    words: wordSet(said),
    means: meaning(said),
  }));
  return ({ text }, more) => {
    const words = wordSet(text);
    const about = found.filter((item) => isAbout(item.words, words)).map(({ means }) => means);
    return about.length === 0 || (more !== undefined && !isTold(meaning(text), about));
  };
}

/** Whom an item is about is said by the patterns, not by the person. */
const SPEAKER = /^(?:The user|Der Nutzer)(?:'s)? /;
const DENIAL =
  /(?<!\p{L})(?:not|no(?!,)|never|none|nothing|nobody|without|cannot|dont|stop|avoid|nicht|nichts|kein\p{L}*|nie|niemals|ohne)(?!\p{L})|n't(?!\p{L})/iu;

/**
 * Without the pieces of sentences that the reader keeps whole, and without what has lost the "not" of such a sentence, unless it is
 * filed where a later word replaces it.
 */
export function withoutHalves({ drafts, rules }: Reading, sure: readonly Read[]): Reading {
  const sentences = sure.map(({ text }) => ({ means: meaning(text), denies: DENIAL.test(text) }));
  const isHalf = (content: string) => {
    const item = meaning(content.replace(SPEAKER, ""));
    const saysLess = (means: ReadonlySet<string>, denies: boolean) =>
      !isTold(means, [item]) || (denies && !DENIAL.test(content));
    return sentences.some(({ means, denies }) => shared(item, means) >= TOLD * item.size && saysLess(means, denies));
  };
  const stays = ({ predicate, valid_to, ends, reverses, needsPrevious }: Found) =>
    !predicate.includes(":") || valid_to !== null || ends.length > 0 || reverses || needsPrevious;
  return {
    drafts: drafts.filter((draft) => stays(draft) || !isHalf(draft.content)),
    rules: rules.filter(({ made }) => !isHalf(made)),
  };
}
