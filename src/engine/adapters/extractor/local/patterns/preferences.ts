/** What somebody likes, prefers and cannot stand. `likes:` and `dislikes:` of one object end each other. */
import { type Clause, type Draft, draft } from "../draft.ts";
import { keyOf, listed, phrase } from "../phrases.ts";
import { agreeing, attribute, named, possessive } from "../subject.ts";
import type { FactRow, Groups, Table } from "../table.ts";

/** Compliments and moments: "I love your hat", "I like the sound of it", "I love the idea". */
const SMALL_TALK =
  /^(?:all the|both|the (?!beach|mountains?|outdoors|ocean|sea|water|rain|snow|cold|heat|winter|summer|autumn|fall|spring|city|countryside|forest|woods|piano|guitar|violin|cello|theatre|theater|opera|ballet|colou?r|smell|taste|gym|sun|night|command line|terminal)|the (?:idea|sound|look|vibe|feel|view|colou?rs?|pic|photo|picture|fact|concept|energy|feeling|design|pattern|atmosphere|freedom|challenge|result|process|message|quote|spirit|attitude|enthusiasm|name|energy|thought|moment|support|way|detail|texture)s?\b|being able|hearing|to (?:see|hear|know|be|have|join|think|say|hang|help|chat|catch|talk)\b|seeing (?:you|how|what|pictures?)|having (?:you|a|the|someone|people)|being (?:around|part|a part)|to\b$|life$|today|a good\b|good\b$|people$|learning$|life\b|family moments|moments?\b|sharing\b|knowing\b|new\b$|talking\b|doing\b|being (?:there|here|able)|(?:my|our) (?:job|life|friends?|family|kids?|husband|wife|time)$)/iu;
const WEAK =
  /^(?:being|doing|having|going|seeing|making|getting|trying|helping|working|knowing|something|to \p{L}+|some|more|all|being|the)$/iu;

function objectsOf(said: string, clause: Clause): string[] {
  const raw = said.replace(/^to (?:just|really|always) /i, "to ");
  // "I love that place" points to something unnamed, "I like when it rains" depends on a condition.
  if (/^(?:when|how|that|this|it|if|you|your|to be\b|the way)\b/i.test(raw)) return [];
  // "The Beatles" have a name; "the colours" are those of a picture that somebody shows.
  if (SMALL_TALK.test(raw) && !/^the \p{Lu}/u.test(raw)) return [];
  const object = phrase(raw, { strict: true, words: clause.betweenPeople ? 9 : 10 });
  if (object === undefined || WEAK.test(object)) return [];
  return listed(object);
}

function preferring(raw: string, clause: Clause): readonly Draft[] {
  if (SMALL_TALK.test(raw)) return [];
  const pair = /^(.+?) (?:over|more than|better than|rather than|instead of|to) (.+)$/i.exec(raw);
  const better = phrase(pair?.[1] ?? "", { strict: true, words: 6 });
  const worse = phrase(pair?.[2] ?? "", { strict: true, words: 6 });
  if (better !== undefined && worse !== undefined && !/^to\b/.test(raw)) {
    const both = [keyOf(better), keyOf(worse)].sort().join(" or ");
    return [
      draft(clause, {
        // Sorted, so that a change of mind has the same key.
        predicate: attribute(clause, `prefers:${both}`),
        content: `${named(clause)} prefers ${better} to ${worse}`,
        permanence: "stable",
        confidence: 0.95,
        reverses: true,
      }),
    ];
  }
  const object = phrase(raw, { strict: true, words: 12 });
  if (object === undefined) return [];
  return [
    draft(clause, {
      predicate: attribute(clause, `prefers:${keyOf(object)}`),
      content: `${named(clause)} prefers ${object}`,
      permanence: "stable",
      confidence: 0.9,
      value: object,
    }),
  ];
}

const liking =
  (sense: "likes" | "dislikes", other: "likes" | "dislikes") =>
  (name: string, pattern: RegExp, says: string, example: string, gives: string): FactRow => ({
    name,
    pattern,
    example,
    gives,
    make: ([, raw], clause) => {
      // What a family or a group of friends likes is not what each of them likes.
      if (clause.plural && clause.betweenPeople) return undefined;
      // "I like tabs over spaces" compares; it is read as a preference.
      if (/ (?:over|more than|better than) /.test(raw)) return preferring(raw, clause);
      return objectsOf(raw, clause).map((object) =>
        draft(clause, {
          predicate: attribute(clause, `${sense}:${keyOf(object)}`),
          content: `${named(clause)} ${agreeing(clause, says)} ${object}`,
          permanence: "stable",
          confidence: 0.9,
          ends: [attribute(clause, `${other}:${keyOf(object)}`)],
          value: object,
        }),
      );
    },
  });
