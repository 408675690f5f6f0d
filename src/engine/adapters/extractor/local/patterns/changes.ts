/** What is no longer so. The new state has the key of the old one. */
import { type Clause, draft } from "../draft.ts";
import { keyOf, PROPER, phrase, thirdPerson } from "../phrases.ts";
import { attribute, named, PROJECT } from "../subject.ts";
import type { Table } from "../table.ts";

/** The predicate under which the positive statement of a verb is found: `{}` is the key of its object. */
const PREDICATE_OF: readonly (readonly [verb: RegExp, object: RegExp, predicate: string])[] = [
  [/^lives?$/, /^/, "lives_in"],
  [/^works?$/, /^as /, "occupation"],
  [/^works?$/, /^in /, "works_in"],
  [/^works?$/, /^/, "works_at"],
  [/^(?:like|love|enjoy)s?$/, /^/, "likes:{}"],
  [/^prefers?$/, /^/, "prefers:{}"],
  [/^uses?$/, /^/, "uses:{}"],
  [/^eats?$/, /^/, "eats:{}"],
  [/^drinks?$/, /^/, "drinks:{}"],
  [/^plays?$/, /^/, "plays:{}"],
  [/^speaks?$/, /^/, "speaks:{}"],
  [/^teachs?$/, /^/, "teaches:{}"],
  [/^drives?$/, /^/, "drives"],
  [/^(?:own|run)s?$/, /^/, "runs:{}"],
];

function predicateFor(verb: string, object: string): string | undefined {
  const known = PREDICATE_OF.find(([verbs, objects]) => verbs.test(verb) && objects.test(object));
  return known?.[2].replace("{}", () => keyOf(object.replace(/^(?:in|at|for|as) /, "")));
}

/** The day since which something has changed, and the words for it. */
function sinceWhen(clause: Clause): { readonly since: string | null; readonly at: string } {
  const when = clause.when?.("past") ?? null;
  return when === null || when.from > clause.day ? { since: null, at: "" } : { since: when.from, at: when.words };
}

const STATE = /^(?:an? )?(?:vegan|vegetarian|married|single|engaged|\p{L}+er|nurse|student)$/iu;
const MOOD = /^(?:being|trying|feeling|thinking|working|worrying|caring)$/;

function habitOf(act: string, object: string): string {
  if (act === "smoking") return "smokes";
  const eats = /^(eat|drink)ing$/.exec(act)?.[1];
  return eats !== undefined && object !== "" ? `${eats}s:${keyOf(object)}` : `habit:${keyOf(`${act} ${object}`)}`;
}

/** Who uses a tool: the project when "we" say it. */
const userOf = (clause: Clause) =>
  clause.plural ? { of: PROJECT, who: "The project" } : { of: {}, who: named(clause) };

