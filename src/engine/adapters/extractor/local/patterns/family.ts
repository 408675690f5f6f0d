/** Names, family, pets and the other things that are somebody's own: "my sister's name is Mia", "my editor is Helix". */
import { COUNT } from "../calendar.ts";
import { type Clause, type Draft, draft } from "../draft.ts";
import { keyOf, PROPER, phrase } from "../phrases.ts";
import { attribute, KINSHIP, named, PETS, PROJECT, possessive } from "../subject.ts";
import type { Table } from "../table.ts";

const NAME = String.raw`(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})`;
const THINGS =
  "project|product|startup|time ?zone|editor|ide|shell|terminal|stack|tech stack|backend|front ?end|database|production database|default branch|main branch|package manager|test framework|test runner|hometown|home town|home country|native language|mother tongue|first language|nationality|religion|job title|job|role|team|company|employer|doctor|dentist|therapist|landlord|laptop|phone|car|bike|shoe size|shirt size|ring size|blood type|zodiac sign|star sign|diet|major|degree|office|school|university|gym|bank|operating system|os|keyboard layout|monitor|server|domain|repository|repo|cloud provider|hosting provider|ci|staging server|staging environment|production server|deploy target|release day|github (?:handle|username|user)|username|handle|pronouns|middle name|surname|maiden name|last name|email|hobby|passion|budget";
const NOT_A_VALUE =
  /^(?:great|good|fine|bad|ok|okay|slow|broken|down|up|dead|full|empty|amazing|awesome|going|getting|giving|making|driving|hard|tough|busy|dying|not|being|acting|running|so|too|very|really|pretty|quite|super|important|everything|ready|done|finished|back|new|old|old|gone|on|off|in|at|coming|doing|important|key|crucial|strong|supportive|killing|looking|still|better|worse|under|about|nice|closed|open|expensive|stressful|lovely|the best|the worst|a mess|right|wrong|missing|failing|red|green|always|happy|proud|kind|there)\b/i;
const UNIQUE =
  /^(?:(?:older|younger|elder|little|big|twin) )?(?:sister|brother|mother|father|mum|mom|dad|wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|boss|manager|roommate|flatmate|best friend|grandmother|grandfather|grandma|grandpa)$/i;
const slug = (text: string) => keyOf(text).replace(/[\s-]+/g, "_");

/** Where several can hold at once, as with cousins, the name is part of the predicate. */
export function relation(clause: Clause, kin: string, name: string): Draft {
  return draft(clause, {
    predicate: UNIQUE.test(kin) ? slug(kin) : `${slug(kin)}:${name}`,
    content: `${possessive(clause.person.name)} ${kin.toLowerCase()} is called ${name}`,
    permanence: "stable",
    importance: 7,
    confidence: 0.95,
    value: name,
  });
}

/** Said beside something else. "I think my dog Rex ran away" does not doubt the name. */
const besides = (clause: Clause, kin: string, name: string): Draft => ({
  ...relation(clause, kin, name),
  confidence: 0.85,
});

const nameOf = (clause: Clause, name: string, content: string, confidence: number): Draft =>
  draft(clause, { predicate: "name", content, permanence: "permanent", importance: 8, confidence, value: name });

