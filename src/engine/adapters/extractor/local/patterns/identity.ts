/** Who somebody is: home, work, origin, languages. */
import { type Draft, draft } from "../draft.ts";
import { keyOf, listed, PROPER, phrase } from "../phrases.ts";
import { agreeing, attribute, named } from "../subject.ts";
import type { Example, FactRow, Table } from "../table.ts";

const BE = "(?:am|is|are)";
const whole = (pattern: string) => new RegExp(`^${pattern}$`, "u");

interface Plain extends Example {
  readonly name: string;
  readonly verb: string;
  readonly fact: readonly [predicate: string, says: string, permanence: Draft["permanence"], importance: number];
  /** Several can hold at once, so the object is part of the predicate. */
  readonly many?: true;
  /** The object is a place or another name. */
  readonly proper?: true;
}

const PLACE = new RegExp(
  `^(?:(?:the |a |an )[\\p{L}' -]{3,40} (?:of|in|near|outside|from) )?(?:the |rural |downtown |central |north(?:ern)? |south(?:ern)? |east(?:ern)? |west(?:ern)? )?(?:${PROPER})(?: (?:and|,) ${PROPER}){0,4}$`,
  "u",
);
const NOT_AN_OBJECT =
  /^(?:nights?|home|weekends|least|free|themselves|fun|money|a living|(?:a|an) \p{L}+ (?:pace|level)|the \p{L}+ level|hours|hell|fear|peace|denial|the moment|the present|the (?:dark|shadows?|past|future|present))$/iu;
const FOR_LONG = / for (?:about |over |almost |nearly )?[\p{L}\d]+ (?:years?|months?)\b.*$/iu;
/** Also learned of somebody else who is named. A name may be that of a thing: other predicates would be wrong of "Docker". */
const OF_OTHERS = new Set(["lives_in", "comes_from", "born_in", "works_at", "occupation", "allergic_to", "speaks"]);

function objectOf(one: Plain, raw: string): string | undefined {
  const said = phrase(raw.replace(FOR_LONG, ""), { strict: true, words: 12 });
  if (said === undefined) return undefined;
  // "in Hull and works at a school": the place ends before.
  const short = one.proper === true && one.many !== true && !PLACE.test(said);
  const object = short ? said.replace(/ (?:and|with) .*$/, "") : said;
  if (NOT_AN_OBJECT.test(object) || (one.proper === true && !PLACE.test(object))) return undefined;
  return /^(?:with|on|at)\b/.test(object) ? undefined : object;
}

/** A verb and its object, said of a person. */
const plain = (one: Plain): FactRow => ({
  ...one,
  pattern: whole(`${one.verb} (.+)`),
  make: ([, raw], clause) => {
    const [predicate, says, permanence, importance] = one.fact;
    if (clause.other && !OF_OTHERS.has(predicate)) return undefined;
    const object = objectOf(one, raw);
    if (object === undefined) return [];
    const since = clause.when?.("past") ?? null;
    return (one.many === true ? listed(object) : [object]).map((each) =>
      draft(clause, {
        predicate: attribute(clause, one.many === true ? `${predicate}:${keyOf(each)}` : predicate),
        content: `${named(clause)} ${agreeing(clause, says)} ${each}`,
        permanence,
        importance,
        confidence: 0.9,
        valid_from: since !== null && since.from <= clause.day ? since.from : null,
        value: each,
      }),
    );
  },
});

