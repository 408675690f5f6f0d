/** How a sentence names its subject, and how a predicate tells a relative's attributes from the speaker's. */
import type { Clause } from "./draft.ts";

export const possessive = (name: string): string => (name.endsWith("s") ? `${name}'` : `${name}'s`);

/** What "we" say to an agent is about the project that both work on. */
export const PROJECT = { subject: "project", scope: "own" } as const;

/** The subject of a sentence: "Ada", "The user", "Ada's sister Mia". */
export function named(clause: Clause): string {
  const { name } = clause.person;
  return clause.relative === null ? `${name}${clause.companions}` : `${possessive(name)} ${clause.relative}`;
}

/** `lives_in`, or `sister_lives_in` for somebody's sister. */
export function attribute(clause: Clause, predicate: string): string {
  if (clause.relative === null) return predicate;
  return `${clause.relative
    .replace(/ \p{Lu}\p{L}+$/u, "")
    .toLowerCase()
    .replace(/[\s-]+/g, "_")}_${predicate}`;
}

const MANY = /\b(?:kids|children|parents|sons|daughters|sisters|brothers|grandparents)$/i;

/** "Ada's kids love": the verb follows a relative that is more than one. */
export function agreeing(clause: Clause, verb: string): string {
  if (clause.relative === null || !MANY.test(clause.relative)) return verb;
  return verb
    .replace(/^is\b/, "are")
    .replace(/^has\b/, "have")
    .replace(/^does\b/, "do")
    .replace(/^(lov|lik|enjoy|hat|dislik|liv|work|speak|play)(e?)s\b/, "$1$2");
}

const KIN =
  "sister|brother|mother|father|mum|mom|mommy|dad|daddy|wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|son|daughter|grandmother|grandfather|grandma|grandpa|granny|aunt|uncle|cousin|nephew|niece|boss|manager|roommate|flatmate|best friend|twin(?: (?:sister|brother))?|kids|children|parents|sons|daughters|sisters|brothers|grandparents|stepson|stepdaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law";
export const PETS =
  "dog|puppy|cat|kitten|hamster|rabbit|bunny|horse|parrot|turtle|tortoise|guinea pig|goldfish|lizard|snake|bird";
export const KINSHIP = `(?:(?:older|younger|elder|little|big|eldest|oldest|youngest|twin|late|half-?) )?(?:${KIN})`;
