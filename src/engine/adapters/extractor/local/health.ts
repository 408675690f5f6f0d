/** Conditions of a person: health, diet, status, age. */
import { dayWords } from "./dates.ts";
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, phrase } from "./phrases.ts";
import { attribute, named } from "./subject.ts";

const ILLNESS =
  "asthma|diabetes|(?:type (?:1|2|one|two) )diabetes|epilepsy|migraines?|hypertension|high blood pressure|low blood pressure|arthritis|adhd|autism|dyslexia|coeliac disease|celiac disease|anxiety|depression|insomnia|an? [\\p{L} ]{2,30} (?:allergy|intolerance)|a heart condition|a bad (?:back|knee)|chronic [\\p{L} ]{3,30}|ibs|a pacemaker|hay fever|eczema|psoriasis|scoliosis|tinnitus";
const HEALTH = new RegExp(
  `^(?:have|has|suffers? from|was diagnosed with|live with|have been diagnosed with) (${ILLNESS})$`,
  "iu",
);
const INTOLERANT =
  /^(?:am|is) (lactose intolerant|gluten intolerant|colou?r ?blind|diabetic|coeliac|celiac|deaf|left-handed|dyslexic|autistic|epileptic|vegan|vegetarian|gluten-free|pregnant|type 1 diabetic|type 2 diabetic|asthmatic|transgender|gay|lesbian|bisexual|straight|non-binary)$/i;
const ABSTAINS = /^(?:(?:do|does) not|never|cannot) (eat|drink|smoke|use)\b ?(.*)$/i;
const STATUS =
  /^(?:am|is|are) (?:now )?(married|single|divorced|engaged|widowed|retired|self-employed|unemployed|freelancing)((?: to .+)?)$/i;
const AGE = /^(?:am|is) (\d{1,3})(?: years old)?$|^(?:turned|turn) (\d{1,3})$/;
const BORN = /^was born(?: on)?$/;

export function condition(clause: Clause): Draft[] {
  const who = named(clause);
  const text = phrase(clause.rest, { strict: false }) ?? clause.rest;
  const ill = HEALTH.exec(clause.rest.replace(/[,.][\s\S]*$/, "").trim())?.[1];
  if (ill !== undefined)
    return [
      draft(clause, {
        predicate: attribute(clause, `health:${keyOf(ill)}`),
        content: `${who} has ${ill}`,
        permanence: "stable",
        importance: 9,
        confidence: 0.95,
      }),
    ];
  const is = INTOLERANT.exec(text)?.[1];
  if (is !== undefined) {
    const diet = /veg|gluten-free/i.test(is);
    const passing = /pregnant/i.test(is);
    return [
      draft(clause, {
        predicate: attribute(clause, diet ? "diet" : `is:${is.toLowerCase()}`),
        content: `${who} is ${is}`,
        permanence: passing ? "volatile" : diet ? "stable" : "permanent",
        importance: 9,
        confidence: 0.95,
        value: diet ? is : null,
      }),
    ];
  }
  const status = STATUS.exec(text);
  if (status !== null)
    return [
      draft(clause, {
        predicate: attribute(
          clause,
          /retired|employed|freelanc/i.test(status[1] ?? "") ? "occupation" : "marital_status",
        ),
        content: `${who} is ${status[1]} ${status[2] ?? ""}`,
        permanence: "stable",
        importance: 7,
        confidence: 0.9,
      }),
    ];
  const age = AGE.exec(text);
  const years = Number(age?.[1] ?? age?.[2]);
  if (age !== null && years > 0 && years < 120) {
    const on = clause.when?.("past")?.from ?? clause.day;
    return [
      draft(clause, {
        predicate: attribute(clause, "age"),
        content: `${who} was ${years} years old on ${dayWords(on)}`,
        permanence: "standard",
        importance: 6,
        confidence: age[0].includes("years") || age[2] !== undefined ? 0.9 : 0.7,
        valid_from: on,
      }),
    ];
  }
  const born = BORN.test(clause.rest) ? clause.when?.("past") : undefined;
  if (born !== undefined && born !== null)
    return [
      draft(clause, {
        predicate: attribute(clause, "born"),
        content: `${who} was born ${born.words}`,
        permanence: "permanent",
        importance: 8,
        confidence: 0.95,
      }),
    ];
  return abstains(clause);
}

function abstains(clause: Clause): Draft[] {
  const match = ABSTAINS.exec(clause.rest);
  if (match === null || /\banymore\b/i.test(clause.rest)) return [];
  const verb = (match[1] ?? "").toLowerCase();
  const raw = match[2] ?? "";
  const object = raw === "" ? "" : phrase(raw, { strict: true, words: 4 });
  if (object === undefined || (object === "" && verb !== "smoke" && verb !== "drink")) return [];
  const of = object === "" ? verb : `${verb}:${keyOf(object)}`;
  return [
    draft(clause, {
      predicate: attribute(
        clause,
        `${/^(?:eat|drink|use):/.test(of) ? of.replace(/^(eat|drink|use):/, "$1s:") : `${verb}s`}`,
      ),
      content: `${named(clause)} ${/^cannot\b/i.test(clause.rest) ? "cannot" : "does not"} ${verb} ${object}`,
      permanence: "stable",
      importance: 7,
      confidence: 0.9,
    }),
  ];
}
