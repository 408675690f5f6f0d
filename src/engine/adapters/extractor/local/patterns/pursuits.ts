/** What somebody does and strives for over a longer time. */
import { COUNT, countOf, dayWords } from "../calendar.ts";
import { draft } from "../draft.ts";
import { keyOf, phrase, thirdPerson } from "../phrases.ts";
import { attribute, named } from "../subject.ts";
import { type Refusal, refused, type Table } from "../table.ts";

const FREQUENCY =
  "(?:every (?:single )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall|\\p{Lu}\\p{Ll}+day)|(?:once|twice|three times|four times|five times) (?:a|per) (?:day|week|month|year)|on (?:\\p{Lu}\\p{Ll}+days|weekends|weekdays)|daily|weekly)";
const STATE_OF_MIND = /^(?:thinking|feeling|waiting|trying|looking|wanting|dreaming|going through|dealing)\b/i;

/** What is under way and still nothing that anybody asks for later. */
export const NOT_UNDER_WAY: readonly Refusal[] = [
  {
    object:
      /^(?:some |new |different |more |many |their |the |an? |with |from |on )*(?:options|ideas|ways|plans|things|places|progress|sure|sense|changes|excuses|project|projects|app|application|website|site|feature|problem|problems|code|task|issue|bug|assignment|scratch|exercises|examples|file|function|script|page|answer|solution|questions)$/i,
    example: "I'm exploring some new ideas.",
  },
  {
    verb: /^(?:starting|opening|making|creating)$/,
    unless: /^(?:an?|my|our|their|two|three) /,
    example: "I'm starting rehab.",
  },
  {
    verb: /^(?:building|writing|designing|developing)$/,
    unless: /^(?:an?|their) /,
    toAgent: true,
    example: "I'm writing unit tests.",
  },
  // Said to an agent, they name the task of the moment.
  {
    verb: /^(?:making|creating|turning|setting up|wrapping up|running)$/,
    toAgent: true,
    example: "I'm setting up a mirror.",
  },
  {
    verb: /^(?:taking|running|looking for)$/,
    unless:
      /\b(?:class|classes|course|courses|lessons|medication|workshop|business|company|store|shop|studio|job|house|flat|apartment|marathon|investors|work|internship)\b/i,
    example: "I'm looking for a typo.",
  },
  {
    verb: /^working on$/,
    object: /^(?:the |some |\p{L}+ing\b|sprint\b|version\b|phase\b|step\b)/iu,
    toAgent: true,
    example: "I'm working on the login form.",
  },
  // "I'm practising with coins" does not say what; "studying for a week" does not say for what.
  {
    object:
      /^(?:with|by|on|for|in|at|to|from|and)\b|^(?:an?|one|two|three|\d+|few) (?:(?:few|couple of) )?(?:hour|day|week|month|year)s?$/i,
    example: "I have been studying for a week.",
  },
  { verb: /^taking$/, object: /^(?:a )?(?:care|break|time|steps?)\b/, example: "I'm taking a break from work." },
];

/** Goals that are too vague, and those that an agent is asked to carry out. */
export const NOT_A_GOAL: readonly Refusal[] = [
  {
    object: /^(?:learn|study|create|start|open|build|visit)(?: (?:more|a new file|from|by|up|off|how)\b.*)?$/,
    example: "I want to learn more about bees.",
  },
  { object: /^(?:create|build|start|open|write|launch|run)\b/, toAgent: true, example: "I want to build a web shop." },
];

