/** What a question is after, told by named signs in its words. Unsure is `other`, and `other` changes nothing. */
import type { MemoryType } from "../memory-types.ts";
import type { ScoreWeights } from "./scoring.ts";

export const INTENTS = ["identity", "preference", "procedure", "event", "other"] as const;
export type Intent = (typeof INTENTS)[number];
type Told = Exclude<Intent, "other">;

export interface IntentReading {
  readonly intent: Intent;
  /** 0 for `other`; otherwise from `SURE` to 1. */
  readonly confidence: number;
  /** The words that spoke for it, in lower case and without accents. */
  readonly because: readonly string[];
}

/** A sign of this weight decides alone; a lighter one needs another beside it. */
export const SURE = 0.5;
/** A prompt says at its beginning what it is after; far below is mostly pasted material. */
const LOOK = 4000;
/** Light signs are common words: somewhere in a long text one of each turns up by chance. */
const OPENING = 300;
const SHOWN = 60;

interface Sign {
  readonly weight: number;
  readonly pattern: RegExp;
}

/** A space in a pattern stands for a line break too, so that a wrapped text reads like one line. */
const spaced = (source: string): string => source.replaceAll(" ", "[ \\n]");
const says = (weight: number, source: string): Sign => ({ weight, pattern: new RegExp(`\\b(?:${spaced(source)})`) });

const POLITE =
  "(?:(?:please|now|okay|ok|so|then|and|(?:can|could) you|let's|help me|(?:tell|remind) me|do you (?:know|remember)|(?:i|we) (?:need|want) to),? ){0,3}";
/** Only where a sentence begins: "fix it" asks for work, "the fix" does not. */
const begins = (weight: number, source: string): Sign => ({
  weight,
  pattern: new RegExp(spaced(`(?:^|[.!?:;] |\\n)(?:[-*#>]+ )?${POLITE}(?:${source})\\b`)),
});

const DETAIL =
  "(?:(?:first |last |middle |full |maiden |nick|sur)?names?|birthday|age|job|profession|occupation|employer|e-?mail|(?:home |postal |e-?mail )?address|phone(?: number)?|nationality|hometown|pronouns|mother tongue|native language)\\b";
const KIN =
  "(?:wife|husband|partner|spouse|girlfriend|boyfriend|sister|brother|sibling|mother|father|mum|mom|dad|parent|son|daughter|child|kid|aunt|uncle|cousin|niece|nephew|grand(?:mother|father|ma|pa|son|daughter)|boss|colleague|landlord|neighbou?r|manager|dentist|doctor|dog|cat|pet)(?:s|ren)?\\b";
const OWNER = "(?:my|our|his|her|their|[a-z]+'s?)";
const ASKED = "(?:(?:what|which)(?:'s| is| are| was)|remind me of|tell me|give me|look up)";
const THING = "(?:this|that|the|it|these|those|there|you|i|we|one)\\b";
const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?\\b";
const MONTH =
  "(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\\b";
const METHOD =
  "(?:rules?|conventions?|polic(?:y|ies)|procedures?|process|steps|workflow|commands?|best practices?|guidelines?|checklist|protocol|ways? (?:to|of|for))\\b";
const LIKES = "(?:like|love|enjoy|hate|dislike|fancy)\\b";
const TREAT = "(?:cook|eat|wear|buy|watch|read|drink|order)\\b";
const WORK =
  "(?:fix|deploy|debug|refactor|implement|install|configure|set up|migrate|release|publish|upgrade|rebase|roll back|compile|commit|merge|troubleshoot)\\b(?! (?:was|is|were|are|has|had|notes?|date|day)\\b)";

