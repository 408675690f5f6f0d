/** Noun and verb phrases of a sentence: cut to the part that is understood alone, put into the third person, or refused. */
import { DATE_WORD } from "./patterns/dates.ts";

/** Words that point to something outside of the phrase: nobody could tell later what was meant. */
const POINTING =
  /\b(?:it|its|it's|this|that|that's|these|those|they|they're|them|their|theirs|he|she|him|his|hers?|you|your|yours|yourself|u|ya|ur|there|here|one|ones|same|such|another|other|others|else|both|each|either|way|ways|thing|things|stuff|something|anything|everything|nothing|someone|anyone|everyone|somebody|everybody|nobody|how|what|whatever|why|who|whoever|which|then|so|said|lot|lots|ton|tons|bunch|loads|bit|part|kind|sort|down|following|current|certain)\b|§/i;
const SELF = /\b(?:i|i'm|i've|i'd|i'll|we|we're|we've|mine|ours)\b/i;
const DOUBT =
  /\b(?:not|never|no|none|cannot|would|could|should|might|may|maybe|perhaps|probably|possibly|hopefully|if|unless|except|only|until|kinda|sorta|supposedly|apparently|almost|nearly|instead|neither|nor|without|as long as|rather|lol|haha|jk|kidding|joking|sarcasm)\b|n't\b/i;
const DANGLING =
  /(?:^|\s)(?:a|an|the|my|our|their|of|to|in|on|at|for|with|from|by|and|or|but|is|are|was|were|be|been|as|about|into|than|very|really|more|most|some|any|all|just|like|because|when|where|while|also|even|too)$/i;
const TAIL =
  /(?<![,\s])[,\s]+(?:so much|very much|a lot|a ton|a bunch|the most|too|as well|right now|at the moment|lately|recently|these days|nowadays|though|btw|by the way|of course|in general|really|actually|honestly|anyway|already|again|now|currently|either|for sure|for now|to be honest|tbh|imo|lol|haha|huh|right|you know|please|thanks|and all|and more|and so on|etc|just|myself|overall|in particular|at all|everyone|guys|folks|together|more than ever|like crazy|hard|so far|super|coming up|later|btw)$/i;
/** A second thought starts here; the phrase is complete without it. */
const SECOND =
  /(?<!\s)\s*(?:,\s*(?:but|and (?:i|it|we|he|she|they|you|my|the|then|now)|so|because|since|which|who|where|when|while|although|though|it|as|plus|especially|even|just|i|we|they|thanks|to be)\b|\s(?:because|'cause|cuz|since|when|whenever|while|although|though|which|where|as it|as i|as we|as they|so i|so we|so that|so it|so (?=\p{L}+ing\b)|but|after|plus|especially)\b|\s\(|:\s)[\s\S]*$/iu;
const MOST_WORDS = 16;

export interface Allowed {
  /** The most words that the phrase may have. */
  readonly words?: number;
  /** A phrase with a condition is refused instead of being cut before it, which would change what is meant. */
  readonly strict?: boolean;
}

/** "the bug", "the tests": which one was clear only when it was said. */
export const UNEXPLAINED =
  /^(?:(?:on|to|at|with|from|up|down) )?the (?:bugs?|issues?|problems?|errors?|tests?|builds?|files?|code|scripts?|functions?|meetings?|calls?|app|server|page|process|job|container|migration|download|docs|documentation|readme|logs?|results?|answer|data|change|changes|task|pipeline|branch|pr|ticket|email|report|place|event|trip|game|show|movie|book|picture|photo)$/i;

/** Moments and moods that nobody asks for later. */
export const FLEETING =
  /^(?:(?:a|an|the|some|such|my|our) )?(?:(?:really|so|super|very|quite|pretty|most|good|great|nice|amazing|awesome|wonderful|lovely|fun|bad|rough|tough|hard|long|busy|crazy|wild|whole|lot of|little|small|huge|real|serious|tons of) )*(?:time|day|days|week|weekend|night|morning|evening|blast|chat|talk|fun|moment|moments|look|idea|feeling|thought|news|experience|luck|problem|problems|issue|issues|question|questions|trouble|error|errors|exception|warning|response|result|results|mistake|typo|change|changes|commit|note|copy|decision|progress|sure|bit|break|breather|hold|point|sense|message|back|lost|stuck|tired|sick|nervous|emotional|excited|inspired|hooked|lucky|home|up|out|to sleep|to bed|through|over|better|worse)\b/i;

/** "my own studio" said by Ada is "their own studio" in a sentence about Ada. */
export const inThirdPerson = (text: string): string =>
  text
    .replace(/\b(?:my|our)\b/gi, "their")
    .replace(/\b(?:me|us)\b/g, "them")
    .replace(/\b(?:myself|ourselves)\b/gi, "themselves");

function trimmed(text: string): string {
  let inner = text.trim().replace(/^[,:\s]+|(?<![,.!;:\s-])[,.!;:\s-]+$/g, "");
  for (let round = 0; round < 4; round++) {
    const shorter = inner.replace(TAIL, "").replace(/(?<![,;:\s-])[,;:\s-]+$/, "");
    if (shorter === inner) break;
    inner = shorter;
  }
  return inner;
}

function standsAlone(text: string, allowed: Allowed): boolean {
  const words = text.split(" ");
  if (text.length < 2 || words.length > (allowed.words ?? MOST_WORDS)) return false;
  if (!/\p{L}{2}/u.test(text) || POINTING.test(text) || SELF.test(text) || DOUBT.test(text)) return false;
  if (DANGLING.test(text) || DATE_WORD.test(text) || /[<>{}[\]\\|=*_~^]{2}|https?:/.test(text)) return false;
  const quotes = text.split('"').length - 1;
  if (/^(?:a )?(?:few|couple|new)$/i.test(text)) return false;
  return quotes % 2 === 0 && text.includes("(") === text.includes(")");
}

/** The part before the mark; "a quick and painless visit" is not cut to "a quick". */
function cutAt(whole: string, mark: RegExp): string {
  const at = mark.exec(whole);
  if (at === null) return whole;
  const left = whole.slice(0, at.index);
  const right = whole.slice(at.index + at[0].length);
  const torn =
    /\b(?:a|an|the|my|our|their|some|more|very|so) [\p{L}-]+$/iu.test(left) &&
    /^(?!\p{L}+ing (?:it|an?|the|my|our|their|them|others|people)\b|(?:like|such as|including|with|for|to|as|so)\b)[\p{L}-]+ [\p{L}-]+/iu.test(
      right,
    );
  return torn ? whole : left;
}

/** The whole phrase, or the longest part of it from its start that is understood alone; `undefined` when there is none. */
export function phrase(raw: string, allowed: Allowed = {}): string | undefined {
  if (allowed.strict === true && /\b(?:if|unless|except|only|until|but not|as long as|used to|not)\b/i.test(raw))
    return undefined;
  const whole = raw.replace(/ for (?:quite )?a (?:while|bit|long time)\b/i, "").replace(SECOND, "");
  // "a bakery we go to": the bakery stands without the rest.
  const plain = whole.replace(/ (?:that )?(?:i|we) [\s\S]*$/i, "");
  if (plain !== whole && /\bthe \p{L}+$/u.test(plain)) return undefined;
  const cut = [cutAt(whole, /,? and /i), cutAt(whole, /, ?/)].toSorted((a, b) => b.length - a.length);
  for (const candidate of [whole, ...cut, plain]) {
    const text = trimmed(candidate);
    // "a letter to thank" lost whom.
    if (candidate !== whole && / to \p{L}+$/u.test(text)) continue;
    if (standsAlone(text, allowed)) return inThirdPerson(text);
  }
  return undefined;
}

const PAIRS = /\b(?:mac|rock|salt|black|pros|research|bed|fish|gin|peanut butter|trial|arts|trial|drum|tom) and\b/i;
const PLAIN = /^(?:the |a |an |their )?[\p{L}\p{N}.'-]+(?: [\p{L}\p{N}.'-]+)?$/u;

/** "tea, coffee and cake" → three; anything less plain stays whole. */
export function listed(text: string): string[] {
  if (!/ and |, /.test(text) || PAIRS.test(text)) return [text];
  const items = text.split(/,? and |, /i).map((item) => item.trim());
  const acts = items.filter((item) => /^\p{L}+ing\b/u.test(item)).length;
  const plain = items.every((item) => PLAIN.test(item) && !/\b(?:of|for|in|with|to|on)\b/i.test(item));
  return plain && items.length <= 6 && (acts === 0 || acts === items.length) ? items : [text];
}

const ARTICLE = /^(?:the|a|an|some|any|my|our|their|to)\s+/i;

/** The object as a key: without article, in lower case, short. */
export function keyOf(text: string): string {
  const key = text
    .replace(/["“”()`]|(?<![.,!;:])[.,!;:]+(?=\s|$)/g, "")
    .replace(ARTICLE, "")
    .toLowerCase()
    .trim();
  return key.length <= 80 ? key : key.slice(0, 80).replace(/\s\S*$/, "");
}

/** A name or a place: words with capitals, and the small ones between them. */
export const PROPER = String.raw`(?:\p{Lu}|\d)[\p{L}\p{N}.'&-]*(?:,? (?:(?:of|the|and|de|la|del|am|an der|upon|in) )?\p{Lu}[\p{L}\p{N}.'&-]*){0,4}`;

export function thirdPerson(verb: string): string {
  const known: Readonly<Record<string, string>> = {
    am: "is",
    are: "is",
    have: "has",
    do: "does",
    go: "goes",
    be: "is",
  };
  const lower = verb.toLowerCase();
  const irregular = known[lower];
  if (irregular !== undefined) return irregular;
  if (/(?:s|sh|ch|x|z|o)$/.test(lower)) return `${lower}es`;
  return /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}

/** Forms that are the same for everybody: what may be, and what was. */
const SAME_FOR_ALL = new Set(
  `will would can could should must might may shall cannot did was were had said told made went took got gave wrote saw came kept left
  meant thought found felt knew ran sent built bought brought began chose lost met paid spoke spent taught understood won held stood
  drew grew broke drove ate sold slept showed heard`.split(/\s+/),
);
/** Present, though they end as a past does. */
const ENDS_SO = /^(?:need|feed|proceed|succeed|exceed|speed|seed|heed|embed|shed|breed|bleed)$/;

/** A verb as it follows "I", said of somebody else: "I use" and "I don't" change, "I had" and "I asked" do not. */
export function saidOfThem(verb: string): string {
  const [stem = "", not = ""] = verb.split(/(?=n['’]t$)/);
  if (not !== "") return (stem === "do" || stem === "have" ? thirdPerson(stem) : stem) + not;
  if (/['’]t$/.test(verb)) return verb;
  if (SAME_FOR_ALL.has(verb) || (verb.endsWith("ed") && !ENDS_SO.test(verb))) return verb;
  return thirdPerson(verb);
}
