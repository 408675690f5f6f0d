/** The memories about a subject: facts, the episodes that taught them, rules about the person, and everything that names it. */
import type { Sql } from "../../adapters/db/port.ts";
import { namePattern } from "../../domain/erasure/subject-named.ts";
import { isAboutPerson, isPerson } from "../../domain/learning/person.ts";
import { normaliseKey } from "../../domain/text/text.ts";
import { type Erased, memoriesBySubject, type Of, rulesTold } from "../../store/erasure/select.ts";

export async function memoriesAbout(sql: Sql, place: Of, subject: string): Promise<Erased[]> {
  const found = await memoriesBySubject(sql, place, normaliseKey(subject), namePattern(subject));
  if (!isPerson(subject)) return found;
  const known = new Set(found.map(({ id }) => id));
  const rules = (await rulesTold(sql, place)).filter(({ id, content }) => !known.has(id) && isAboutPerson(content));
  return [...found, ...rules.map(({ id }): Erased => ({ type: "rule", id }))];
}
