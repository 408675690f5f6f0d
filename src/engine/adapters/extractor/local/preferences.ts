/** What somebody likes, prefers and cannot stand. `likes:` and `dislikes:` of one object end each other. */
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, listed, phrase } from "./phrases.ts";
import { agreeing, attribute, named, possessive } from "./subject.ts";

const BE = "(?:am|is|are)";
const LIKES: readonly (readonly [RegExp, string])[] = [
  [/^loves? (.+)$/i, "loves"],
  [/^adores? (.+)$/i, "loves"],
  [/^likes? (.+)$/i, "likes"],
  [/^enjoys? (.+)$/i, "enjoys"],
  [/^loved (".+" by .+|".+")$/i, "loved"],
  [/^(?:have|has|had) (?:always had )?a (?:passion|love|weakness|soft spot) for (.+)$/i, "has a passion for"],
  [/^(?:have|has) been (?:in)?to (\p{L}+(?: \p{L}+)?) (?:since|for)\b.*$/iu, "is into"],
  [new RegExp(`^${BE} (?:a )?(?:big|huge|massive|great|avid|total) fan of (.+)$`, "i"), "is a big fan of"],
  [new RegExp(`^${BE} a fan of (.+)$`, "i"), "is a fan of"],
  [
    new RegExp(`^(?:${BE}|have (?:always )?been|has (?:always )?been) passionate about (.+)$`, "i"),
    "is passionate about",
  ],
  [/^(?:loved|enjoyed) (.+ as a (?:kid|child|teenager))$/i, "loved"],
  [new RegExp(`^${BE} (?:fond of|crazy about|obsessed with) (.+)$`, "i"), "likes"],
  [new RegExp(`^${BE} keen on (.+)$`, "i"), "is keen on"],
  [
    new RegExp(`^${BE} (?:really |big )?(?:in)?to (?=\\p{L}+ing\\b|\\p{L}+$|\\p{L}+ and \\p{L}+$)(.+)$`, "iu"),
    "is into",
  ],
];
const DISLIKES: readonly (readonly [RegExp, string])[] = [
  [/^(?:hates?|detests?|loathes?|despises?) (.+)$/i, "hates"],
  [/^dislikes? (.+)$/i, "dislikes"],
  [/^cannot (?:stand|bear|tolerate) (.+)$/i, "cannot stand"],
  [/^(?:do|does) not (?:really |particularly |actually )?(?:like|enjoy|love|care for) (.+)$/i, "does not like"],
  [new RegExp(`^${BE} not (?:really |exactly |much of )?(?:a )?(?:big |huge )?fan of (.+)$`, "i"), "is not a fan of"],
  [new RegExp(`^${BE} not (?:really |that |very )?(?:into|keen on|fond of) (.+)$`, "i"), "does not like"],
];
/** Compliments and moments: "I love your hat", "I like the sound of it", "I love the idea". */
const SMALL_TALK =
  /^(?:all the|both|the (?!beach|mountains?|outdoors|ocean|sea|water|rain|snow|cold|heat|winter|summer|autumn|fall|spring|city|countryside|forest|woods|piano|guitar|violin|cello|theatre|theater|opera|ballet|colou?r|smell|taste|gym|sun|night|command line|terminal)|the (?:idea|sound|look|vibe|feel|view|colou?rs?|pic|photo|picture|fact|concept|energy|feeling|design|pattern|atmosphere|freedom|challenge|result|process|message|quote|spirit|attitude|enthusiasm|name|energy|thought|moment|support|way|detail|texture)s?\b|being able|hearing|to (?:see|hear|know|be|have|join|think|say|hang|help|chat|catch|talk)\b|seeing (?:you|how|what|pictures?)|having (?:you|a|the|someone|people)|being (?:around|part|a part)|to\b$|life$|today|a good\b|good\b$|people$|learning$|life\b|family moments|moments?\b|sharing\b|knowing\b|new\b$|talking\b|doing\b|being (?:there|here|able)|(?:my|our) (?:job|life|friends?|family|kids?|husband|wife|time)$)/iu;

const WEAK =
  /^(?:being|doing|having|going|seeing|making|getting|trying|helping|working|knowing|something|to \p{L}+|some|more|all|being|the)$/iu;

function objectsOf(said: string, clause: Clause): string[] {
  const raw = said.replace(/^to (?:just|really|always) /i, "to ");
  // "I love that place" and "I like when it rains" point away or hang on something else.
  if (/^(?:when|how|that|this|it|if|you|your|to be\b|the way)\b/i.test(raw)) return [];
  // "The Beatles" have a name; "the colours" are those of a picture that somebody shows.
  if (SMALL_TALK.test(raw) && !/^the \p{Lu}/u.test(raw)) return [];
  const object = phrase(raw, { strict: true, words: clause.among ? 9 : 10 });
  if (object === undefined || WEAK.test(object)) return [];
  return listed(object);
}

