/** What is planned and hoped for, with its date. */
import { type Clause, type Draft, draft } from "../draft.ts";
import { FLEETING, keyOf, phrase, UNEXPLAINED } from "../phrases.ts";
import { named } from "../subject.ts";
import type { Example, FactRow, Table } from "../table.ts";

const COMING =
  "going|having|hosting|attending|visiting|flying|travell?ing|moving|starting|meeting|taking|running|performing|getting married|leaving|seeing|launching|opening|releasing|putting together|competing|speaking|presenting|volunteering|participating|graduating|heading|driving|throwing|organi[sz]ing|joining|getting|doing|celebrating|expecting";
const NO_PLAN =
  /^(?:to (?:be|keep|try|need|stay)|be|stay|keep|try|miss|need|love|check|send|let|look|think|make sure)\b/;

interface Plan extends Example {
  readonly name: string;
  readonly pattern: RegExp;
  /** What one person does, and what several do. */
  readonly says: readonly [one: string, several: string];
  readonly confidence: number;
  /** Kept without a date too. */
  readonly undated?: true;
  readonly not?: readonly string[];
}

/** Said to an agent, it is a thought about the task at hand. */
const OF_THE_TASK =
  /^(?:us|implement|add|deferr|creat|sett|writ|refactor|cach|optimi[sz]|integrat|mov|switch|try|deploy|stor|splitt|test|handl|includ)ing\b/i;

function plan({ says, confidence, undated, name }: Plan, raw: string, clause: Clause): readonly Draft[] {
  if (!clause.betweenPeople && /^(?:looking into|considering)$/.test(name) && OF_THE_TASK.test(raw)) return [];
  const when = clause.when?.("future") ?? null;
  if (when === null ? undated !== true || clause.when !== undefined : when.to < clause.day) return [];
  const object = phrase(raw, { words: 18 });
  if (object === undefined || (FLEETING.test(object.replace(/^\p{L}+ /u, "")) && object.split(" ").length < 5))
    return [];
  if (UNEXPLAINED.test(object.replace(/^(?:to )?\p{L}+ /u, "")) || NO_PLAN.test(object)) return [];
  return [
    draft(clause, {
      predicate: `plan:${keyOf(object)}`,
      content: `${named(clause)} ${clause.companions === "" ? says[0] : says[1]} ${object} ${when?.words ?? ""}`,
      permanence: "volatile",
      confidence,
      valid_to: when?.to ?? null,
    }),
  ];
}

const planned = (one: Plan): FactRow => ({ ...one, make: ([, raw], clause) => plan(one, raw, clause) });
/** "I plan moving" is told as "plans on moving". */
const PLANNED: Plan = {
  name: "plans",
  pattern: /^(?:(?:am|is|are) planning|plans?|have planned|has planned) (?:on )?(.+)$/i,
  says: ["plans", "plan"],
  confidence: 0.85,
  undated: true,
  example: "I'm planning to learn to sail.",
  gives: "plan:learn to sail = The user plans to learn to sail.",
};