export const CHANGES: Table = {
  kind: "changes",
  applies: (clause) => clause.companions === "" && !clause.owned,
  rows: [
    {
      name: "no longer does",
      pattern: /^(?:no longer|(?:do|does) not(?= .*\banymore\b))(?: really)? (\p{L}+)\b(.*?)(?: anymore)?$/iu,
      example: "I no longer drink coffee.",
      gives: "drinks:coffee = The user no longer drinks coffee.",
      also: [{ example: "I don't live in Bonn anymore.", gives: "lives_in = The user no longer lives in Bonn." }],
      not: ["I no longer understand the problem."],
      make: ([, said, raw], clause) => {
        const object = phrase(raw, { strict: true, words: 8 });
        const predicate = object === undefined ? undefined : predicateFor(said.toLowerCase(), object);
        if (predicate === undefined) return [];
        const verb = thirdPerson(said.toLowerCase().replace(/(?<=[a-z]{2})s$/, ""));
        return [
          draft(clause, {
            predicate: attribute(clause, predicate),
            content: `${named(clause)} no longer ${verb} ${object}`,
            permanence: "stable",
            importance: 6,
            confidence: 0.9,
            reverses: true,
          }),
        ];
      },
    },
    {
      name: "no longer is",
      pattern: /^(?:am|is) (?:no longer|not(?= .*\banymore\b)) (.+?)(?: anymore)?$/i,
      example: "I'm no longer vegetarian.",
      gives: "diet = The user is no longer vegetarian.",
      also: [{ example: "I'm not a teacher anymore.", gives: "occupation = The user is no longer a teacher." }],
      not: ["I'm no longer sure."],
      make: ([, raw], clause) => {
        const what = phrase(raw, { words: 6 });
        if (what === undefined || !STATE.test(what)) return undefined;
        const civil = /married|single|engaged/i.test(what) ? "marital_status" : "occupation";
        return [
          draft(clause, {
            predicate: attribute(clause, /veg/i.test(what) ? "diet" : civil),
            content: `${named(clause)} is no longer ${what}`,
            permanence: "stable",
            importance: 7,
            reverses: true,
          }),
        ];
      },
    },
    {
      name: "no longer using",
      pattern: /^(?:am|is|are) (?:no longer|not(?= .*\banymore\b)) using (.+?)(?: anymore)?$/i,
      example: "We are no longer using Jenkins.",
      gives: "uses:jenkins = The project no longer uses Jenkins.",
      make: ([, raw], clause) => {
        const tool = phrase(raw, { words: 6 });
        if (tool === undefined || clause.betweenPeople) return undefined;
        const { of, who } = userOf(clause);
        return [
          draft(clause, {
            ...of,
            predicate: `uses:${keyOf(tool)}`,
            content: `${who} no longer uses ${tool}`,
            permanence: "stable",
            importance: 6,
            reverses: true,
          }),
        ];
      },
    },
    {
      name: "moved from",
      pattern: new RegExp(`^(?:have |has )?moved (?:away |over |here )?from (${PROPER}) to (${PROPER})$`, "u"),
      example: "I moved from Bonn to Porto last week.",
      gives: "lives_in = The user moved from Bonn to Porto in the week before 11 March 2026.",
      make: ([, from, to], clause) => {
        const { since, at } = sinceWhen(clause);
        return [
          draft(clause, {
            predicate: attribute(clause, "lives_in"),
            content: `${named(clause)} moved from ${from} to ${to} ${at}`,
            permanence: "stable",
            importance: 8,
            confidence: 0.95,
            valid_from: since,
            value: to,
          }),
        ];
      },
    },
    {
      name: "left a job",
      pattern: /^(?:have |has )?(quit|left|resigned from|lost) (?:my|our) (job|position)(.*)$/i,
      example: "I quit my job at the mill.",
      gives: "works_at = The user quit their job at the mill.",
      make: ([, verb, job, raw], clause) => {
        const { since, at } = sinceWhen(clause);
        const where = raw.trim() === "" ? "" : (phrase(raw, { words: 8 }) ?? "");
        return [
          draft(clause, {
            predicate: attribute(clause, "works_at"),
            content: `${named(clause)} ${verb} their ${job} ${where} ${at}`,
            permanence: "stable",
            importance: 7,
            confidence: 0.9,
            valid_from: since,
            reverses: true,
          }),
        ];
      },
    },
    {
      name: "stopped",
      pattern: /^(?:have |has )?(?:quit|stopped|gave up|given up) (smoking|drinking|\p{L}+ing)\b(.*)$/iu,
      example: "I stopped eating meat.",
      gives: "eats:meat = The user stopped eating meat.",
      also: [
        { example: "I quit smoking.", gives: "smokes = The user stopped smoking." },
        { example: "I gave up running.", gives: "habit:running = The user stopped running." },
      ],
      not: ["I stopped worrying."],
      make: ([, said, raw], clause) => {
        const object = raw.trim() === "" ? "" : phrase(raw.trim(), { words: 6 });
        const act = said.toLowerCase();
        if (object === undefined || MOOD.test(act)) return [];
        const { since, at } = sinceWhen(clause);
        return [
          draft(clause, {
            predicate: habitOf(act, object),
            content: `${named(clause)} stopped ${act} ${object} ${at}`,
            permanence: "stable",
            importance: 6,
            valid_from: since,
            reverses: true,
          }),
        ];
      },
    },
    {
      name: "switched",
      pattern: /^(?:have |has )?(?:switched|migrated|changed|moved)(?: over)? from (.+?) to (.+)$/i,
      example: "I switched from Vim to Helix.",
      gives: ["uses:helix = The user switched from Vim to Helix.", "uses:vim = The user no longer uses Vim."],
      make: ([, before, after], clause) => {
        const old = phrase(before, { words: 5 });
        const now = phrase(after, { words: 6 });
        if (old === undefined || now === undefined || clause.betweenPeople) return [];
        const { since, at } = sinceWhen(clause);
        const { of, who } = userOf(clause);
        return [
          draft(clause, {
            ...of,
            predicate: `uses:${keyOf(now)}`,
            content: `${who} switched from ${old} to ${now} ${at}`,
            permanence: "stable",
            importance: 6,
            confidence: 0.9,
            valid_from: since,
            ends: [`prefers:${keyOf(old)}`],
          }),
          draft(clause, {
            ...of,
            predicate: `uses:${keyOf(old)}`,
            content: `${who} no longer uses ${old}`,
            permanence: "stable",
            confidence: 0.85,
            reverses: true,
          }),
        ];
      },
    },
  ],
};