const likes = liking("likes", "dislikes");
const dislikes = liking("dislikes", "likes");

export const PREFERENCES: Table = {
  kind: "preferences",
  applies: (clause) =>
    !clause.owned &&
    clause.companions === "" &&
    (!clause.other || /^(?:loves?|likes?|hates?|dislikes?) /i.test(clause.rest)),
  rows: [
    likes("love", /^loves? (.+)$/i, "loves", "I love green tea.", "likes:green tea = The user loves green tea."),
    likes("adore", /^adores? (.+)$/i, "loves", "I adore liquorice.", "likes:liquorice = The user loves liquorice."),
    likes("like", /^likes? (.+)$/i, "likes", "I like jazz.", "likes:jazz = The user likes jazz."),
    likes("enjoy", /^enjoys? (.+)$/i, "enjoys", "I enjoy gardening.", "likes:gardening = The user enjoys gardening."),
    likes(
      "loved a title",
      /^loved (".+" by .+|".+")$/i,
      "loved",
      'I loved "The Silent Sea".',
      'likes:silent sea = The user loved "The Silent Sea".',
    ),
    likes(
      "passion for",
      /^(?:have|has|had) (?:always had )?a (?:passion|love|weakness|soft spot) for (.+)$/i,
      "has a passion for",
      "I have a passion for ceramics.",
      "likes:ceramics = The user has a passion for ceramics.",
    ),
    likes(
      "been into",
      /^(?:have|has) been (?:in)?to (\p{L}+(?: \p{L}+)?) (?:since|for)\b.*$/iu,
      "is into",
      "I have been into pottery for ages.",
      "likes:pottery = The user is into pottery.",
    ),
    likes(
      "big fan",
      /^(?:am|is|are) (?:a )?(?:big|huge|massive|great|avid|total) fan of (.+)$/i,
      "is a big fan of",
      "I'm a huge fan of opera.",
      "likes:opera = The user is a big fan of opera.",
    ),
    likes(
      "fan",
      /^(?:am|is|are) a fan of (.+)$/i,
      "is a fan of",
      "I'm a fan of curling.",
      "likes:curling = The user is a fan of curling.",
    ),
    likes(
      "passionate",
      /^(?:(?:am|is|are)|have (?:always )?been|has (?:always )?been) passionate about (.+)$/i,
      "is passionate about",
      "I'm passionate about typography.",
      "likes:typography = The user is passionate about typography.",
    ),
    likes(
      "loved as a child",
      /^(?:loved|enjoyed) (.+ as a (?:kid|child|teenager))$/i,
      "loved",
      "I loved skating as a kid.",
      "likes:skating as a kid = The user loved skating as a kid.",
    ),
    likes(
      "fond",
      /^(?:am|is|are) (?:fond of|crazy about|obsessed with) (.+)$/i,
      "likes",
      "I'm fond of owls.",
      "likes:owls = The user likes owls.",
    ),
    likes(
      "keen",
      /^(?:am|is|are) keen on (.+)$/i,
      "is keen on",
      "I'm keen on archery.",
      "likes:archery = The user is keen on archery.",
    ),
    likes(
      "into",
      /^(?:am|is|are) (?:really |big )?(?:in)?to (?=\p{L}+ing\b|\p{L}+$|\p{L}+ and \p{L}+$)(.+)$/iu,
      "is into",
      "I'm into climbing.",
      "likes:climbing = The user is into climbing.",
    ),
    dislikes(
      "hate",
      /^(?:hates?|detests?|loathes?|despises?) (.+)$/i,
      "hates",
      "I hate olives.",
      "dislikes:olives = The user hates olives.",
    ),
    dislikes(
      "dislike",
      /^dislikes? (.+)$/i,
      "dislikes",
      "I dislike coriander.",
      "dislikes:coriander = The user dislikes coriander.",
    ),
    dislikes(
      "cannot stand",
      /^cannot (?:stand|bear|tolerate) (.+)$/i,
      "cannot stand",
      "I can't stand loud music.",
      "dislikes:loud music = The user cannot stand loud music.",
    ),
    dislikes(
      "does not like",
      /^(?:do|does) not (?:really |particularly |actually )?(?:like|enjoy|love|care for) (.+)$/i,
      "does not like",
      "I don't like mushrooms.",
      "dislikes:mushrooms = The user does not like mushrooms.",
    ),
    dislikes(
      "not a fan",
      /^(?:am|is|are) not (?:really |exactly |much of )?(?:a )?(?:big |huge )?fan of (.+)$/i,
      "is not a fan of",
      "I'm not a fan of horror films.",
      "dislikes:horror films = The user is not a fan of horror films.",
    ),
    dislikes(
      "not into",
      /^(?:am|is|are) not (?:really |that |very )?(?:into|keen on|fond of) (.+)$/i,
      "does not like",
      "I'm not into golf.",
      "dislikes:golf = The user does not like golf.",
    ),
    {
      name: "prefer",
      pattern: /^(?:prefers?|would rather have) (.+)$/i,
      example: "I prefer tabs to spaces.",
      gives: "prefers:spaces or tabs = The user prefers tabs to spaces.",
      also: [{ example: "I prefer short answers.", gives: "prefers:short answers = The user prefers short answers." }],
      make: ([, raw], clause) => preferring(raw, clause),
    },
  ],
};