export const PURSUITS: Table = {
  kind: "pursuits",
  applies: (clause) => !clause.owned,
  rows: [
    {
      name: "for years",
      pattern: new RegExp(
        `^(?:have|has) been (\\p{L}+ing\\b.*?|married|vegan|vegetarian|sober|together) for (?:about |over |around |almost |nearly |more than )?(${COUNT}) (years|months)\\b`,
        "iu",
      ),
      example: "I've been teaching chemistry for twelve years.",
      gives: "since:teaching chemistry = As of 11 March 2026, the user has been teaching chemistry for twelve years.",
      not: ["I've been feeling tired for two months."],
      make: ([, raw, count, unit], clause) => {
        if (!(countOf(count) > 0) || clause.companions !== "") return undefined;
        const object = phrase(raw, { words: 10 });
        if (object === undefined || STATE_OF_MIND.test(object)) return undefined;
        const content = `As of ${dayWords(clause.day)}, ${named(clause)} has been ${object} for ${count} ${unit}`;
        return [
          draft(clause, {
            predicate: attribute(clause, `since:${keyOf(object)}`),
            content: content.replace("The user", "the user"),
            permanence: "stable",
            importance: 6,
            confidence: 0.85,
            valid_from: unit === "years" ? `${Number(clause.day.slice(0, 4)) - countOf(count)}-01-01` : null,
          }),
        ];
      },
    },
    {
      name: "habit",
      pattern: new RegExp(
        `^(run|go|swim|walk|jog|cycle|bike|hike|meditate|practise|practice|play|read|cook|volunteer|paint|write|train|exercise|work out|do|take|attend|visit|call|drink|eat|wake up|get up|meet|teach|work|travel|fast|journal|deploy|release|back up)\\b(.*?) (${FREQUENCY})\\b(.*)$`,
        "iu",
      ),
      example: "I swim twice a week.",
      gives: "habit:swim = The user swims twice a week.",
      make: ([, said, raw, frequency], clause) => {
        if (clause.relative !== null || clause.when !== undefined) return undefined;
        const object = raw.trim() === "" ? "" : phrase(raw.trim(), { strict: true, words: 8 });
        if (object === undefined) return undefined;
        const [verb = "", ...particle] = said.toLowerCase().split(" ");
        const act = `${clause.companions === "" ? thirdPerson(verb) : verb} ${[...particle, object].join(" ")}`.trim();
        return [
          draft(clause, {
            predicate: `habit:${keyOf(`${said} ${object}`)}`,
            content: `${named(clause)} ${act} ${frequency}`,
            permanence: "standard",
            confidence: 0.85,
            reverses: true,
          }),
        ];
      },
    },
    {
      name: "under way",
      pattern:
        /^(am|is|are|have been|has been) (reading|working on|researching|training for|preparing for|prepping for|writing|building|taking|saving (?:up )?for|studying for|looking for|applying (?:for|to)|volunteering at|practicing|practising|rehearsing|organi[sz]ing|renovating|teaching|mentoring|launching|expanding|migrating|developing|designing|running for|running|interning at|recovering from|offering|hosting|selling|putting together|creating|volunteering as|volunteering for|mentoring|starting|opening|wrapping up|setting up|turning|brainstorming|exploring|learning|making|painting|helping out (?:at|with)) (.+)$/i,
      example: "I'm training for a marathon.",
      gives: "training_for:marathon = The user is training for a marathon.",
      make: ([, said, doing, raw], clause) => {
        if (clause.when !== undefined || (clause.plural && clause.betweenPeople && clause.companions === ""))
          return undefined;
        const verb = doing.toLowerCase();
        const object = phrase(raw, { words: 14 });
        if (object === undefined || object.length < 4 || refused(NOT_UNDER_WAY, verb, object, clause)) return undefined;
        const one = /been$/i.test(said) ? "has been" : "is";
        return [
          draft(clause, {
            predicate: attribute(clause, `${verb.replace(/ /g, "_")}:${keyOf(object)}`),
            content: `${named(clause)} ${clause.companions === "" ? one : "are"} ${verb} ${object}`,
            permanence: "volatile",
            confidence: 0.85,
          }),
        ];
      },
    },
    {
      name: "goal",
      pattern:
        /^(?:(?:am|is) (?:hoping|aiming|determined)|wants?|dreams? of|hope|hopes) (?:to )?((?:become|becoming|learn|move to|study|open|start|travel to|visit|run a|write a|adopt|buy a|get a (?:dog|cat|degree|job)|build a|work (?:as|in|with)|create a|pursue|launch|teach|improve|get into|get stronger|run for|turn)\b.*)$/i,
      example: "I want to become a pilot.",
      gives: "goal:become a pilot = The user wants to become a pilot.",
      make: ([, raw], clause) => {
        const object = phrase(raw, { words: 14 });
        if (object === undefined || clause.companions !== "" || refused(NOT_A_GOAL, "", object, clause))
          return undefined;
        const acts = object.replace(/^becoming/, "become");
        return [
          draft(clause, {
            predicate: attribute(clause, `goal:${keyOf(acts)}`),
            content: `${named(clause)} wants to ${acts}`,
            permanence: "standard",
            confidence: 0.8,
          }),
        ];
      },
    },
    {
      name: "formerly",
      pattern:
        /^used to ((?:live|work|play|compete|run|teach|own|study|be an?|drive|smoke|go|do|love|dance|write|volunteer)\b.*)$/i,
      example: "I used to live in Hull.",
      gives: "formerly:live in hull = The user used to live in Hull.",
      make: ([, raw], clause) => {
        const object = phrase(raw, { words: 12 });
        if (object === undefined || !object.includes(" ") || clause.companions !== "") return undefined;
        return [
          draft(clause, {
            predicate: attribute(clause, `formerly:${keyOf(object)}`),
            content: `${named(clause)} used to ${object}`,
            permanence: "stable",
            importance: 4,
            confidence: 0.85,
          }),
        ];
      },
    },
  ],
};