const SIGNS: Readonly<Record<Told, Readonly<Record<string, Sign>>>> = {
  identity: {
    "who is": begins(0.7, "who(?:'s| is| are| was| am)(?! (?:going|supposed|responsible|at|on)\\b)"),
    whose: begins(0.5, "whose"),
    detail: says(0.7, `${ASKED} ${OWNER} (?:[a-z]+ ){0,2}(?:[a-z]+'s? )?${DETAIL}`),
    "detail of": says(0.6, `${ASKED} the ${DETAIL} of ${OWNER}\\b`),
    relative: says(0.6, `(?:(?:is|are) (?!${THING})[a-z]+|about) ${OWNER} (?:[a-z]+ )?${KIN}`),
    home: says(
      0.8,
      "where (?:do|does|did) (?!you\\b)(?:[a-z']+ ){1,3}(?:live|work|study|come from|grow up|go to (?:school|university))\\b",
    ),
    origin: says(
      0.7,
      `where(?:'s| is| are| am| was| were) (?:i |we |(?!${THING})(?:[a-z']+ ){1,2})(?:originally )?(?:from|based|living|working|born)\\b`,
    ),
    occupation: says(0.6, `what do(?:es)? (?!${THING})(?:[a-z']+ ){1,2}do(?= for\\b|\\?|$)|for a living\\b`),
    age: says(0.6, "how old (?:is|am|are) (?!(?:this|that|the|it|these|those)\\b)"),
    family: says(0.6, "how many (?:[a-z]+ )?(?:children|kids|brothers|sisters|siblings|pets|cats|dogs)\\b"),
    "has relatives": says(0.6, `do(?:es)? (?!you\\b)(?:[a-z]+ ){1,2}have (?:any |a )?(?:[a-z]+ )?${KIN}`),
    about: says(0.7, "(?:know|remember|recall|tell me) about (?:me|myself|us|him|her)\\b"),
    related: says(0.6, "(?:related to [a-z]+(?=\\?|$)|know each other\\b)"),
    status: says(0.6, `(?:is|are|am) (?!${THING})(?:[a-z]+ ){1,2}(?:married|engaged|divorced|retired)\\b`),
    belongs: says(
      0.6,
      "(?:what|which) (?:company|team|department|city|town|country|school|university|languages?) do(?:es)? (?!you\\b)(?:[a-z]+ ){1,2}(?:work|live|study|belong|come|speak)\\b|(?:what|which) team (?:am|is|are) [a-z]+ (?:on|in)\\b",
    ),
  },
  preference: {
    favourite: says(0.7, "favou?rites?\\b"),
    prefers: says(0.7, "prefer(?:s|ences?)?\\b"),
    preferred: says(0.4, "preferred\\b"),
    "asked liking": says(
      0.7,
      `(?:how|what|which|who)(?: [a-z]+){0,4} (?:do|does|did) (?!you\\b)(?:[a-z]+ ){1,2}(?:${LIKES}|want\\b(?! to\\b))`,
    ),
    "whether liked": says(
      0.6,
      `(?:do|does|would|don't|doesn't) (?!you\\b)(?:[a-z]+ ){1,2}(?:really |still |even |actually )?(?:${LIKES}|mind\\b|care for\\b|want\\b(?! (?:me|us|you|to)\\b))`,
    ),
    liking: says(
      0.5,
      "(?:i|we|he|she|they) (?:(?:really|always|still|usually) )?(?:likes?|loves?|hates?|dislikes?|enjoys?|can't stand)\\b(?! to (?:know|see|ask)\\b| you\\b)",
    ),
    rather: says(0.6, "(?:would (?:[a-z]+ )?|[a-z]+'d )rather\\b"),
    taste: says(0.6, "(?:tastes? in|fond of|(?:a|big) fan of|keen on)\\b"),
    opinion: says(0.6, "(?:does|do) (?!you\\b)(?:[a-z]+ ){1,2}(?:think|feel) (?:of|about)\\b"),
    usual: says(
      0.5,
      `${OWNER} usual\\b(?! (?:way|place|time|process|steps))|(?:usually|normally) (?:order|drink|eat)\\b`,
    ),
    choice: says(0.5, `what should (?:i|we) ${TREAT}`),
    recommend: says(0.4, "(?:recommend|suggest)(?: me| us)? (?:a|an|some|something)\\b"),
    gift: says(0.4, "(?:gift|present) (?:for|ideas?)\\b"),
    "would like": says(0.4, "(?:i|we|he|she|they)(?:'d| would| might) (?:like|enjoy|love)\\b(?! to\\b| you\\b)"),
    setting: says(0.4, "(?:(?:dark|light) (?:mode|theme)|colou?r|theme|font|seat)\\b"),
  },
  procedure: {
    "how to": says(
      0.7,
      "how (?:to|(?:do|can|should|would|must|could) (?:i|we|you|one)|(?:am i|are we) supposed to)\\b(?! (?:like|prefer|want|take (?:my|our)|feel|know|look)\\b)",
    ),
    "asked method": says(0.7, `what(?:'s| is| are) (?:the|our|my|your) (?:[a-z]+ ){0,2}${METHOD}`),
    "which method": says(0.6, `(?:which|what) (?:flag|script|${METHOD})`),
    should: says(0.6, `(?:should|must|may|shall) (?:i|we) (?!${TREAT})`),
    "what to do": says(0.6, "what (?:do|should|must) (?:i|we) do\\b(?! for)"),
    duty: says(
      0.6,
      "(?:do|does) (?:i|we|one|it) (?:have|need) to\\b|(?:am i|are we) allowed to\\b|is it (?:ok|okay|allowed|fine|safe) to\\b",
    ),
    steps: says(0.6, "(?:step(?: |-)by(?: |-)step|walk me through|show me how|runbook|checklist|best practices?)\\b"),
    method: says(
      0.5,
      "(?:instructions|procedure|conventions?|guidelines?|steps|workflow|polic(?:y|ies)|rules?) (?:for|to|on|when|about)\\b",
    ),
    trade: says(0.3, "(?:deploy(?:ing|ment)?|rollback|migrat(?:e|ing|ion)|pull request|pipeline|unit tests?)\\b"),
    work: begins(0.6, WORK),
    "work first": { weight: 0.5, pattern: new RegExp(spaced(`^${POLITE}${WORK}`)) },
    chore: begins(
      0.6,
      "(?:run|rerun|write|add|update|extend) (?:[a-z-]+ ){0,3}(?:tests?|migrations?|linter|suite|build|endpoint|function|script|dependency|dependencies)",
    ),
  },
  event: {
    when: says(
      0.6,
      "when(?:'s| did| was| were| is| are| will| had| does| have| has)\\b(?! it (?:ok|okay|safe|allowed)\\b)",
    ),
    did: says(
      0.6,
      "(?:(?:what|which)(?: [a-z]+){0,2}|why|how|where) did\\b|who did (?:i|we|you|he|she|they)\\b|what have (?:i|we) (?:done|been)\\b",
    ),
    "whether it did": begins(0.5, "did (?!you know\\b)[a-z]+|(?:have|has) (?:i|we|he|she|they) [a-z]+ed"),
    happened: says(0.6, "happened\\b"),
    last: says(
      0.6,
      `(?:last|previous) (?:time|night|week(?:end)?|month|year|session|meeting|sprint|spring|summer|autumn|fall|winter|christmas|conversation|${WEEKDAY}|${MONTH})`,
    ),
    ago: says(
      0.5,
      "(?:yesterday|the other day|earlier today|this morning|how long ago|(?:days?|weeks?|months?|years?|hours?) ago)\\b",
    ),
    day: says(0.4, `(?:on|since|until|by|from|in) (?:${WEEKDAY}|${MONTH}|(?:19|20)\\d\\d\\b|christmas\\b|easter\\b)`),
    date: says(
      0.4,
      `(?:19|20)\\d\\d-\\d\\d(?:-\\d\\d)?\\b|\\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:${MONTH}|may\\b)|(?:${MONTH}|may) \\d{1,2}\\b`,
    ),
    "which day": says(0.6, "(?:what|which) (?:day|date|time|month|year)\\b(?! is it\\b)"),
    ever: says(0.6, "(?:have|has|had) (?:[a-z]+ ){1,2}(?:ever|already)\\b|remember (?:when|the (?:time|day))\\b"),
    told: says(
      0.4,
      "(?:we|i|he|she|they) (?:talked|spoke|discussed|decided|agreed|met|went|visited|said|argued|planned)\\b",
    ),
    "who did": says(
      0.5,
      "who (?:came|went|said|told|called|wrote|won|visited|attended|broke|joined|met|(?:was|were) at)\\b",
    ),
    around: says(0.2, "(?:before|after) (?:we|i|the|that|my|our|he|she|they)\\b"),
    lately: says(0.3, "(?:recent|recently|lately|ago|earlier)\\b"),
  },
};

