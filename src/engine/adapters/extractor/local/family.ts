/** Names, family, pets and the other things that are somebody's own: "my sister's name is Mia", "my editor is Helix". */
import { KINSHIP, PETS } from "./clauses.ts";
import { COUNT } from "./dates.ts";
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, PROPER, phrase } from "./phrases.ts";
import { attribute, named, possessive } from "./subject.ts";

const NAME = String.raw`(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})`;
/** "I am Jo, a baker"; without what follows it could be "I am Dutch". */
const INTRODUCED = /^am (\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?), (?:an?|the) \p{L}/u;
const OWN_NAME = new RegExp(`^(?:my|our) (?:full |first |last |middle )?name is ${NAME}$`, "u");
const CALLED = new RegExp(`^(?:go by|goes by|am called|is called) ${NAME}$`, "u");
const OF_RELATIVE = new RegExp(
  `^(?:my|our) (${KINSHIP}|${PETS})(?:'s name is| is (?:called|named)|,? who is (?:called|named)) ${NAME}\\b`,
  "u",
);
const WITH_NAME = new RegExp(
  `^(?:my|our) (${PETS}|son|daughter|wife|husband|sister|brother|girlfriend|boyfriend|partner),? (?!I\\b)${NAME}(?=,? (?!and\\b))`,
  "u",
);
const COLLEGE = `${KINSHIP}|${PETS}|child|kid`;
const HAS = new RegExp(
  `^(?:have|has|got) (an?|another|${COUNT}|no) ((?:[\\p{L}-]+ ){0,2}?)(${COLLEGE}|children|kids|sons|daughters|sisters|brothers|siblings|dogs|cats|kittens|puppies|horses|rabbits|pets)(?:,? (?:(?:who is |which is )?(?:named|called) )?${NAME}(?: and ${NAME})?)?$`,
  "u",
);
const THINGS =
  "project|product|startup|time ?zone|editor|ide|shell|terminal|stack|tech stack|backend|front ?end|database|production database|default branch|main branch|package manager|test framework|test runner|hometown|home town|home country|native language|mother tongue|first language|nationality|religion|job title|job|role|team|company|employer|doctor|dentist|therapist|landlord|laptop|phone|car|bike|shoe size|shirt size|ring size|blood type|zodiac sign|star sign|diet|major|degree|office|school|university|gym|bank|operating system|os|keyboard layout|monitor|server|domain|repository|repo|cloud provider|hosting provider|ci|staging server|staging environment|production server|deploy target|release day|github (?:handle|username|user)|username|handle|pronouns|middle name|surname|maiden name|last name|email|hobby|passion|budget";
