/** Whether something is said of the person served, who is the same in every project, or of the work at hand. */
import { normaliseKey } from "../text/text.ts";

/** The names that models give to the one person they serve. */
const PERSON = new Set("user,the user,owner,the owner,me,i,myself,human,the human".split(","));
/** In what was learned from a conversation these are the person too; told of a project they may be a part of it. */
const SERVED = new Set("customer,client,self".split(","));

/** The subject of what is said of the work at hand. */
export const PROJECT_SUBJECT = "project";

export const subjectOf = (told: string): string => {
  const subject = normaliseKey(told);
  return PERSON.has(subject) || SERVED.has(subject) ? "user" : subject;
};

/** Of a fact: its subject is the person. */
export const isPerson = (subject: string): boolean => PERSON.has(normaliseKey(subject));

/**
 * Of a rule: it speaks of the person as somebody to be treated in some way ("call me Ada", "ask me first", "The user wants short
 * answers"). "My" is no sign of it (my fork, my branch), and neither is a user further on, who may be anybody's user. A rule
 * that is taken for the work's by mistake is told once more; one that is taken for the person's would follow into every project.
 */
export const isAboutPerson = (rule: string): boolean =>
  /(?<![\p{L}\p{N}_-])(?:me|myself|mir|mich)(?![\p{L}\p{N}_-])|^\s*(?:the )?user (?:wants|prefers|likes|dislikes|hates|needs|is|has|would|does)(?![\p{L}\p{N}_])/iu.test(
    rule,
  );
