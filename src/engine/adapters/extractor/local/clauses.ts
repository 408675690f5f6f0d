/** Splits a sentence into clauses and finds the subject and the date of each. What is conditional, quoted or about somebody unnamed is left out. */
import type { Clause, Person } from "./draft.ts";
import { findDate } from "./patterns/dates.ts";
import { OF_OTHERS, OF_SPEAKER, SUBJECTLESS, type Subject, THIRD } from "./patterns/subjects.ts";
import { find } from "./table.ts";

export interface Setting {
  /** Whom "I" is about; null when the speaker is no person to learn from. */
  readonly speaker: Person | null;
  readonly day: string;
  readonly betweenPeople: boolean;
  /** First names of people in the batch, in lower case: "Jo, I moved" is addressed to Jo. */
  readonly names: ReadonlySet<string>;
}

const SHORT: readonly (readonly [RegExp, string])[] = [
  [/\b[Ii]'m\b|\bIm\b/g, "I am"],
  [/\b([Ii]|[Ww]e|[Yy]ou|[Tt]hey)'ve\b/g, "$1 have"],
  [/\b([Ii]|[Ww]e|[Yy]ou|[Tt]hey|[Hh]e|[Ss]he|[Ii]t)'ll\b/g, "$1 will"],
  [/\b([Ii]|[Ww]e|[Yy]ou|[Tt]hey|[Hh]e|[Ss]he)'d\b/g, "$1 would"],
  [/\b([Ww]e|[Yy]ou|[Tt]hey)'re\b/g, "$1 are"],
  [/\bcan't\b|\bcan not\b/gi, "cannot"],
  [/\bwon't\b/gi, "will not"],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)n't\b/gi, "$1 not"],
  [/\bdont\b/gi, "do not"],
  [/\bgonna\b/gi, "going to"],
  [/\bwanna\b/gi, "want to"],
  [/\b[Ii]'ve got\b|\b([Ii]|[Ww]e) have got\b/g, "I have"],
  [/\bany more\b/gi, "anymore"],
];

/** Contractions are spelt out, except "it's" and "that's", which look like a possessive. */
export const spellOut = (text: string): string =>
  SHORT.reduce((said, [short, long]) => said.replace(short, long), text);

const OPENING =
  /^(?:hey|hi|hello|oh|ooh|wow|woah|whoa|yeah|yea|yes|yep|yup|no(?=,)|nope|well|so|and|also|plus|but|actually|btw|by the way|honestly|anyway|ok|okay|sure|sure thing|thanks(?: a (?:lot|bunch|ton))?(?: so much)?|thank you(?: so much)?|haha|lol|fyi|for context|for the record|for your information|besides|personally|to be honest|tbh|in fact|as you know|you know(?: what)?|right|cool|nice|great|awesome|definitely|absolutely|totally|exactly|for sure|of course|guess what|sadly|unfortunately|fortunately|luckily|happily|good news|great news|update|correction|sorry|aw|aww|oof|hmm|um|now|currently|lately|recently|these days|nowadays|at the moment|right now|as for me|funny enough|just so you know|just(?= (?:i|we)\b)|on another note|in other news|in the meantime|on the bright side|besides that|meanwhile|one more thing|note that|please note that|also note that|as i said|as mentioned|in general|overall)\b[,:!]?\s+/i;
const RECENT = /\b(?:just|newly)\b/i;
const LATELY = /\s(?:just )?(?:lately|recently)\b/i;
const ADVERB =
  "(?:really|just|also|actually|absolutely|totally|definitely|still|recently|finally|even|truly|honestly|simply|already|personally|especially|particularly|generally|usually|mostly|currently|now|super|so|very|quite|all|officially|basically|both|deeply|greatly|genuinely|sincerely|certainly|obviously|clearly|newly|strongly|much|naturally|proudly|happily|seriously|literally|completely|fully|originally|severely|highly|pretty)";
const AFTER_SUBJECT = new RegExp(
  `^((?:am|is|are|was|were|have been|has been|have|has|had|do not|does not|cannot|can not)\\s+)?(?:${ADVERB}\\s+)+`,
  "i",
);
/** Longer clauses are lists; patterns would only guess. */
const LONGEST = 300;
const HEDGE = /^(?:i (?:think|believe|guess|suppose|feel like)(?: that)?|maybe|perhaps|probably)\s+/i;
const SOFT = /\b(?:kinda|kind of|sort of|sorta)\s+/gi;
/** A condition or something imagined: the clause is no statement. */
const UNREAL =
  /^(?:if|unless|suppose|imagine|assuming|in case|as if|let's say|what if|even if|would|should|could|when i was|when we were)\b|\b(?:wish|hypothetically|pretend|for example|for instance|e\.g|as a joke|just kidding|in my dream|in the (?:book|film|movie|story|song|game))\b/i;
/** With one of these words the whole sentence is no statement of the speaker. */
export const NOT_MEANT =
  /\b(?:for example|for instance|e\.g|hypothetically|pretend|imagine|just kidding|as a joke|i wish|what if|let's say|role-?play|lol|lmao|jk|yeah right)\b/i;

/** False for what is imagined, an example or a joke, and for what the speaker would do on a condition. */
export const isMeant = (sentence: string): boolean => !(NOT_MEANT.test(sentence) || IMAGINED.test(sentence));
const IMAGINED =
  /^(?:suppose|imagine|assuming|in case|as if|even if|angenommen|gesetzt den fall|stell dir vor)\b|^(?:if|unless|wenn|falls) (?:only|i|we|my|our|ich|wir|mein|unser)\b/i;

/** What separates clauses. The blanks of a sentence are single. */
const BREAKS =
  / ?[-–—]+ |[-–—]{2,}| ?— ?|; ?| ?\.{2,} ?|,? (?:and|but|so|then) (?=(?:now |then |also |even |actually )?(?:i|i'm|i've|i'll|i'd|it|it's|we|we're|we've|he|she|they|you|there|this|that|that's|my|our)\b)|, (?=(?:i|i'm|i've|we|we're|we've|it|it's|my|our)\b)|, (?:but|which|because|although|though) | (?:because|'cause|although|though|which) |,? (?:now that|tell you(?: that)?|let you know(?: that)?|share that) (?=(?:i|we)\b)|(?:^|,? )since (?=(?:i|we)\b)|(?:^|,? )(?:especially )?after (?=(?:i|we)\b)| (?:why|how much) (?=i (?:really )?(?:love|enjoy|like)\b)/i;

/** "My wife and I" is one subject. */
const TOGETHER =
  /((?:^|[,–-] )(?:(?:oh|yeah|yes|well|so|also|hey|last \p{L}+|yesterday),? )?(?:(?:my|our) [\p{L}'-]+(?: [\p{L}'-]+)?(?:, \p{Lu}\p{L}+,?)?|some friends(?: from \p{L}+)?)) and (?=i )/giu;
/** "Last Friday, I went": the date belongs to what follows. */
const LEADING =
  /^(?:(?:and|so|also|then|but|oh|well),? )?(?:last|yesterday|today|tomorrow|this|next|on|in|back in|earlier)\b[^,]{0,25}$|^(?:about |just )?(?:a|an|one|two|three|four|five|six|\d+)\b[^,]{0,20} (?:ago|back)$/i;
/** "When I was ten, we moved": what follows is of another time, or depends on something. */
const APART =
  /^(?:(?:and|so|also|but|oh|well),? )?(?:when|whenever|while|as a (?:kid|child|teen|student)|back when|growing up|once|before|until)\b/i;
/** Of the rest of the sentence nothing is stated. */
const CONDITION =
  /^(?:(?:and|so|also|but|oh|well),? )?(?:if|unless|suppose|supposing|assuming|imagine|in case|what if|even if)\b/i;

/** "I'll decide after I've finished the draft": nothing is finished. */
function withoutAwaited(text: string): string {
  const at = text.search(/\s(?:only |right |until |soon |not until )?(?:after|once|when|as soon as) (?:i|we)\b/i);
  return at > 0 && AHEAD.test(text.slice(0, at)) ? text.slice(0, at) : text;
}
const AHEAD =
  /\b(?:will|would|going to|plan|plans|planning|want|need|hope|hoping|until|should|could|might|may|must|can|cannot|let's|wait|waiting|defer|postpone)\b/i;

export function clausesOf(text: string): string[] {
  const parts = withoutAwaited(text)
    .replace(TOGETHER, "$1 & ")
    .split(BREAKS)
    .filter((part) => part !== undefined && part.length > 3);
  const clauses: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = (parts[at] ?? "").trim();
    const next = parts[at + 1];
    if (CONDITION.test(part)) break;
    if (APART.test(part)) at++;
    else if (next !== undefined && LEADING.test(part)) clauses.push(`${part} ${(parts[++at] ?? "").trim()}`);
    else clauses.push(part);
  }
  return clauses;
}

/** The text without "Oh, hey Jo, actually" in front of it. Corrections are looked for before: they are known by their opening. */
export function withoutOpening(text: string, names: ReadonlySet<string>): string {
  let rest = text.trim();
  for (let round = 0; round < 6; round++) {
    const before = rest;
    rest = rest.replace(OPENING, "").replace(/^[,\s]+/, "");
    const name = /^(\p{Lu}\p{L}+)[,!]?\s+/u.exec(rest);
    if (
      name !== null &&
      names.has((name[1] ?? "").toLowerCase()) &&
      (name[0].includes(",") || /^(?:i|we|my|our)\b/i.test(rest.slice(name[0].length)))
    )
      rest = rest.slice(name[0].length);
    if (rest === before) break;
  }
  return rest;
}

const ABOUT = /\b(?:i|we|my|our)\b/i;
const OWNED = /^(?:my|our) /i;

/** A clause with what is known of it; the rest has the value for "not said". */
export function clauseOf(setting: Setting, subject: Subject): Clause {
  return {
    first: true,
    other: false,
    plural: false,
    companions: "",
    relative: null,
    recent: null,
    hedged: false,
    when: undefined,
    owned: OWNED.test(subject.rest),
    day: setting.day,
    betweenPeople: setting.betweenPeople,
    ...subject,
  };
}

/** The clause with its subject found and its date taken out, or `undefined`. */
export function readClause(raw: string, setting: Setting): Clause | undefined {
  const text = withoutOpening(raw, setting.names);
  // Most clauses of a conversation are about nobody who is known, and looking for dates is the most expensive step.
  if (!ABOUT.test(text) && !SUBJECTLESS.test(text) && !THIRD.test(text)) return undefined;
  if (UNREAL.test(text) || text.length > LONGEST) return undefined;
  const sure = text.replace(HEDGE, "").replace(SOFT, "");
  const dated = findDate(sure, setting.day);
  const bare = withoutOpening(dated?.text ?? sure, setting.names);
  const { speaker } = setting;
  const found =
    (speaker === null ? undefined : find(OF_SPEAKER, bare, { person: speaker, text: bare })) ??
    find(OF_OTHERS, bare, bare);
  if (found === undefined) return undefined;
  const { rest } = found.made;
  return clauseOf(setting, {
    ...found.made,
    rest: rest.trim().replace(LATELY, "").replace(AFTER_SUBJECT, "$1"),
    recent: LATELY.test(` ${rest}`) ? "recently" : RECENT.test(rest.slice(0, 30)) ? "just" : null,
    hedged: sure !== text,
    when: dated?.span,
  });
}
