/** Who somebody is: home, work, origin, languages. */
import { type Clause, type Draft, draft } from "./draft.ts";
import { condition } from "./health.ts";
import { keyOf, listed, PROPER, phrase } from "./phrases.ts";
import { agreeing, attribute, named } from "./subject.ts";

const BE = "(?:am|is|are)";
const shape = (pattern: string) => new RegExp(`^${pattern}$`, "u");

const JOBS =
  "nurse|teacher|doctor|lawyer|writer|author|artist|painter|musician|singer|dancer|actor|actress|chef|cook|baker|barista|waiter|waitress|plumber|electrician|carpenter|mechanic|farmer|gardener|pilot|driver|firefighter|police officer|soldier|veteran|student|professor|lecturer|researcher|scientist|biologist|chemist|physicist|mathematician|statistician|economist|accountant|auditor|banker|analyst|consultant|manager|director|engineer|developer|programmer|designer|architect|admin|administrator|sysadmin|tester|journalist|editor|translator|interpreter|librarian|historian|psychologist|psychiatrist|therapist|counsell?or|social worker|dentist|pharmacist|vet|veterinarian|surgeon|midwife|paramedic|coach|trainer|instructor|tutor|photographer|filmmaker|producer|founder|co-founder|entrepreneur|freelancer|contractor|maintainer|recruiter|salesperson|marketer|realtor|broker|judge|politician|priest|pastor|hairdresser|tailor|potter|sculptor|illustrator|animator|astronomer|geologist|linguist|philosopher|cto|ceo|cfo|product owner|data scientist|scrum master|team lead|tech lead|sre|postdoc|intern|apprentice|retiree|pensioner|stay-at-home (?:mum|mom|dad|parent)";
const BEINGS =
  "vegetarian|vegan|pescatarian|single (?:parent|mum|mom|dad|mother|father)|parent|mother|father|mum|mom|dad|grandmother|grandfather|twin|diabetic|coeliac|celiac|widow|widower|morning person|night owl|early bird|beginner|native speaker|trans(?:gender)? (?:woman|man|person)|christian|muslim|buddhist|hindu|citizen|immigrant|expat|introvert|extrovert|only child|christian|catholic";
const ROLE = shape(
  `${BE} (?:now |currently )?(an?|the) ((?:[\\p{L}\\p{N}+#.&/-]+ ){0,4}?(?:${JOBS}))((?: (?:at|for|in|from|of|with|on) .+)?)`,
);
const KIND_OF_PERSON = shape(
  `${BE} an? ((?:[\\p{L}-]+ ){0,2}?(?:${BEINGS})|\\p{Lu}\\p{Ll}+ (?:citizen|speaker))((?: (?:of|from|in) .+)?)`,
);
const TEMPORARY = /\b(?:bad|terrible|good|great|better|lucky|total|big|huge|real|bit|mess|proud|happy|new to)\b/i;

/** "Helm is a package manager": no person. */
const THING_LIKE =
  /\b(?:manager|editor|driver|director|producer|designer|developer|interpreter|translator|coach|tester|admin|administrator|pilot|broker|consultant|programmer|trainer|instructor|analyst|architect|builder|engineer|writer|author)$/i;

