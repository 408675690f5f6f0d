/** One episode, read sentence by sentence: what it says, and how it tells the agent to behave. */
import type { EpisodeShown } from "../port.ts";
import { changes, corrected } from "./changes.ts";
import { clausesOf, opened, readClause, type Setting, spelt, UNMEANT } from "./clauses.ts";
import { type Clause, type Draft, draft } from "./draft.ts";
import { events } from "./events.ts";
import { family, inPassing, namedAfter } from "./family.ts";
import { german, germanInstruction } from "./german.ts";
import { identity } from "./identity.ts";
import { instruction, rememberedIn } from "./instructions.ts";
import { keyOf, phrase } from "./phrases.ts";
import { plans } from "./plans.ts";
import { favouriteFirst, preferences } from "./preferences.ts";
import { decisions, means, practices, resolve, uses } from "./project.ts";
import { pursuits } from "./pursuits.ts";
import { sentencesOf } from "./speech.ts";

export interface Reading {
  readonly drafts: readonly Draft[];
  readonly rules: readonly string[];
}

const FINDERS = [changes, decisions, identity, family, preferences, events, plans, pursuits, practices, means, uses];

function factsIn(clause: Clause): readonly Draft[] {
  for (const find of clause.other ? [identity, preferences] : FINDERS) {
    const found = find(clause);
    if (found.length > 0) return found;
  }
  return [];
}

function bareClause(setting: Setting): Clause | undefined {
  if (setting.speaker === null) return undefined;
  const { speaker: person, day, among } = setting;
  return {
    person,
    first: true,
    other: false,
    plural: false,
    company: "",
    relative: null,
    rest: "",
    recent: null,
    hedged: false,
    when: undefined,
    day,
    among,
  };
}

/** "Remember that …" is worth keeping even when no pattern knows what it is about. */
function remembered(statement: string, setting: Setting): readonly Draft[] {
  const read = factsInSentence(statement, setting, undefined);
  const bare = bareClause(setting);
  if (read.length > 0 || bare === undefined) return read;
  const said = phrase(statement, { words: 25 });
  if (
    said === undefined ||
    setting.among ||
    !/ (?:is|are|was|were|has|have|needs?|must|runs?|lives?|uses?|starts?|ends?|expires?) /i.test(said)
  )
    return [];
  return [
    draft(bare, {
      predicate: `note:${keyOf(said)}`,
      content: said.replace(/^their\b/i, `${bare.person.name}'s`),
      permanence: "standard",
      importance: 6,
      confidence: 0.85,
    }),
  ];
}

function factsInSentence(text: string, setting: Setting, last: Draft | undefined): readonly Draft[] {
  const found: Draft[] = [];
  const bare = bareClause(setting);
  const correction = corrected(text, last);
  if (correction !== undefined) return [{ ...correction, leans: true }];
  if (bare !== undefined)
    found.push(...namedAfter(opened(text, setting.names), last, bare).map((said) => ({ ...said, leans: true })));
  const clauses = clausesOf(text);
  for (const raw of clauses) {
    const clause = readClause(raw, setting);
    const facts = clause === undefined ? [] : factsIn(clause);
    found.push(...facts);
    if (facts.length > 0 || bare === undefined) continue;
    const rest = opened(raw, setting.names);
    found.push(...favouriteFirst(rest, bare), ...resolve(rest, bare), ...german(rest, bare));
  }
  if (bare !== undefined && clauses.length > 0) found.push(...inPassing(text, bare));
  return found;
}

export function readEpisode(
  episode: EpisodeShown,
  setting: Setting,
  orders: boolean,
  before: Draft | undefined,
): Reading {
  const drafts: Draft[] = [];
  const rules: string[] = [];
  for (const { text: raw, question } of sentencesOf(episode.text, episode.speaker)) {
    if (question || UNMEANT.test(raw)) continue;
    const text = spelt(raw);
    const start = opened(text, setting.names);
    const rule = orders ? (instruction(start) ?? germanInstruction(start)) : undefined;
    const kept = rememberedIn(start);
    if (kept !== undefined) drafts.push(...remembered(kept, setting));
    else if (rule !== undefined) rules.push(rule);
    else if (drafts.length > 0) drafts.push(...factsInSentence(text, setting, drafts.at(-1)));
    else drafts.push(...factsInSentence(text, setting, before));
  }
  return { drafts, rules };
}
