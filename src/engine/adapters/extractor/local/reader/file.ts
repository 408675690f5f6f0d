/** Where a kept sentence is filed: whom it is about, and under which words a later one would replace it. */
import type { FactKind } from "../../../../domain/learning/kinds.ts";
import { PROJECT_SUBJECT as PROJECT } from "../../../../domain/learning/person.ts";
import { type Draft, PLAIN, sentence } from "../draft.ts";
import type { Read } from "./reader.ts";
import { isSmall, wordsOf } from "./words.ts";

/** A sentence about the speaker. */
const OWN =
  /(?<![\p{L}\p{N}])(?:i|i'm|im|i've|ive|i'd|i'll|my|me|myself|ich|mein(?:e[nmrs]?)?|mir|mich)(?![\p{L}\p{N}])/iu;
const NAMED =
  /^(?:(?:and|so|but|no|nope|nah|und|aber|nein|ne|nee)[,:]?\s+)?(\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?)(?:'s)?\s/u;
/** What a thing is, or where: a later word of the same kind replaces it. */
const SINGLE =
  /^(?:is|are|is on|runs?(?: on| at)?|lives? (?:in|at|on|under)|sits? (?:in|at|on|under)|moved to|goes to|listens on|ist|sind|liegt|liegen|läuft|laufen|steht|heißt|heisst|is called|are called|belongs? to|gehört)$/i;
const VERB =
  /^(?:is|are|was|were|isn't|aren't|runs?|lives?|sits?|moved|goes|go|lists?|listens?|uses?|has|have|must|should|can|cannot|can't|needs?|means?|belongs?|gets?|comes?|takes?|stays?|ist|sind|war|liegt|liegen|läuft|laufen|steht|heißt|heisst|hat|haben|muss|müssen|soll|kann|darf|dürfen|braucht|gehört|kommt|bleibt|wird|werden|nutzt|nimmt)$/i;
const ARTICLE =
  /^(?:the|a|an|our|my|their|its|this|that|der|die|das|den|dem|ein|eine|unser|unsere|mein|meine|and|so|but|no|also|btw|und|aber|nein)$/i;
const EMPTY =
  /^(?:it|it's|that|that's|this|these|those|there|there's|they|he|she|we|you|i|es|das|dies|da|sie|er|wir|ihr|man)$/i;
const SAYING = /^(?:meant?|said|says?|told|tell|think|know|knew|decided?|gesagt|gemeint|meinte|denke|weiß)$/i;
const LONGEST_HEAD = 4;
const LONGEST_TOPIC = 5;

/** The words of a sentence that it would be looked up by. */
const topicOf = (words: readonly string[]): string =>
  words
    .filter((word) => /[\p{L}\p{N}]{3}/u.test(word) && !isSmall(word) && !VERB.test(word) && !SAYING.test(word))
    .slice(0, LONGEST_TOPIC)
    .join(" ")
    .toLowerCase();

interface Head {
  readonly head: string;
  readonly single: boolean;
  readonly rest: readonly string[];
}

/** "the staging db" of "the staging db is on 5433". */
function headOf(words: readonly string[]): Head | undefined {
  const start = words.findIndex((word) => !ARTICLE.test(word) && /\p{L}/u.test(word));
  const verb = words.findIndex((word, at) => at > start && VERB.test(word));
  if (start === -1 || verb === -1 || verb - start > LONGEST_HEAD) return undefined;
  const head = words.slice(start, verb);
  if (head.some((word) => EMPTY.test(word))) return undefined;
  const [one, two = ""] = words.slice(verb);
  const single = SINGLE.test(one ?? "") || SINGLE.test(`${one} ${two}`);
  return { head: head.join(" ").toLowerCase(), single, rest: words.slice(verb + 1) };
}

const PREDICATE: Readonly<Record<FactKind, string>> = {
  fact: "note",
  preference: "prefers",
  decision: "decided",
  correction: "note",
  person: "about",
};

const IMPORTANCE: Readonly<Record<FactKind, number>> = {
  fact: 5,
  preference: 6,
  decision: 6,
  correction: 6,
  person: 5,
};

/** How many words say what it is about: none in "I like that", one in "I keep chickens". */
export const topicWords = (text: string): number => topicOf(wordsOf(text)).split(" ").filter(Boolean).length;

/** It says what a thing is, or where: what a later word replaces, so it stays by itself. */
export function isOfOneThing(text: string): boolean {
  const words = wordsOf(text).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return !OWN.test(text) && (headOf(words)?.single ?? false);
}

/** A sentence of any kind but a rule, as a fact in the person's own words. `speaker`: who "I" is. */
export function fileFact(read: Read & { readonly kind: FactKind }, speaker: string): Draft {
  const text = withoutLeadIn(read.text);
  const words = wordsOf(text).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const own = OWN.test(text);
  const named = read.kind === "person" && !own ? NAMED.exec(text)?.[1] : undefined;
  const head = own || named !== undefined ? undefined : headOf(words);
  const topic = topicOf(head === undefined ? words : head.rest);
  const predicate =
    head === undefined ? `${PREDICATE[read.kind]}:${topic}` : head.single ? head.head : `${head.head}:${topic}`;
  return {
    subject: named ?? (own ? speaker : PROJECT),
    predicate,
    content: sentence(text),
    permanence: "stable",
    importance: IMPORTANCE[read.kind],
    confidence: confidenceOf(read.sureness),
    ...PLAIN,
  };
}

/** Says that something is not as it was. */
const CHANGE =
  /(?<!\p{L})(?:changed|now|moved|no longer|anymore|switched|renamed|replaced|jetzt|geändert|nicht mehr|umgezogen|heißt nun)(?!\p{L})/iu;
/** A change of something that is known needs less to be believed than something new. */
const BAR_OF_CHANGES = 0.4;

/** Sentences that change what a thing is or where, if that is known: they are filed where it is. */
export function changesIn(
  read: readonly Read[],
  known: readonly Pick<Draft, "subject" | "predicate">[],
): { readonly draft: Draft; readonly from: Read }[] {
  return read.flatMap((said) => {
    const { text, sureness, kind, question } = said;
    if (question || kind === "rule" || sureness < BAR_OF_CHANGES || !CHANGE.test(text)) return [];
    const words = new Set(wordsOf(text).map((word) => word.toLowerCase()));
    const of = known.findLast(
      ({ subject, predicate }) =>
        subject === PROJECT && !predicate.includes(":") && predicate.split(" ").every((word) => words.has(word)),
    );
    return of === undefined
      ? []
      : [
          {
            draft: { ...fileFact({ ...said, kind }, PROJECT), subject: of.subject, predicate: of.predicate },
            from: said,
          },
        ];
  });
}

/** What people begin with before they say it. Of `clauses.ts` more is left out (now, actually): here the words stay the person's. */
const LEAD_IN =
  /^(?:(?:ah|oh|ok|okay|yes|yeah|well|so|and|also|but|right|sure|hm+|btw|ja|ach|und|aber|na)\b[,:]?\s+|(?:write|note) down that\s+){1,3}/i;
const withoutLeadIn = (text: string): string => text.replace(LEAD_IN, "");

/** Never as sure as what a person stores with a tool. */
const confidenceOf = (sureness: number): number => Math.round(100 * (0.4 + 0.5 * sureness)) / 100;

export const fileRule = (read: Read): string => sentence(withoutLeadIn(read.text));
