/** One episode, read sentence by sentence: what it says, and how it tells the agent to behave. */
import type { EpisodeShown } from "../port.ts";
import { clauseOf, clausesOf, NOT_MEANT, readClause, type Setting, spellOut, withoutOpening } from "./clauses.ts";
import type { Clause, Draft } from "./draft.ts";
import { ADDITIONS, CORRECTIONS } from "./patterns/follow-ups.ts";
import { GERMAN_ORDERS, withoutEnd } from "./patterns/german.ts";
import { instruction } from "./patterns/instructions.ts";
import { rememberedIn } from "./patterns/notes.ts";
import { sentencesOf } from "./sentences.ts";
import { type Found, find, foundBy, readTable, type Table } from "./table.ts";
import { OF_NOTES, OF_OTHERS, OF_SENTENCE, OF_SPEAKER, WITHOUT_SUBJECT } from "./tables.ts";

export interface FoundRule {
  readonly row: string;
  readonly made: string;
}

export interface Reading {
  readonly drafts: readonly Found[];
  readonly rules: readonly FoundRule[];
}

const readAll = (tables: readonly Table[], clause: Clause): readonly Found[] =>
  tables.flatMap((table) => readTable(table, clause));

/** A text of the speaker in which no subject has been looked for. */
const asClause = (text: string, setting: Setting): Clause | undefined =>
  setting.speaker === null ? undefined : clauseOf(setting, { person: setting.speaker, rest: text });

/** What a clause says, with the row that found it: the first table that finds something counts. */
export function factsInClause(clause: Clause): readonly Found[] {
  for (const table of clause.other ? OF_OTHERS : OF_SPEAKER) {
    const found = readTable(table, clause);
    if (found.length > 0) return found;
  }
  return [];
}

/** What a sentence says, with the rows that found it. `last` is what the same person said before. */
export function factsInSentence(text: string, setting: Setting, last: Draft | undefined): readonly Found[] {
  const correction = last === undefined ? undefined : find(CORRECTIONS.rows, text, last);
  if (correction !== undefined) return foundBy(`${CORRECTIONS.kind}/${correction.row}`, [correction.made]);
  const sentence = asClause(text, setting);
  const found: Found[] = [];
  if (sentence !== undefined && last !== undefined) {
    const added = find(ADDITIONS.rows, withoutOpening(text, setting.names), { clause: sentence, last });
    if (added !== undefined) found.push(...foundBy(`${ADDITIONS.kind}/${added.row}`, [added.made]));
  }
  const clauses = clausesOf(text);
  for (const raw of clauses) {
    const clause = readClause(raw, setting);
    const facts = clause === undefined ? [] : factsInClause(clause);
    const bare = facts.length > 0 ? undefined : asClause(withoutOpening(raw, setting.names), setting);
    found.push(...facts, ...(bare === undefined ? [] : readAll(WITHOUT_SUBJECT, bare)));
  }
  if (sentence !== undefined && clauses.length > 0) found.push(...readAll(OF_SENTENCE, sentence));
  return found;
}

function factsToRemember(statement: string, setting: Setting): readonly Found[] {
  const found = factsInSentence(statement, setting, undefined);
  const clause = asClause(statement, setting);
  return found.length > 0 || clause === undefined ? found : readAll(OF_NOTES, clause);
}

/** The rule that a sentence gives to the agent. */
function ruleIn(sentence: string): FoundRule | undefined {
  const order = instruction(sentence);
  if (order !== undefined) return order;
  const german = withoutEnd(sentence);
  const found = find(GERMAN_ORDERS.rows, german, german);
  return found === undefined ? undefined : { row: `${GERMAN_ORDERS.kind}/${found.row}`, made: found.made };
}

export function readEpisode(episode: EpisodeShown, setting: Setting, before: Draft | undefined): Reading {
  const drafts: Found[] = [];
  const rules: FoundRule[] = [];
  for (const { text: raw, question } of sentencesOf(episode.text, episode.speaker)) {
    if (question || NOT_MEANT.test(raw)) continue;
    const text = spellOut(raw);
    const start = withoutOpening(text, setting.names);
    const statement = rememberedIn(start);
    // What people tell each other to do is no rule for the agent.
    const rule = !setting.betweenPeople && statement === undefined ? ruleIn(start) : undefined;
    if (statement !== undefined) drafts.push(...factsToRemember(statement, setting));
    else if (rule !== undefined) rules.push(rule);
    else drafts.push(...factsInSentence(text, setting, drafts.at(-1) ?? before));
  }
  return { drafts, rules };
}