export const OWN: Table = {
  kind: "own",
  applies: (clause) => clause.owned,
  rows: [
    {
      name: "own name",
      pattern: new RegExp(`^(?:my|our) (?:full |first |last |middle )?name is ${NAME}$`, "u"),
      example: "My name is Ottilie Brandt.",
      gives: "name = The user's name is Ottilie Brandt.",
      make: ([, name], clause) => [nameOf(clause, name, `${possessive(clause.person.name)} name is ${name}`, 0.95)],
    },
    {
      name: "name of a relative",
      pattern: new RegExp(
        `^(?:my|our) (${KINSHIP}|${PETS})(?:'s name is| is (?:called|named)|,? who is (?:called|named)) ${NAME}\\b`,
        "u",
      ),
      example: "My sister's name is Mia.",
      gives: "sister = The user's sister is called Mia.",
      also: [{ example: "My dog's name is Rex.", gives: "dog:Rex = The user's dog is called Rex." }],
      make: ([, kin, name], clause) => [relation(clause, kin, name)],
    },
    {
      name: "birthday",
      pattern: /^(?:my|our) ((?:[\p{L}-]+'s )?)(birthday|wedding anniversary|anniversary) is(?: on)?$/iu,
      example: "My birthday is on 9 October.",
      gives: "birthday = The user's birthday is on 9 October.",
      not: ["My birthday is next month."],
      make: ([, whose, day], clause) => {
        const when = clause.when?.("future") ?? null;
        if (when === null || when.from !== when.to) return undefined;
        return [
          draft(clause, {
            predicate: slug(`${whose}${day}`.replace(/'s/g, "")),
            content: `${possessive(clause.person.name)} ${whose}${day} is ${when.words.replace(/ \d{4}$/, "")}`,
            permanence: "permanent",
            importance: 8,
            confidence: 0.95,
          }),
        ];
      },
    },
    {
      name: "thing",
      pattern: new RegExp(
        `^(my|our) ((?:[\\p{L}-]+ )?(?:${THINGS})) (?:is|are|runs on|runs|is called|is named) (.+)$`,
        "iu",
      ),
      example: "My editor is Helix.",
      gives: "editor = The user's editor is Helix.",
      also: [
        { example: "Our database is Postgres.", gives: "database = The project's database is Postgres." },
        { example: "My pronouns are they/them.", gives: "pronouns = The user's pronouns are they/them." },
      ],
      not: ["My laptop is slow.", "My car is in the garage."],
      make: ([, whose, what, raw], clause) => {
        if (NOT_A_VALUE.test(raw)) return undefined;
        const pronouns = /^pronouns$/i.test(what);
        const value = pronouns ? raw : phrase(raw, { strict: true, words: 10 });
        if (value === undefined || clause.when !== undefined) return [];
        const shared = whose.toLowerCase() === "our" && !clause.betweenPeople;
        const owner = shared ? "The project's" : possessive(clause.person.name);
        return [
          draft(clause, {
            ...(shared ? PROJECT : {}),
            predicate: slug(what),
            content: `${owner} ${what} ${pronouns ? "are" : "is"} ${value}`,
            permanence: "stable",
            importance: 6,
            confidence: 0.9,
            value,
          }),
        ];
      },
    },
    {
      name: "relative with a name",
      pattern: new RegExp(
        `^(?:my|our) (${PETS}|son|daughter|wife|husband|sister|brother|girlfriend|boyfriend|partner),? (?!I\\b)${NAME}(?=,? (?!and\\b))`,
        "u",
      ),
      example: "My dog Rex ran away.",
      gives: "dog:Rex = The user's dog is called Rex.",
      make: ([, kin, name], clause) => [besides(clause, kin, name)],
    },
  ],
};

/** "a 44-year-old colour technologist", "a nurse from Hull". */
const CALLING =
  /^(?:[\p{L}\p{N}-]+ ){0,4}?[\p{L}-]+(?:er|or|ist|ian|ant|nurse|chef|student|coach|vet|pilot)(?=$|,| (?:at|from|in|with|for|who|and|based|living)\b)/iu;

export const NAMES: Table = {
  kind: "names",
  applies: (clause) => !clause.owned && clause.first,
  rows: [
    {
      name: "goes by",
      pattern: new RegExp(`^(?:go by|goes by|am called|is called) ${NAME}$`, "u"),
      example: "I go by Jo.",
      gives: "name = The user goes by Jo.",
      make: ([, name], clause) => [nameOf(clause, name, `${clause.person.name} goes by ${name}`, 0.9)],
    },
    {
      // Without what follows it could be "I am Dutch".
      name: "introduction",
      pattern: /^am (\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?), (an?|the) ([\p{L}\p{N}].*)$/u,
      example: "Hi, I'm Jorid, a potter from the coast.",
      gives: ["name = The user's name is Jorid.", "occupation = The user, Jorid, is a potter from the coast."],
      not: ["I'm Dutch."],
      make: ([, name, article, raw], clause) => {
        if (clause.person.subject !== "user") return undefined;
        const what = CALLING.test(raw) ? phrase(raw, { strict: true, words: 8 }) : undefined;
        const calling = { permanence: "stable", importance: 7, confidence: 0.85 } as const;
        return [
          nameOf(clause, name, `The user's name is ${name}`, 0.85),
          ...(what === undefined
            ? []
            : [
                draft(clause, {
                  predicate: "occupation",
                  content: `The user, ${name}, is ${article} ${what}`,
                  ...calling,
                }),
              ]),
        ];
      },
    },
  ],
};

const ASIDE = /,? (?:who|that|which|and (?:they|he|she|it|we|i))\b(?! is (?:named|called)).*$/i;
const TAIL = /(?<![,\s])[,\s]+(?:too|as well|now|already|at home|with (?:my|our) (?:husband|wife|partner))$/i;

export const HAVING: Table = {
  kind: "having",
  applies: (clause) => !clause.owned && clause.when === undefined && !(clause.plural && clause.companions !== ""),
  text: (clause) => clause.rest.replace(ASIDE, "").replace(TAIL, ""),
  rows: [
    {
      name: "has a relative or pet",
      pattern: new RegExp(
        `^(?:have|has|got) (an?|another|${COUNT}|no) ((?:[\\p{L}-]+ ){0,2}?)(${KINSHIP}|${PETS}|child|kid|children|kids|sons|daughters|sisters|brothers|siblings|dogs|cats|kittens|puppies|horses|rabbits|pets)(?:,? (?:(?:who is |which is )?(?:named|called) )?${NAME}(?: and ${NAME})?)?$`,
        "u",
      ),
      example: "I have a dog called Rex.",
      gives: "dog:Rex = The user has a dog called Rex.",
      also: [{ example: "I have two kids.", gives: "children = The user has two kids." }],
      make: ([, count, adjectives, noun, name, second], clause) => {
        if (/\b(?:great|amazing|good|nice|sick|new)\b/.test(adjectives) && name === "" && count !== "a") return [];
        const has = `${named(clause)} has ${count} ${adjectives}${noun}`;
        if (name !== "" && second === "" && /^(?:an?|another)$/i.test(count))
          return [
            draft(clause, {
              predicate: attribute(clause, UNIQUE.test(noun) ? slug(noun) : `${slug(noun)}:${name}`),
              content: `${has} called ${name}`,
              permanence: "stable",
              importance: 7,
              confidence: 0.95,
              value: name,
            }),
          ];
        const names = [name, second].filter((one) => one !== "").join(" and ");
        return [
          draft(clause, {
            predicate: attribute(clause, slug(/^kids?$/.test(noun) ? "children" : noun)),
            content: names === "" ? has : `${has} called ${names}`,
            permanence: "stable",
            importance: 7,
            confidence: 0.9,
          }),
        ];
      },
    },
  ],
};

/** Said in passing, wherever in the sentence: what else the sentence says is learned as well. */
export const IN_PASSING: Table = {
  kind: "in passing",
  applies: () => true,
  rows: [
    {
      name: "home",
      pattern: new RegExp(
        `\\bmy (home country|hometown|home town|home state|home city|birthplace),? (?:is |of )?(${PROPER})`,
        "u",
      ),
      example: "The best waffles are in my home town, Bruges.",
      gives: "home_town = The user's home town is Bruges.",
      make: ([, what, place], clause) => [
        draft(clause, {
          predicate: slug(what),
          content: `${possessive(clause.person.name)} ${what} is ${place}`,
          permanence: "permanent",
          importance: 7,
          confidence: 0.9,
          value: place,
        }),
      ],
    },
    {
      name: "relative",
      pattern: new RegExp(
        `\\b[Mm]y ((?:(?:older|younger|little|big) )?(?:${PETS}|son|daughter|wife|husband|sister|brother|girlfriend|boyfriend|partner|cousin|aunt|uncle|nephew|niece|best friend|mentor|colleague)),? (\\p{Lu}\\p{Ll}+)\\b(?! and\\b)`,
        "u",
      ),
      example: "The cake was for my niece Olga.",
      gives: "niece:Olga = The user's niece is called Olga.",
      make: ([, kin, name], clause) => [besides(clause, kin, name)],
    },
  ],
};