export const IDENTITY: Table = {
  kind: "identity",
  applies: (clause) => clause.companions === "" && !clause.owned,
  rows: [
    plain({
      name: "lived",
      verb: "(?:have|has) lived in",
      fact: ["lives_in", "lives in", "stable", 8],
      proper: true,
      example: "I have lived in Graz for three years.",
      gives: "lives_in = The user lives in Graz.",
    }),
    plain({
      name: "worked at",
      verb: "(?:have|has) (?:worked|been working) (?:at|for)(?! \\p{L}+ (?:years?|months?|hours?))",
      fact: ["works_at", "works at", "stable", 7],
      example: "I have worked at the mill for three years.",
      gives: "works_at = The user works at the mill.",
    }),
    plain({
      name: "degree",
      verb: "(?:have|has)(?= an? (?:[\\p{L}']+ )?(?:degree|phd|diploma|doctorate|bachelor's|master's)\\b)",
      fact: ["education", "has", "permanent", 6],
      example: "I have a degree in geology.",
      gives: "education = The user has a degree in geology.",
    }),
    plain({
      name: "studied",
      verb: "studied(?! (?:the|this|for|hard) )",
      fact: ["studied", "studied", "permanent", 6],
      many: true,
      example: "I studied law in Ghent.",
      gives: "studied:law in ghent = The user studied law in Ghent.",
    }),
    plain({
      name: "lives",
      verb: `(?:lives?|reside|resides|${BE} living|${BE} based|${BE} located) (?:out )?(?:here )?(?:in|near)`,
      fact: ["lives_in", "lives in", "stable", 8],
      proper: true,
      example: "I live in Porto.",
      gives: "lives_in = The user lives in Porto.",
    }),
    plain({
      name: "from",
      verb: `(?:${BE}|comes?|${BE} originally) from`,
      fact: ["comes_from", "is from", "permanent", 7],
      proper: true,
      example: "I'm from Galway.",
      gives: "comes_from = The user is from Galway.",
    }),
    plain({
      name: "grew up",
      verb: "(?:grew up|was raised) in",
      fact: ["grew_up_in", "grew up in", "permanent", 6],
      example: "I grew up in a village near Turin.",
      gives: "grew_up_in = The user grew up in a village near Turin.",
    }),
    plain({
      name: "born in",
      verb: "was born in",
      fact: ["born_in", "was born in", "permanent", 8],
      proper: true,
      example: "I was born in Izmir.",
      gives: "born_in = The user was born in Izmir.",
    }),
    plain({
      name: "works as",
      verb: "works? as(?= (?:an?|the) )",
      fact: ["occupation", "works as", "stable", 7],
      example: "I work as a midwife.",
      gives: "occupation = The user works as a midwife.",
    }),
    plain({
      name: "works at",
      verb: `(?:works? at|works? for|${BE} working at|${BE} working for|${BE} employed (?:at|by))`,
      fact: ["works_at", "works at", "stable", 7],
      example: "I work at a bakery.",
      gives: "works_at = The user works at a bakery.",
    }),
    plain({
      name: "works in",
      verb: "works? in",
      fact: ["works_in", "works in", "stable", 6],
      example: "I work in logistics.",
      gives: "works_in = The user works in logistics.",
    }),
    plain({
      name: "teaches",
      verb: "teach(?:es)?",
      fact: ["teaches", "teaches", "stable", 6],
      many: true,
      example: "I teach chemistry.",
      gives: "teaches:chemistry = The user teaches chemistry.",
    }),
    plain({
      name: "volunteers",
      verb: "volunteers? (?:at|for|with)",
      fact: ["volunteers_at", "volunteers at", "standard", 6],
      many: true,
      example: "I volunteer at the animal shelter.",
      gives: "volunteers_at:animal shelter = The user volunteers at the animal shelter.",
    }),
    plain({
      name: "studies",
      verb: `(?:${BE} studying|studies|study)(?! the )`,
      fact: ["studies", "studies", "stable", 6],
      example: "I'm studying marine biology.",
      gives: "studies = The user studies marine biology.",
    }),
    plain({
      name: "majors",
      verb: `(?:majors? in|${BE} majoring in)`,
      fact: ["studies", "majors in", "stable", 6],
      example: "I'm majoring in history.",
      gives: "studies = The user majors in history.",
    }),
    plain({
      name: "allergic",
      verb: `${BE} allergic to`,
      fact: ["allergic_to", "is allergic to", "permanent", 9],
      many: true,
      example: "I'm allergic to peanuts.",
      gives: "allergic_to:peanuts = The user is allergic to peanuts.",
    }),
    plain({
      name: "intolerant",
      verb: `${BE} intolerant to`,
      fact: ["intolerant_to", "is intolerant to", "permanent", 9],
      many: true,
      example: "I'm intolerant to gluten.",
      gives: "intolerant_to:gluten = The user is intolerant to gluten.",
    }),
    plain({
      name: "afraid",
      verb: `${BE} (?:afraid|scared|terrified) of`,
      fact: ["fears", "is afraid of", "stable", 6],
      many: true,
      example: "I'm scared of spiders.",
      gives: "fears:spiders = The user is afraid of spiders.",
    }),
    plain({
      name: "speaks",
      verb: "(?:speaks?)",
      fact: ["speaks", "speaks", "stable", 6],
      many: true,
      proper: true,
      example: "I speak Turkish.",
      gives: "speaks:turkish = The user speaks Turkish.",
    }),
    plain({
      name: "fluent",
      verb: `${BE} (?:fluent|native) in`,
      fact: ["speaks", "is fluent in", "stable", 6],
      many: true,
      proper: true,
      example: "I'm fluent in Catalan.",
      gives: "speaks:catalan = The user is fluent in Catalan.",
    }),
    plain({
      name: "learning",
      verb: `${BE} learning(?: how)?(?: to speak)?`,
      fact: ["learning", "is learning", "standard", 5],
      many: true,
      example: "I'm learning Japanese.",
      gives: "learning:japanese = The user is learning Japanese.",
    }),
    plain({
      name: "runs",
      verb: "(?:owns?(?= an? )|runs?(?= (?:an?|my|our|their) .*\\b(?:business|company|shop|store|studio|restaurant|caf[eé]|bakery|farm|hotel|agency|startup|bar|gym|clinic|school|blog|podcast|newsletter|channel|homelab|club|band|charity|meetup)\\b))",
      fact: ["runs", "runs", "stable", 6],
      many: true,
      example: "I run a bakery.",
      gives: "runs:bakery = The user runs a bakery.",
    }),
    plain({
      name: "drives",
      verb: "drives?(?= an? )",
      fact: ["drives", "drives", "stable", 4],
      example: "I drive a red van.",
      gives: "drives = The user drives a red van.",
    }),
    plain({
      name: "mentors",
      verb: "mentors?",
      fact: ["mentors", "mentors", "standard", 5],
      many: true,
      example: "I mentor apprentices.",
      gives: "mentors:apprentices = The user mentors apprentices.",
    }),
    plain({
      name: "been to",
      verb: "(?:have|has) been to",
      fact: ["visited", "has been to", "stable", 4],
      many: true,
      proper: true,
      example: "I've been to Iceland.",
      gives: "visited:iceland = The user has been to Iceland.",
    }),
    plain({
      name: "majored",
      verb: "majored in",
      fact: ["majored_in", "majored in", "permanent", 6],
      example: "I majored in physics.",
      gives: "majored_in = The user majored in physics.",
    }),
    plain({
      name: "plays",
      verb: "plays?(?= the | (?:piano|guitar|violin|cello|drums|bass|chess|tennis|football|soccer|basketball|golf|hockey|rugby|cricket|volleyball|saxophone|clarinet|flute|trumpet|ukulele|harp)\\b)",
      fact: ["plays", "plays", "stable", 5],
      many: true,
      example: "I play the cello.",
      gives: "plays:cello = The user plays the cello.",
    }),
  ],
};