function liking(clause: Clause): Draft[] {
  // What a family or a group of friends likes is not what each of them likes.
  if (clause.plural && clause.among) return [];
  for (const [sense, table] of [
    ["likes", LIKES],
    ["dislikes", DISLIKES],
  ] as const)
    for (const [shape, says] of table) {
      const raw = shape.exec(clause.rest)?.[1];
      if (raw === undefined) continue;
      // "I like tabs over spaces" compares; it is read as a preference.
      if (/ (?:over|more than|better than) /.test(raw)) return preferring(`prefer ${raw}`, clause);
      const other = sense === "likes" ? "dislikes" : "likes";
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
    }
  return [];
}

function preferring(rest: string, clause: Clause): Draft[] {
  const raw = /^(?:prefers?|would rather have) (.+)$/i.exec(rest)?.[1];
  if (raw === undefined || SMALL_TALK.test(raw)) return [];
  const pair = /^(.+?) (?:over|more than|better than|rather than|instead of|to) (.+)$/i.exec(raw);
  const better = pair === null ? undefined : phrase(pair[1] ?? "", { strict: true, words: 6 });
  const worse = pair === null ? undefined : phrase(pair[2] ?? "", { strict: true, words: 6 });
  if (better !== undefined && worse !== undefined && !/^to\b/.test(raw)) {
    const both = [keyOf(better), keyOf(worse)].sort().join(" or ");
    return [
      draft(clause, {
        // Sorted, so that a change of mind has the same key.
        predicate: attribute(clause, `prefers:${both}`),
        content: `${named(clause)} prefers ${better} to ${worse}`,
        permanence: "stable",
        confidence: 0.95,
        turns: true,
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

const PASSION =
  /^(.+?)(?:'s| is| are| has been| has always been) (?:my|one of my) (?:(?:biggest|big|true|real|greatest|main) )*(passions?|hobby|hobbies|favou?rites?|faves?|stress relief|guilty pleasure|happy place)$/iu;
const FAVOURITE =
  /^(?:my|our) (?:(?:all-time|absolute|all time|personal) )?(?:favou?rite|fave|fav) (.+?) (?:is|are|has always been|would be) (.+)$/i;
const FAVOURITE_LAST = /^(.+?) (?:is|are) (?:my|our) (?:all-time |absolute )?(?:favou?rite|fave|fav) ([\p{L} ]+)$/iu;

function favourite(raw: string, clause: Clause): Draft[] {
  const first = FAVOURITE.exec(raw);
  const last = first === null ? FAVOURITE_LAST.exec(raw) : null;
  const of = phrase(first?.[1] ?? last?.[2] ?? "", { words: 4 });
  const what = phrase(first?.[2] ?? last?.[1] ?? "", { strict: true, words: 10 });
  if (of === undefined || what === undefined || /^(?:part|thing|memory|moment)s?$/i.test(of)) return [];
  const many = /s$/.test(of) && !/(?:ss|us|is|series)$/.test(of);
  return [
    draft(clause, {
      predicate: `favourite_${keyOf(of).replace(/ /g, "_")}`,
      content: `${possessive(clause.person.name)} favourite ${of} ${many ? "are" : "is"} ${what}`,
      permanence: "stable",
      confidence: 0.95,
      importance: 5,
      value: what,
    }),
  ];
}

export function preferences(clause: Clause): Draft[] {
  if (/^(?:my|our) /i.test(clause.rest)) return favourite(clause.rest, clause);
  if (clause.company !== "") return [];
  if (clause.other && !/^(?:loves?|likes?|hates?|dislikes?) /i.test(clause.rest)) return [];
  const found = liking(clause);
  return found.length > 0 ? found : preferring(clause.rest, clause);
}

function passion(text: string, clause: Clause): Draft[] {
  const match = PASSION.exec(text);
  const what = match === null ? undefined : phrase(match[1] ?? "", { strict: true, words: 6 });
  if (match === null || what === undefined || /^(?:the|a|an|their|blessed)\b/i.test(what)) return [];
  const kind = (match[2] ?? "")
    .toLowerCase()
    .replace(/^(?:fave|favou?rite)s?$/, "favourite")
    .replace(/^hobbies$/, "hobby")
    .replace(/^passions$/, "passion");
  const of =
    /\bone of my\b/i.test(text) || kind === "passion" || kind === "hobby"
      ? `one of ${possessive(clause.person.name)} ${kind === "hobby" ? "hobbies" : `${kind}s`}`
      : `${possessive(clause.person.name)} ${kind}`;
  const many = / and /.test(what) || (/s$/.test(what) && !/^\p{L}+ing\b/u.test(what));
  return [
    draft(clause, {
      predicate: `likes:${keyOf(what)}`,
      content: `${what} ${many && !/^\p{L}+ing\b/iu.test(what) ? "are" : "is"} ${of.replace("The user", "the user")}`,
      permanence: "stable",
      confidence: 0.85,
      ends: [`dislikes:${keyOf(what)}`],
    }),
  ];
}

/** "Green is my favourite colour": the object comes first, so it has no subject of its own. */
export function favouriteFirst(text: string, clause: Clause): Draft[] {
  if (/^(?:my|our|it|that|this|he|she|they|these|those|which|what|where|who)\b/i.test(text)) return [];
  const found = passion(text, clause);
  return found.length > 0 || !FAVOURITE_LAST.test(text) ? found : favourite(text, clause);
}