function favourite(rawKind: string, rawWhat: string, clause: Clause): readonly Draft[] {
  const kind = phrase(rawKind, { words: 4 });
  const what = phrase(rawWhat, { strict: true, words: 10 });
  if (kind === undefined || what === undefined || /^(?:part|thing|memory|moment)s?$/i.test(kind)) return [];
  const many = /s$/.test(kind) && !/(?:ss|us|is|series)$/.test(kind);
  return [
    draft(clause, {
      predicate: `favourite_${keyOf(kind).replace(/ /g, "_")}`,
      content: `${possessive(clause.person.name)} favourite ${kind} ${many ? "are" : "is"} ${what}`,
      permanence: "stable",
      confidence: 0.95,
      importance: 5,
      value: what,
    }),
  ];
}

const FAVOURITE_LAST = {
  pattern: /^(.+?) (?:is|are) (?:my|our) (?:all-time |absolute )?(?:favou?rite|fave|fav) ([\p{L} ]+)$/iu,
  make: ([, what, kind]: Groups, clause: Clause) => favourite(kind, what, clause),
};

export const FAVOURITES: Table = {
  kind: "favourites",
  applies: (clause) => clause.owned,
  rows: [
    {
      name: "favourite is",
      pattern:
        /^(?:my|our) (?:(?:all-time|absolute|all time|personal) )?(?:favou?rite|fave|fav) (.+?) (?:is|are|has always been|would be) (.+)$/i,
      example: "My favourite colour is teal.",
      gives: "favourite_colour = The user's favourite colour is teal.",
      not: ["My favourite part is the end."],
      make: ([, kind, what], clause) => favourite(kind, what, clause),
    },
    {
      ...FAVOURITE_LAST,
      name: "mine is the favourite",
      example: "Our lake is my favourite place.",
      gives: "favourite_place = The user's favourite place is their lake.",
    },
  ],
};

const passionOf = (raw: string) =>
  raw
    .toLowerCase()
    .replace(/^(?:fave|favou?rite)s?$/, "favourite")
    .replace(/^hobbies$/, "hobby")
    .replace(/^passions$/, "passion");

/** The object comes first, so the clause has no subject that is a person. */
export const OBJECT_FIRST: Table = {
  kind: "object first",
  applies: ({ rest }) => !/^(?:my|our|it|that|this|he|she|they|these|those|which|what|where|who)\b/i.test(rest),
  rows: [
    {
      name: "is a passion",
      pattern:
        /^(.+?)(?:'s| is| are| has been| has always been) (?:my|one of my) (?:(?:biggest|big|true|real|greatest|main) )*(passions?|hobby|hobbies|favou?rites?|faves?|stress relief|guilty pleasure|happy place)$/iu,
      example: "Pottery is my passion.",
      gives: "likes:pottery = Pottery is one of the user's passions.",
      make: ([whole, raw, said], clause) => {
        const what = phrase(raw, { strict: true, words: 6 });
        if (what === undefined || /^(?:the|a|an|their|blessed)\b/i.test(what)) return undefined;
        const kind = passionOf(said);
        const owner = possessive(clause.person.name).replace("The user", "the user");
        const one = /\bone of my\b/i.test(whole) || kind === "passion" || kind === "hobby";
        const many = / and |s$/.test(what) && !/^\p{L}+ing\b/iu.test(what);
        return [
          draft(clause, {
            predicate: `likes:${keyOf(what)}`,
            content: `${what} ${many ? "are" : "is"} ${one ? `one of ${owner} ${kind === "hobby" ? "hobbies" : `${kind}s`}` : `${owner} ${kind}`}`,
            permanence: "stable",
            confidence: 0.85,
            ends: [`dislikes:${keyOf(what)}`],
          }),
        ];
      },
    },
    {
      ...FAVOURITE_LAST,
      name: "is the favourite",
      example: "Green is my favourite colour.",
      gives: "favourite_colour = The user's favourite colour is Green.",
    },
  ],
};