/** Signs of one intent add up like independent evidence, never beyond 1; the runner-up takes half its strength away. */
export function readIntent(text: string): IntentReading {
  const plain = plainly(text);
  const opening = plain.slice(0, OPENING);
  const heard = (Object.keys(SIGNS) as Told[]).map((intent) => listen(intent, plain, opening));
  const [best, next] = heard.toSorted((a, b) => b.strength - a.strength);
  const confidence = (best?.strength ?? 0) - (next?.strength ?? 0) / 2;
  if (best === undefined || confidence < SURE) return { intent: "other", confidence: 0, because: [] };
  return { intent: best.intent, confidence, because: best.because };
}

function listen(intent: Told, plain: string, opening: string) {
  const because: string[] = [];
  let doubt = 1;
  for (const { weight, pattern } of Object.values(SIGNS[intent])) {
    const words = pattern.exec(weight < SURE ? opening : plain)?.[0];
    if (words === undefined) continue;
    doubt *= 1 - weight;
    because.push(shown(words));
  }
  return { intent, strength: 1 - doubt, because: [...new Set(because)] };
}

const shown = (words: string): string =>
  words
    .replace(/^[^a-z0-9]+/, "")
    .replaceAll("\n", " ")
    .slice(0, SHOWN)
    .trimEnd();