function role(clause: Clause): Draft[] {
  const match = ROLE.exec(clause.rest);
  if (match !== null) {
    const tail = match[3] === undefined || match[3] === "" ? "" : (phrase(match[3]) ?? "");
    const job = match[2] ?? "";
    if (TEMPORARY.test(job) || (clause.other && THING_LIKE.test(job))) return [];
    const head = job.split(" ").at(-1);
    return [
      draft(clause, {
        predicate: attribute(clause, "occupation"),
        content: `${named(clause)} is ${match[1]} ${job} ${tail}`,
        permanence: "stable",
        importance: head === "student" ? 6 : 7,
        confidence: 0.9,
        value: job,
      }),
    ];
  }
  const being = KIND_OF_PERSON.exec(clause.rest);
  const kind = being?.[1];
  if (kind === undefined || TEMPORARY.test(kind)) return [];
  const tail = being?.[2] === undefined || being[2] === "" ? "" : (phrase(being[2]) ?? "");
  const diet = /vegan|vegetarian|pescatarian/i.test(kind);
  return [
    draft(clause, {
      predicate: attribute(clause, diet ? "diet" : `is_a:${keyOf(kind)}`),
      content: `${named(clause)} is ${/^[aeiou]/i.test(kind) ? "an" : "a"} ${kind} ${tail}`,
      permanence: "stable",
      importance: diet ? 8 : 7,
      confidence: 0.9,
      value: diet ? kind : null,
    }),
  ];
}

interface Plain {
  readonly shape: RegExp;
  readonly predicate: string;
  readonly says: string;
  readonly permanence: Draft["permanence"];
  readonly importance: number;
  /** Several can hold at once, so the object is part of the predicate. */
  readonly many?: true;
  readonly proper?: true;
}

const plain = (
  pattern: string,
  predicate: string,
  says: string,
  permanence: Plain["permanence"],
  importance: number,
  more: Partial<Plain> = {},
): Plain => ({
  shape: shape(`${pattern} (.+)`),
  predicate,
  says,
  permanence,
  importance,
  ...more,
});

const PLAIN: readonly Plain[] = [
  plain("(?:have|has) lived in", "lives_in", "lives in", "stable", 8, { proper: true }),
  plain(
    "(?:have|has) (?:worked|been working) (?:at|for)(?! \\p{L}+ (?:years?|months?|hours?))",
    "works_at",
    "works at",
    "stable",
    7,
  ),
  plain(
    "(?:have|has)(?= an? (?:[\\p{L}']+ )?(?:degree|phd|diploma|doctorate|bachelor's|master's)\\b)",
    "education",
    "has",
    "permanent",
    6,
  ),
  plain("studied(?! (?:the|this|for|hard) )", "studied", "studied", "permanent", 6, { many: true }),
  plain(
    `(?:lives?|reside|resides|${BE} living|${BE} based|${BE} located) (?:out )?(?:here )?(?:in|near)`,
    "lives_in",
    "lives in",
    "stable",
    8,
    { proper: true },
  ),
  plain(`(?:${BE}|comes?|${BE} originally) from`, "comes_from", "is from", "permanent", 7, { proper: true }),
  plain("(?:grew up|was raised) in", "grew_up_in", "grew up in", "permanent", 6),
  plain("was born in", "born_in", "was born in", "permanent", 8, { proper: true }),
  plain("works? as(?= (?:an?|the) )", "occupation", "works as", "stable", 7),
  plain(
    `(?:works? at|works? for|${BE} working at|${BE} working for|${BE} employed (?:at|by))`,
    "works_at",
    "works at",
    "stable",
    7,
  ),
  plain("works? in", "works_in", "works in", "stable", 6),
  plain("teach(?:es)?", "teaches", "teaches", "stable", 6, { many: true }),
  plain("volunteers? (?:at|for|with)", "volunteers_at", "volunteers at", "standard", 6, { many: true }),
  plain(`(?:${BE} studying|studies|study)(?! the )`, "studies", "studies", "stable", 6),
  plain(`(?:majors? in|${BE} majoring in)`, "studies", "majors in", "stable", 6),
  plain(`${BE} allergic to`, "allergic_to", "is allergic to", "permanent", 9, { many: true }),
  plain(`${BE} intolerant to`, "intolerant_to", "is intolerant to", "permanent", 9, { many: true }),
  plain(`${BE} (?:afraid|scared|terrified) of`, "fears", "is afraid of", "stable", 6, { many: true }),
  plain("(?:speaks?)", "speaks", "speaks", "stable", 6, { many: true, proper: true }),
  plain(`${BE} (?:fluent|native) in`, "speaks", "is fluent in", "stable", 6, { many: true, proper: true }),
  plain(`${BE} learning(?: how)?(?: to speak)?`, "learning", "is learning", "standard", 5, { many: true }),
  plain(
    "(?:owns?(?= an? )|runs?(?= (?:an?|my|our|their) .*\\b(?:business|company|shop|store|studio|restaurant|caf[eé]|bakery|farm|hotel|agency|startup|bar|gym|clinic|school|blog|podcast|newsletter|channel|homelab|club|band|charity|meetup)\\b))",
    "runs",
    "runs",
    "stable",
    6,
    { many: true },
  ),
  plain("drives?(?= an? )", "drives", "drives", "stable", 4),
  plain("mentors?", "mentors", "mentors", "standard", 5, { many: true }),
  plain("(?:have|has) been to", "visited", "has been to", "stable", 4, { many: true, proper: true }),
  plain("majored in", "majored_in", "majored in", "permanent", 6),
  plain(
    "plays?(?= the | (?:piano|guitar|violin|cello|drums|bass|chess|tennis|football|soccer|basketball|golf|hockey|rugby|cricket|volleyball|saxophone|clarinet|flute|trumpet|ukulele|harp)\\b)",
    "plays",
    "plays",
    "stable",
    5,
    { many: true },
  ),
];
const PLACE = new RegExp(
  `^(?:(?:the |a |an )[\\p{L}' -]{3,40} (?:of|in|near|outside|from) )?(?:the |rural |downtown |central |north(?:ern)? |south(?:ern)? |east(?:ern)? |west(?:ern)? )?(?:${PROPER})(?: (?:and|,) ${PROPER}){0,4}$`,
  "u",
);
const ROAD =
  /^(?:nights?|home|weekends|least|free|themselves|fun|money|a living|(?:a|an) \p{L}+ (?:pace|level)|the \p{L}+ level|hours|hell|fear|peace|denial|the moment|the present|the (?:dark|shadows?|past|future|present))$/iu;

