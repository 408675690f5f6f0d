/** The role that somebody names: "I'm a nurse", "I'm a single parent". */
import { draft } from "../draft.ts";
import { keyOf, phrase } from "../phrases.ts";
import { attribute, named } from "../subject.ts";
import type { Table } from "../table.ts";

const JOBS =
  "nurse|teacher|doctor|lawyer|writer|author|artist|painter|musician|singer|dancer|actor|actress|chef|cook|baker|barista|waiter|waitress|plumber|electrician|carpenter|mechanic|farmer|gardener|pilot|driver|firefighter|police officer|soldier|veteran|student|professor|lecturer|researcher|scientist|biologist|chemist|physicist|mathematician|statistician|economist|accountant|auditor|banker|analyst|consultant|manager|director|engineer|developer|programmer|designer|architect|admin|administrator|sysadmin|tester|journalist|editor|translator|interpreter|librarian|historian|psychologist|psychiatrist|therapist|counsell?or|social worker|dentist|pharmacist|vet|veterinarian|surgeon|midwife|paramedic|coach|trainer|instructor|tutor|photographer|filmmaker|producer|founder|co-founder|entrepreneur|freelancer|contractor|maintainer|recruiter|salesperson|marketer|realtor|broker|judge|politician|priest|pastor|hairdresser|tailor|potter|sculptor|illustrator|animator|astronomer|geologist|linguist|philosopher|cto|ceo|cfo|product owner|data scientist|scrum master|team lead|tech lead|sre|postdoc|intern|apprentice|retiree|pensioner|stay-at-home (?:mum|mom|dad|parent)";
const BEINGS =
  "vegetarian|vegan|pescatarian|single (?:parent|mum|mom|dad|mother|father)|parent|mother|father|mum|mom|dad|grandmother|grandfather|twin|diabetic|coeliac|celiac|widow|widower|morning person|night owl|early bird|beginner|native speaker|trans(?:gender)? (?:woman|man|person)|christian|muslim|buddhist|hindu|citizen|immigrant|expat|introvert|extrovert|only child|christian|catholic";
const TEMPORARY = /\b(?:bad|terrible|good|great|better|lucky|total|big|huge|real|bit|mess|proud|happy|new to)\b/i;
/** "Helm is a package manager" is about no person. */
const THING_LIKE =
  /\b(?:manager|editor|driver|director|producer|designer|developer|interpreter|translator|coach|tester|admin|administrator|pilot|broker|consultant|programmer|trainer|instructor|analyst|architect|builder|engineer|writer|author)$/i;

export const ROLES: Table = {
  kind: "roles",
  applies: (clause) => clause.companions === "" && !clause.owned,
  rows: [
    {
      name: "job",
      pattern: new RegExp(
        `^(?:am|is|are) (?:now |currently )?(an?|the) ((?:[\\p{L}\\p{N}+#.&/-]+ ){0,4}?(?:${JOBS}))((?: (?:at|for|in|from|of|with|on) .+)?)$`,
        "u",
      ),
      example: "I'm a senior backend engineer at Northwind.",
      gives: "occupation = The user is a senior backend engineer at Northwind.",
      not: ["I'm a bad cook.", "Helm is a package manager."],
      make: ([, article, job, more], clause) => {
        if (TEMPORARY.test(job) || (clause.other && THING_LIKE.test(job))) return [];
        return [
          draft(clause, {
            predicate: attribute(clause, "occupation"),
            content: `${named(clause)} is ${article} ${job} ${more === "" ? "" : (phrase(more) ?? "")}`,
            permanence: "stable",
            importance: job.split(" ").at(-1) === "student" ? 6 : 7,
            confidence: 0.9,
            value: job,
          }),
        ];
      },
    },
    {
      name: "kind of person",
      pattern: new RegExp(
        `^(?:am|is|are) an? ((?:[\\p{L}-]+ ){0,2}?(?:${BEINGS})|\\p{Lu}\\p{Ll}+ (?:citizen|speaker))((?: (?:of|from|in) .+)?)$`,
        "u",
      ),
      example: "I'm a single parent.",
      gives: "is_a:single parent = The user is a single parent.",
      also: [{ example: "I'm a vegetarian.", gives: "diet = The user is a vegetarian." }],
      not: ["I'm a proud mother."],
      make: ([, kind, more], clause) => {
        if (TEMPORARY.test(kind)) return [];
        const diet = /vegan|vegetarian|pescatarian/i.test(kind);
        const article = /^[aeiou]/i.test(kind) ? "an" : "a";
        return [
          draft(clause, {
            predicate: attribute(clause, diet ? "diet" : `is_a:${keyOf(kind)}`),
            content: `${named(clause)} is ${article} ${kind} ${more === "" ? "" : (phrase(more) ?? "")}`,
            permanence: "stable",
            importance: diet ? 8 : 7,
            confidence: 0.9,
            value: diet ? kind : null,
          }),
        ];
      },
    },
  ],
};
