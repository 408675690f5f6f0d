/** What is planned and hoped for, with its date. */
import { type Clause, type Draft, draft } from "./draft.ts";
import { FLEETING, keyOf, phrase, UNTOLD } from "./phrases.ts";
import { named } from "./subject.ts";

const COMING =
  "going|having|hosting|attending|visiting|flying|travell?ing|moving|starting|meeting|taking|running|performing|getting married|leaving|seeing|launching|opening|releasing|putting together|competing|speaking|presenting|volunteering|participating|graduating|heading|driving|throwing|organi[sz]ing|joining|getting|doing|celebrating|expecting";
const PROGRESSIVE = new RegExp(
  `^(?:am|is|are) ((?!going to \\p{Ll}+(?<! an?| the| my| our| their) )(?:${COMING})\\b.+)$`,
  "u",
);
const GOING_TO = /^(?:am|is|are) going to (?!be\b|keep\b|try\b|need\b)(\p{Ll}+ .+|\p{Ll}+)$/u;
const WILL =
  /^will (?:be (?=\p{L}+ing\b))?(?!be\b|not\b|never\b|keep\b|try\b|let\b|always\b|definitely\b)(\p{Ll}+ .+)$/u;
const PLANNING = /^(?:(?:am|is|are) planning|plans?|have planned|has planned) (?:on )?(.+)$/i;
const CONSIDERING =
  /^(?:am|is|are|have been|has been) (?:thinking (?:about|of)(?= \p{L}+ing\b)|considering|looking into) (.+)$/iu;
const WILL_BE = /^will be ((?:in|at|on) (?:\p{Lu}|an? |the ).+)$/u;
const HAVE =
  /^(?:have|has) ((?:an?|my|our|two|three) (?:[\p{L}'-]+ ){0,3}(?:appointment|interview|exam|test|flight|meeting|surgery|check-?up|deadline|presentation|wedding|trip|concert|gig|race|conference|class|show|competition|recital|demo|talk)\b.*)$/iu;
const OCCASION =
  /^(?:my|our) ((?:[\p{L}'-]+ ){0,3}(?:wedding|exam|flight|appointment|interview|deadline|anniversary|birthday party|surgery|operation|due date|graduation|trip|vacation|holiday|concert|show|recital|conference talk|talk|release|launch|demo|move|marathon|race|thesis defen[cs]e|contract|lease|visa|passport|subscription|sprint|grand opening|opening|party|meeting|check-?up)) (?:is|starts|begins|ends|expires|is scheduled(?: for)?|is due|will be|takes place|runs out)\b ?(.*)$/iu;

function plan(clause: Clause, says: string, raw: string, confidence: number, needsDate: boolean): Draft[] {
  const when = clause.when?.("future") ?? null;
  if (when === null ? needsDate || clause.when !== undefined : when.to < clause.day) return [];
  const object = phrase(raw, { words: 18 });
  if (object === undefined || (FLEETING.test(object.replace(/^\p{L}+ /u, "")) && object.split(" ").length < 5))
    return [];
  if (
    UNTOLD.test(object.replace(/^(?:to )?\p{L}+ /u, "")) ||
    /^(?:to (?:be|keep|try|need|stay)|be|stay|keep|try|miss|need|love|check|send|let|look|think|make sure)\b/.test(
      object,
    )
  )
    return [];
  return [
    draft(clause, {
      predicate: `plan:${keyOf(object)}`,
      content: `${named(clause)} ${says} ${object} ${when?.words ?? ""}`,
      permanence: "volatile",
      confidence,
      valid_to: when?.to ?? null,
    }),
  ];
}

export function plans(clause: Clause): Draft[] {
  if (clause.relative !== null) return [];
  const occasion = OCCASION.exec(clause.rest);
  if (occasion !== null)
    return occasionOf(
      clause,
      occasion[1] ?? "",
      /(is|starts|begins|ends|expires|runs out|due)\b/.exec(clause.rest.slice((occasion[1] ?? "").length))?.[1] ?? "is",
      occasion[2] ?? "",
    );
  if (/^(?:my|our) /.test(clause.rest)) return goal(clause);
  const is = clause.company === "" ? "is" : "are";
  const going = GOING_TO.exec(clause.rest)?.[1];
  if (going !== undefined) {
    if (/^(?:a|an|the|my|our)\b/.test(going)) return plan(clause, `${is} going to`, going, 0.85, true);
    return plan(clause, `${is} going to`, going, 0.8, true);
  }
  const now = PROGRESSIVE.exec(clause.rest)?.[1];
  if (now !== undefined) return plan(clause, is, now, 0.85, true);
  const be = WILL_BE.exec(clause.rest)?.[1];
  if (be !== undefined) return plan(clause, "will be", be, 0.75, true);
  const will = WILL.exec(clause.rest)?.[1];
  if (will !== undefined) return plan(clause, "will", will, 0.75, true);
  const planned = PLANNING.exec(clause.rest)?.[1];
  if (planned !== undefined)
    return plan(clause, is === "is" ? "plans" : "plan", planned.replace(/^(\p{L}+ing\b)/u, "on $1"), 0.85, false);
  const thought = CONSIDERING.exec(clause.rest)?.[1];
  if (thought !== undefined && /^\S+(?: been)? looking/i.test(clause.rest))
    return plan(clause, `${is} looking into`, thought, 0.75, false);
  if (thought !== undefined) return plan(clause, `${is} considering`, thought, 0.65, false);
  const have = HAVE.exec(clause.rest)?.[1];
  return have === undefined ? [] : plan(clause, is === "is" ? "has" : "have", have, 0.85, true);
}

function occasionOf(clause: Clause, what: string, verb: string, more: string): Draft[] {
  const when = clause.when?.("future") ?? null;
  if (when === null || when.to < clause.day) return [];
  const tail = more === "" ? "" : (phrase(more, { words: 10 }) ?? "");
  return [
    draft(clause, {
      predicate: keyOf(what).replace(/ /g, "_"),
      content: `${clause.person.name}'s ${what} ${verb === "due" ? "is due" : verb} ${when.words} ${tail}`,
      permanence: "volatile",
      importance: 6,
      confidence: 0.9,
      valid_to: when.to,
    }),
  ];
}

const GOAL =
  /^(?:my|our) (?:(?:main|big|biggest|ultimate|long-term|life|career|next|new) )?(goal|dream|aim|resolution)(?: (?:for|this|in) .{1,20}?)? (?:is|has always been) to (.+)$/i;

function goal(clause: Clause): Draft[] {
  const match = GOAL.exec(clause.rest);
  const object = match === null ? undefined : phrase(match[2] ?? "", { words: 16 });
  if (match === null || object === undefined) return [];
  return [
    draft(clause, {
      predicate: `goal:${keyOf(object)}`,
      content: `${clause.person.name}'s ${match[1]} is to ${object}`,
      permanence: "standard",
      importance: 6,
    }),
  ];
}