export const PLANS: Table = {
  kind: "plans",
  applies: (clause) => clause.relative === null && !clause.owned,
  rows: [
    planned({
      name: "going to a place",
      pattern: /^(?:am|is|are) going to ((?:an?|the|my|our)(?: .+)?)$/u,
      says: ["is going to", "are going to"],
      confidence: 0.85,
      example: "I'm going to a concert on Friday.",
      gives: "plan:concert = The user is going to a concert on 13 March 2026.",
      not: ["I'm going to a concert."],
    }),
    planned({
      name: "going to do",
      pattern: /^(?:am|is|are) going to (?!be\b|keep\b|try\b|need\b)(\p{Ll}+ .+|\p{Ll}+)$/u,
      says: ["is going to", "are going to"],
      confidence: 0.8,
      example: "I'm going to paint the fence tomorrow.",
      gives: "plan:paint the fence = The user is going to paint the fence on 12 March 2026.",
    }),
    planned({
      name: "doing",
      pattern: new RegExp(
        `^(?:am|is|are) ((?!going to \\p{Ll}+(?<! an?| the| my| our| their) )(?:${COMING})\\b.+)$`,
        "u",
      ),
      says: ["is", "are"],
      confidence: 0.85,
      example: "I'm hosting a dinner tomorrow.",
      gives: "plan:hosting a dinner = The user is hosting a dinner on 12 March 2026.",
    }),
    planned({
      name: "will be at",
      pattern: /^will be ((?:in|at|on) (?:\p{Lu}|an? |the ).+)$/u,
      says: ["will be", "will be"],
      confidence: 0.75,
      example: "I'll be in Oslo next week.",
      gives: "plan:in oslo = The user will be in Oslo in the week of 16 March 2026.",
    }),
    planned({
      name: "will",
      pattern:
        /^will (?:be (?=\p{L}+ing\b))?(?!be\b|not\b|never\b|keep\b|try\b|let\b|always\b|definitely\b)(\p{Ll}+ .+)$/u,
      says: ["will", "will"],
      confidence: 0.75,
      example: "I will visit my aunt on Friday.",
      gives: "plan:visit their aunt = The user will visit their aunt on 13 March 2026.",
    }),
    { ...PLANNED, make: ([, raw], clause) => plan(PLANNED, raw.replace(/^(\p{L}+ing\b)/u, "on $1"), clause) },
    planned({
      name: "looking into",
      pattern: /^(?:am|is|are|have been|has been) looking into (.+)$/iu,
      says: ["is looking into", "are looking into"],
      confidence: 0.75,
      undated: true,
      example: "I'm looking into solar panels.",
      gives: "plan:solar panels = The user is looking into solar panels.",
    }),
    planned({
      name: "considering",
      pattern: /^(?:am|is|are|have been|has been) (?:thinking (?:about|of)(?= \p{L}+ing\b)|considering) (.+)$/iu,
      says: ["is considering", "are considering"],
      confidence: 0.65,
      undated: true,
      example: "I'm thinking about adopting a cat.",
      gives: "plan:adopting a cat = The user is considering adopting a cat.",
    }),
    planned({
      name: "has an appointment",
      pattern:
        /^(?:have|has) ((?:an?|my|our|two|three) (?:[\p{L}'-]+ ){0,3}(?:appointment|interview|exam|test|flight|meeting|surgery|check-?up|deadline|presentation|wedding|trip|concert|gig|race|conference|class|show|competition|recital|demo|talk)\b.*)$/iu,
      says: ["has", "have"],
      confidence: 0.85,
      example: "I have a dentist appointment tomorrow.",
      gives: "plan:dentist appointment = The user has a dentist appointment on 12 March 2026.",
    }),
  ],
};

export const OCCASIONS: Table = {
  kind: "occasions",
  applies: (clause) => clause.relative === null && clause.owned,
  rows: [
    {
      name: "occasion",
      pattern:
        /^(?:my|our) ((?:[\p{L}'-]+ ){0,3}(?:wedding|exam|flight|appointment|interview|deadline|anniversary|birthday party|surgery|operation|due date|graduation|trip|vacation|holiday|concert|show|recital|conference talk|talk|release|launch|demo|move|marathon|race|thesis defen[cs]e|contract|lease|visa|passport|subscription|sprint|grand opening|opening|party|meeting|check-?up)) (?:is|starts|begins|ends|expires|is scheduled(?: for)?|is due|will be|takes place|runs out)\b ?(.*)$/iu,
      example: "My flight is on Friday.",
      gives: "flight = The user's flight is on 13 March 2026.",
      also: [{ example: "Our lease ends in June.", gives: "lease = The user's lease ends in June 2026." }],
      not: ["My flight is late."],
      make: ([, what, more], clause) => {
        const when = clause.when?.("future") ?? null;
        if (when === null || when.to < clause.day) return [];
        const verb = /(is|starts|begins|ends|expires|runs out|due)\b/.exec(clause.rest.slice(what.length))?.[1] ?? "is";
        return [
          draft(clause, {
            predicate: keyOf(what).replace(/ /g, "_"),
            content: `${clause.person.name}'s ${what} ${verb === "due" ? "is due" : verb} ${when.words} ${more === "" ? "" : (phrase(more, { words: 10 }) ?? "")}`,
            permanence: "volatile",
            importance: 6,
            confidence: 0.9,
            valid_to: when.to,
          }),
        ];
      },
    },
    {
      name: "goal",
      pattern:
        /^(?:my|our) (?:(?:main|big|biggest|ultimate|long-term|life|career|next|new) )?(goal|dream|aim|resolution)(?: (?:for|this|in) .{1,20}?)? (?:is|has always been) to (.+)$/i,
      example: "My goal is to run a marathon.",
      gives: "goal:run a marathon = The user's goal is to run a marathon.",
      make: ([, kind, raw], clause) => {
        const object = phrase(raw, { words: 16 });
        if (object === undefined) return [];
        return [
          draft(clause, {
            predicate: `goal:${keyOf(object)}`,
            content: `${clause.person.name}'s ${kind} is to ${object}`,
            permanence: "standard",
            importance: 6,
          }),
        ];
      },
    },
  ],
};
