/** Conditions of a person: health, diet, status, age. */
import { dayWords } from "../calendar.ts";
import { type Clause, draft } from "../draft.ts";
import { keyOf, phrase } from "../phrases.ts";
import { attribute, named } from "../subject.ts";
import type { Table } from "../table.ts";

const ILLNESS =
  "asthma|diabetes|(?:type (?:1|2|one|two) )diabetes|epilepsy|migraines?|hypertension|high blood pressure|low blood pressure|arthritis|adhd|autism|dyslexia|coeliac disease|celiac disease|anxiety|depression|insomnia|an? [\\p{L} ]{2,30} (?:allergy|intolerance)|a heart condition|a bad (?:back|knee)|chronic [\\p{L} ]{3,30}|ibs|a pacemaker|hay fever|eczema|psoriasis|scoliosis|tinnitus";

const ofOnePerson = (clause: Clause) => !clause.other && clause.companions === "" && !clause.owned;

export const HEALTH: Table = {
  kind: "health",
  applies: ofOnePerson,
  rows: [
    {
      name: "illness",
      pattern: new RegExp(
        `^(?:have|has|suffers? from|was diagnosed with|live with|have been diagnosed with) (${ILLNESS})\\s*(?:[,.][\\s\\S]*)?$`,
        "iu",
      ),
      example: "I have asthma.",
      gives: "health:asthma = The user has asthma.",
      make: ([, illness], clause) => [
        draft(clause, {
          predicate: attribute(clause, `health:${keyOf(illness)}`),
          content: `${named(clause)} has ${illness}`,
          permanence: "stable",
          importance: 9,
          confidence: 0.95,
        }),
      ],
    },
    {
      name: "born on",
      pattern: /^was born(?: on)?$/,
      example: "I was born on 4 July 1988.",
      gives: "born = The user was born on 4 July 1988.",
      make: (_said, clause) => {
        const when = clause.when?.("past") ?? null;
        if (when === null) return undefined;
        return [
          draft(clause, {
            predicate: attribute(clause, "born"),
            content: `${named(clause)} was born ${when.words}`,
            permanence: "permanent",
            importance: 8,
            confidence: 0.95,
          }),
        ];
      },
    },
    {
      name: "abstains",
      pattern: /^((?:do|does) not|never|cannot) (eat|drink|smoke|use)\b ?(.*)$/i,
      example: "I don't eat pork.",
      gives: "eats:pork = The user does not eat pork.",
      also: [{ example: "I never smoke.", gives: "smokes = The user does not smoke." }],
      not: ["I don't use."],
      make: ([, not, said, raw], clause) => {
        const verb = said.toLowerCase();
        const object = raw === "" ? "" : phrase(raw, { strict: true, words: 4 });
        if (object === undefined || /\banymore\b/i.test(clause.rest)) return undefined;
        if (object === "" && verb !== "smoke" && verb !== "drink") return undefined;
        return [
          draft(clause, {
            predicate: attribute(clause, object === "" || verb === "smoke" ? `${verb}s` : `${verb}s:${keyOf(object)}`),
            content: `${named(clause)} ${/^cannot$/i.test(not) ? "cannot" : "does not"} ${verb} ${object}`,
            permanence: "stable",
            importance: 7,
            confidence: 0.9,
          }),
        ];
      },
    },
  ],
};

export const CONDITIONS: Table = {
  kind: "conditions",
  // To cut the phrase out costs more than all the rows.
  applies: (clause) => ofOnePerson(clause) && /^[,:\s]*(?:am|is|are|turn)/i.test(clause.rest),
  text: ({ rest }) => phrase(rest) ?? rest,
  rows: [
    {
      name: "is",
      pattern:
        /^(?:am|is) (lactose intolerant|gluten intolerant|colou?r ?blind|diabetic|coeliac|celiac|deaf|left-handed|dyslexic|autistic|epileptic|vegan|vegetarian|gluten-free|pregnant|type 1 diabetic|type 2 diabetic|asthmatic|transgender|gay|lesbian|bisexual|straight|non-binary)$/i,
      example: "I'm lactose intolerant.",
      gives: "is:lactose intolerant = The user is lactose intolerant.",
      also: [{ example: "I'm vegan.", gives: "diet = The user is vegan." }],
      make: ([, what], clause) => {
        const diet = /veg|gluten-free/i.test(what);
        const forLife = diet ? "stable" : "permanent";
        return [
          draft(clause, {
            predicate: attribute(clause, diet ? "diet" : `is:${what.toLowerCase()}`),
            content: `${named(clause)} is ${what}`,
            permanence: /pregnant/i.test(what) ? "volatile" : forLife,
            importance: 9,
            confidence: 0.95,
            value: diet ? what : null,
          }),
        ];
      },
    },
    {
      name: "status",
      pattern:
        /^(?:am|is|are) (?:now )?(married|single|divorced|engaged|widowed|retired|self-employed|unemployed|freelancing)((?: to .+)?)$/i,
      example: "I'm married.",
      gives: "marital_status = The user is married.",
      also: [{ example: "I'm self-employed.", gives: "occupation = The user is self-employed." }],
      make: ([, status, to], clause) => [
        draft(clause, {
          predicate: attribute(clause, /retired|employed|freelanc/i.test(status) ? "occupation" : "marital_status"),
          content: `${named(clause)} is ${status} ${to}`,
          permanence: "stable",
          importance: 7,
          confidence: 0.9,
        }),
      ],
    },
    {
      name: "age",
      pattern: /^(?:am|is) (\d{1,3})( years old)?$|^(?:turned|turn) (\d{1,3})$/,
      example: "I'm 34 years old.",
      gives: "age = The user was 34 years old on 11 March 2026.",
      also: [{ example: "I turned 40 yesterday.", gives: "age = The user was 40 years old on 10 March 2026." }],
      not: ["I'm 300 years old."],
      make: ([, is, old, turned], clause) => {
        const years = Number(is === "" ? turned : is);
        if (years <= 0 || years >= 120) return undefined;
        const on = clause.when?.("past")?.from ?? clause.day;
        return [
          draft(clause, {
            predicate: attribute(clause, "age"),
            content: `${named(clause)} was ${years} years old on ${dayWords(on)}`,
            permanence: "standard",
            importance: 6,
            confidence: old !== "" || turned !== "" ? 0.9 : 0.7,
            valid_from: on,
          }),
        ];
      },
    },
  ],
};