const THING_IS = new RegExp(
  `^(my|our) ((?:[\\p{L}-]+ )?(?:${THINGS})) (?:is|are|runs on|runs|is called|is named) (.+)$`,
  "iu",
);
const BIRTHDAY = /^(?:my|our) ((?:[\p{L}-]+'s )?)(birthday|wedding anniversary|anniversary) is(?: on)?$/iu;

const FEELINGS =
  /^(?:great|good|fine|bad|ok|okay|slow|broken|down|up|dead|full|empty|amazing|awesome|going|getting|giving|making|driving|hard|tough|busy|dying|not|being|acting|running|so|too|very|really|pretty|quite|super|important|everything|ready|done|finished|back|new|old|old|gone|on|off|in|at|coming|doing|important|key|crucial|strong|supportive|killing|looking|still|better|worse|under|about|nice|closed|open|expensive|stressful|lovely|the best|the worst|a mess|right|wrong|missing|failing|red|green|always|happy|proud|kind|there)\b/i;
const UNIQUE =
  /^(?:(?:older|younger|elder|little|big|twin) )?(?:sister|brother|mother|father|mum|mom|dad|wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|boss|manager|roommate|flatmate|best friend|grandmother|grandfather|grandma|grandpa)$/i;
const slug = (text: string) => keyOf(text).replace(/[\s-]+/g, "_");

function relation(clause: Clause, kin: string, name: string): Draft {
  const single = UNIQUE.test(kin);
  return draft(clause, {
    predicate: single ? slug(kin) : `${slug(kin)}:${name}`,
    content: `${possessive(clause.person.name)} ${kin.toLowerCase()} is called ${name}`,
    permanence: "stable",
    importance: 7,
    confidence: 0.95,
    value: name,
  });
}

function mine(clause: Clause, text: string): Draft[] {
  const own = OWN_NAME.exec(text)?.[1];
  if (own !== undefined)
    return [
      draft(clause, {
        predicate: "name",
        content: `${possessive(clause.person.name)} name is ${own}`,
        permanence: "permanent",
        importance: 8,
        confidence: 0.95,
        value: own,
      }),
    ];
  const of = OF_RELATIVE.exec(text);
  if (of !== null) return [relation(clause, of[1] ?? "", of[2] ?? "")];
  const birthday = BIRTHDAY.exec(text);
  const when = birthday === null ? null : (clause.when?.("future") ?? null);
  if (birthday !== null && when !== null && when.from === when.to) {
    const yearly = when.words.replace(/ \d{4}$/, "");
    const whose = birthday[1] ?? "";
    return [
      draft(clause, {
        predicate: slug(`${whose}${birthday[2]}`.replace(/'s/g, "")),
        content: `${possessive(clause.person.name)} ${whose}${birthday[2]} is ${yearly}`,
        permanence: "permanent",
        importance: 8,
        confidence: 0.95,
      }),
    ];
  }
  const thing = THING_IS.exec(text);
  if (thing !== null && !FEELINGS.test(thing[3] ?? ""))
    return attributeOf(clause, thing[1] ?? "", thing[2] ?? "", thing[3] ?? "");
  const named = WITH_NAME.exec(text);
  return named === null ? [] : [{ ...relation(clause, named[1] ?? "", named[2] ?? ""), confidence: 0.85 }];
}

function attributeOf(clause: Clause, whose: string, what: string, raw: string): Draft[] {
  const value = /^pronouns$/i.test(what) ? raw : phrase(raw, { strict: true, words: 10 });
  if (value === undefined || clause.when !== undefined) return [];
  const shared = whose.toLowerCase() === "our" && !clause.among;
  return [
    draft(clause, {
      ...(shared ? { subject: "project", scope: "own" as const } : {}),
      predicate: slug(what),
      content: `${shared ? "The project's" : possessive(clause.person.name)} ${what} ${/^pronouns$/i.test(what) ? "are" : "is"} ${value}`,
      permanence: "stable",
      importance: 6,
      confidence: 0.9,
      value,
    }),
  ];
}

function having(clause: Clause): Draft[] {
  if (clause.when !== undefined) return [];
  const match = HAS.exec(
    clause.rest
      .replace(/,? (?:who|that|which|and (?:they|he|she|it|we|i))\b(?! is (?:named|called)).*$/i, "")
      .replace(TAIL, ""),
  );
  if (match === null || (clause.plural && clause.company !== "")) return [];
  const [, count = "", adjectives = "", noun = "", name, second] = match;
  if (/\b(?:great|amazing|good|nice|sick|new)\b/.test(adjectives) && name === undefined && count !== "a") return [];
  const who = named(clause);
  const names = [name, second].flatMap((one) => one ?? []);
  const plural = !/^(?:an?|another)$/i.test(count);
  if (!plural && names.length === 1)
    return [
      draft(clause, {
        predicate: attribute(clause, UNIQUE.test(noun) ? slug(noun) : `${slug(noun)}:${name}`),
        content: `${who} has ${count} ${adjectives}${noun} called ${name}`,
        permanence: "stable",
        importance: 7,
        confidence: 0.95,
        value: name ?? null,
      }),
    ];
  return [
    draft(clause, {
      predicate: attribute(clause, slug(/^kids?$/.test(noun) ? "children" : noun)),
      content: `${who} has ${count} ${adjectives}${noun}${names.length > 0 ? ` called ${names.join(" and ")}` : ""}`,
      permanence: "stable",
      importance: 7,
      confidence: 0.9,
    }),
  ];
}
const TAIL = /(?<![,\s])[,\s]+(?:too|as well|now|already|at home|with (?:my|our) (?:husband|wife|partner))$/i;

export function family(clause: Clause): Draft[] {
  if (/^(?:my|our) /i.test(clause.rest)) return mine(clause, clause.rest);
  const called = CALLED.exec(clause.rest)?.[1];
  if (called !== undefined && clause.first)
    return [
      draft(clause, {
        predicate: "name",
        content: `${clause.person.name} goes by ${called}`,
        permanence: "permanent",
        importance: 8,
        confidence: 0.9,
        value: called,
      }),
    ];
  const introduced = clause.first && clause.person.subject === "user" ? INTRODUCED.exec(clause.rest)?.[1] : undefined;
  if (introduced !== undefined)
    return [
      draft(clause, {
        predicate: "name",
        content: `The user's name is ${introduced}`,
        permanence: "permanent",
        importance: 8,
        confidence: 0.85,
        value: introduced,
      }),
    ];
  return having(clause);
}

const HOME = new RegExp(
  `\\bmy (home country|hometown|home town|home state|home city|birthplace),? (?:is |of )?(${PROPER})`,
  "u",
);

const PASSING = new RegExp(
  `\\b[Mm]y ((?:(?:older|younger|little|big) )?(?:${PETS}|son|daughter|wife|husband|sister|brother|girlfriend|boyfriend|partner|cousin|aunt|uncle|nephew|niece|best friend|mentor|colleague)),? (\\p{Lu}\\p{Ll}+)\\b(?! and\\b)`,
  "u",
);
const PETNAME = /^(?:her|his|its|their) name(?:'s| is) (\p{Lu}\p{Ll}+)\b/iu;
const NAMELESS = new RegExp(
  `\\b(?:got|adopted|have|has|bought|rescued) (?:an? )?(?:[\\p{L}-]+ ){0,2}(${PETS}|pup)\\b`,
  "iu",
);

/** "I have a parrot. His name is Biscuit." */
export function namedAfter(text: string, last: Draft | undefined, clause: Clause): Draft[] {
  const name = PETNAME.exec(text)?.[1];
  const pet = NAMELESS.exec(last?.content ?? "")?.[1];
  return name === undefined || pet === undefined ? [] : [relation(clause, pet, name)];
}

/** "in my home town, Bruges": said in passing, wherever in the sentence. */
export function inPassing(text: string, clause: Clause): Draft[] {
  const match = HOME.exec(text);
  const place = match?.[2];
  const relative = PASSING.exec(text);
  if (match === null && relative !== null)
    return [{ ...relation(clause, relative[1] ?? "", relative[2] ?? ""), confidence: 0.85 }];
  if (match === null || place === undefined) return [];
  return [
    draft(clause, {
      predicate: slug(match[1] ?? ""),
      content: `${possessive(clause.person.name)} ${match[1]} is ${place}`,
      permanence: "permanent",
      importance: 7,
      confidence: 0.9,
      value: place,
    }),
  ];
}