/** Without accents, so that names need no alphabet of their own. Fenced code is material to work on, not the question. */
function plainly(text: string): string {
  return text
    .slice(0, LOOK)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .slice(0, LOOK)
    .replace(/```.*?(?:```|$)/gs, "\n")
    .toLowerCase()
    .replaceAll("\u2019", "'")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim();
}

export interface SectionQuotas {
  readonly profile: number;
  readonly facts: number;
  readonly rules: number;
  readonly episodes: number;
}

type Moves<T> = readonly { readonly from: keyof T; readonly to: keyof T; readonly by: number }[];

interface Shift {
  readonly weights: Moves<ScoreWeights>;
  readonly quotas: Moves<SectionQuotas>;
  readonly lean: Readonly<Record<MemoryType, number>>;
}

/** Who someone is and what they like is standing knowledge: it is no less true for not having come up this week. */
const STANDING: Shift = {
  weights: [{ from: "recency", to: "confidence", by: 0.05 }],
  quotas: [
    { from: "episodes", to: "facts", by: 0.05 },
    { from: "rules", to: "facts", by: 0.05 },
  ],
  lean: { fact: 0.04, rule: 0, episode: 0 },
};

/**
 * Small on purpose: weights that follow the question brought no measurable gain in recall, so a wrong reading must not
 * cost any either. Relevance is never touched. Neither is the profile: it stands first in the block, and a share that
 * moved with the prompt would change the bytes an agent's prompt cache rests on.
 */
const SHIFTS: Readonly<Record<Intent, Shift>> = {
  identity: STANDING,
  // Some rules are preferences: they say how a person wants things done.
  preference: { ...STANDING, lean: { fact: 0.04, rule: 0.01, episode: 0 } },
  // Rules rank by evidence already: they need room, not other weights.
  procedure: {
    weights: [],
    quotas: [
      { from: "facts", to: "rules", by: 0.1 },
      { from: "episodes", to: "rules", by: 0.05 },
    ],
    lean: { fact: 0, rule: 0.05, episode: 0 },
  },
  // Only episodes know when something happened, and most questions of that kind are about lately.
  event: {
    weights: [{ from: "importance", to: "recency", by: 0.05 }],
    quotas: [
      { from: "facts", to: "episodes", by: 0.1 },
      { from: "rules", to: "episodes", by: 0.05 },
    ],
    lean: { fact: 0, rule: 0, episode: 0.05 },
  },
  other: { weights: [], quotas: [], lean: { fact: 0, rule: 0, episode: 0 } },
};

export function routed(
  weights: ScoreWeights,
  quotas: SectionQuotas,
  intent: Intent,
): { readonly weights: ScoreWeights; readonly quotas: SectionQuotas } {
  const shift = SHIFTS[intent];
  return { weights: moved(weights, shift.weights), quotas: moved(quotas, shift.quotas) };
}

/** What a mixed list adds to the composite score of each type: enough to break near ties, at most 0.05. */
export const typeLean = (intent: Intent): Readonly<Record<MemoryType, number>> => SHIFTS[intent].lean;

/** A share of 0 was switched off by its owner and stays off; no share leaves 0..1. */
function moved<T extends Readonly<Record<keyof T, number>>>(shares: T, moves: Moves<T>): T {
  const result: Record<keyof T, number> = { ...shares };
  for (const { from, to, by } of moves) {
    if (shares[to] === 0) continue;
    const amount = Math.min(by, result[from], 1 - result[to]);
    result[from] -= amount;
    result[to] += amount;
  }
  return { ...shares, ...result };
}