const OF_PEOPLE = new Set(["lives_in", "comes_from", "born_in", "works_at", "occupation", "allergic_to", "speaks"]);

const FOR_LONG = / for (?:about |over |almost |nearly )?[\p{L}\d]+ (?:years?|months?)\b.*$/iu;

function plainly(clause: Clause): Draft[] {
  for (const one of PLAIN) {
    const match = one.shape.exec(clause.rest);
    if (match === null || (clause.other && !OF_PEOPLE.has(one.predicate))) continue;
    const said = phrase((match[1] ?? "").replace(FOR_LONG, ""), { strict: true, words: 12 });
    const first = said?.replace(/ (?:and|with) .*$/, "");
    // "in Hull and works at a school": the place ends before.
    const object = one.proper === true && one.many !== true && said !== undefined && !PLACE.test(said) ? first : said;
    if (object === undefined || ROAD.test(object)) return [];
    if (one.proper === true && !PLACE.test(object)) return [];
    if (/^(?:with|on|at)\b/.test(object)) return [];
    const since = clause.when?.("past");
    const objects = one.many === true ? listed(object) : [object];
    return objects.map((each) =>
      draft(clause, {
        predicate: attribute(clause, one.many === true ? `${one.predicate}:${keyOf(each)}` : one.predicate),
        content: `${named(clause)} ${agreeing(clause, one.says)} ${each}`,
        permanence: one.permanence,
        importance: one.importance,
        confidence: 0.9,
        valid_from: since !== undefined && since !== null && since.from <= clause.day ? since.from : null,
        value: each,
      }),
    );
  }
  return [];
}

export function identity(clause: Clause): Draft[] {
  if (clause.company !== "" || clause.rest.startsWith("my ") || clause.rest.startsWith("our ")) return [];
  for (const find of clause.other ? [plainly, role] : [condition, plainly, role]) {
    const found = find(clause);
    if (found.length > 0) return found;
  }
  return [];
}
