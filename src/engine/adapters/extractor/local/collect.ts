/** The answer for a batch of episodes: the same thing said twice is one item, a correction replaces, what is known is confirmed. */
import { type Answer, type LearnedFact, type LearnedRule, MOST } from "../../../domain/learning/answer.ts";
import { BAR, type FactKind } from "../../../domain/learning/kinds.ts";
import { type Learned, READER } from "../../../domain/learning/sureness.ts";
import { firstName } from "../../../domain/text/names.ts";
import { withoutPasted } from "../../../domain/text/pasted.ts";
import { clip, contentKey, normaliseKey } from "../../../domain/text/text.ts";
import type { EpisodeShown, FactShown, Found, Material } from "../port.ts";
import { besides, withoutDoubtful, withoutHalves } from "./agree.ts";
import type { Setting } from "./clauses.ts";
import type { Draft, Person } from "./draft.ts";
import { readEpisode } from "./read.ts";
import { changesIn, fileFact, fileRule } from "./reader/file.ts";
import { type Read, shippedReader } from "./reader/reader.ts";

const PATTERNS: Learned = { by: "patterns" };

/** Speakers of whom nothing is learned: an assistant's "I" is no person. */
const NOBODY = /^(?:assistant|ai|bot|model|system|tool|function|developer|butler|agent)$/i;
/** Speakers who are the user. */
const USER_NAMES = /^(?:user|human|me|customer|client|owner)$/i;
const MOST_CITED = 100;

function personOf(episode: EpisodeShown): Person | null {
  const speaker = episode.speaker?.trim() ?? "";
  if (speaker === "") return episode.trust === "user" ? { subject: "user", name: "The user" } : null;
  if (USER_NAMES.test(speaker)) return { subject: "user", name: "The user" };
  if (NOBODY.test(speaker) || !/\p{L}/u.test(speaker)) return null;
  const subject = clip(speaker, 80);
  return { subject, name: subject };
}

/** Output of tools and what an assistant says teach nothing. */
export const teachesNothing = (episode: EpisodeShown): boolean =>
  episode.trust === "tool" || /^(?:assistant|ai|bot|model|system|tool|function)$/i.test(episode.speaker?.trim() ?? "");

/**
 * Sessions in which people talk to each other: what one tells another to do is no rule for an agent. A batch may hold the words of one
 * side only, so a single name is enough where neither the user nor an agent speaks: the transcript of an agent names both by their roles.
 */
function sessionsBetweenPeople(episodes: readonly EpisodeShown[]): ReadonlySet<string> {
  const sessions = new Map<string, { readonly names: Set<string>; roles: boolean }>();
  for (const { session, speaker } of episodes) {
    const known = sessions.get(session ?? "") ?? { names: new Set<string>(), roles: false };
    sessions.set(session ?? "", known);
    const name = firstName(speaker);
    if (name === undefined || NOBODY.test(name) || USER_NAMES.test(name)) known.roles = true;
    else known.names.add(name);
  }
  const isBetweenPeople = ({ names, roles }: { readonly names: Set<string>; readonly roles: boolean }) =>
    names.size > (roles ? 1 : 0);
  return new Set([...sessions].filter(([, speakers]) => isBetweenPeople(speakers)).map(([session]) => session));
}

interface Item<T> {
  readonly of: T;
  readonly episodes: readonly string[];
  readonly learned: Learned;
}

const keyOfFact = (subject: string, predicate: string) => `${normaliseKey(subject)}\n${normaliseKey(predicate)}`;
const cited = (labels: readonly string[], label: string): readonly string[] =>
  [...new Set([...labels, label])].slice(-MOST_CITED);

/** "Ada plays chess at the club" says all that "Ada plays chess" says. */
const saysAllOf = (known: string, said: string) => `${contentKey(known)} `.startsWith(`${contentKey(said)} `);

function add(items: Map<string, Item<Draft>>, said: Draft, labels: readonly string[], learned = PATTERNS): void {
  for (const predicate of said.ends) items.delete(keyOfFact(said.subject, predicate));
  const key = keyOfFact(said.subject, said.predicate);
  const before = items.get(key);
  const same =
    before !== undefined &&
    (saysAllOf(before.of.content, said.content) ||
      (said.predicate.includes(":") && !said.reverses && !before.of.reverses));
  // The latest wording is kept, unless the one before says the same and more.
  const of = before !== undefined && saysAllOf(before.of.content, said.content) ? before.of : said;
  // Deleted first, so that the items are in the order in which they were said last.
  items.delete(key);
  items.set(key, { of, episodes: labels.reduce(cited, same ? before.episodes : []), learned });
}

/** A hint takes the place of nothing. Said in two episodes it is none any more. */
function addHint<T>(items: Map<string, Item<T>>, key: string, hint: Item<T>, same: (before: T) => boolean): void {
  const before = items.get(key);
  if (before === undefined) {
    items.set(key, { ...hint, learned: { ...hint.learned, hint: true } });
    return;
  }
  const [label = ""] = hint.episodes;
  if (!same(before.of) || before.episodes.includes(label)) return;
  const { hint: _, ...learned } = before.learned;
  items.set(key, { ...before, episodes: cited(before.episodes, label), learned });
}

const foundBy = ({ kind, sureness }: Read): Learned => ({
  by: READER,
  kind,
  sureness: Math.round(100 * sureness) / 100,
});

function learnedFact({ of, episodes }: Item<Draft>, superseded: string | null): LearnedFact {
  const { subject, predicate, content, permanence, importance, confidence, valid_from, valid_to, scope } = of;
  return {
    subject,
    predicate: clip(predicate, 200),
    content: clip(content, 2000),
    permanence,
    importance,
    confidence,
    scope,
    tags: [],
    valid_from,
    valid_to,
    episodes: [...episodes],
    supersedes: superseded,
    contradicts: null,
  };
}

/** When there are too many, the least important are left out. The order is that in which they were said. */
function mostImportant<T extends { readonly fact: LearnedFact; readonly learned: Learned }>(facts: readonly T[]): T[] {
  if (facts.length <= MOST.facts) return [...facts];
  const ranked = facts.map(({ fact, learned }, at) => ({
    at,
    weight: learned.hint ? 0 : fact.importance * fact.confidence,
  }));
  const kept = ranked.toSorted((a, b) => b.weight - a.weight || a.at - b.at).slice(0, MOST.facts);
  const keptAt = new Set(kept.map(({ at }) => at));
  return facts.filter((_, at) => keptAt.has(at));
}

/** What is sure enough to be told. */
export function learn(material: Material, reader = shippedReader()): Answer {
  const { answer, found } = learnFrom(material, reader);
  return {
    ...answer,
    facts: answer.facts.filter((_, nth) => !found.facts[nth]?.hint),
    rules: answer.rules.filter((_, nth) => !found.rules[nth]?.hint),
  };
}

interface Learning {
  readonly answer: Answer;
  readonly found: Found;
}

export function learnFrom(material: Material, reader = shippedReader()): Learning {
  const steps = learnInSteps(material, reader);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Stops after each episode: a hundred take a tenth of a second, in which nobody else would be answered. */
export function* learnInSteps(material: Material, reader = shippedReader()): Generator<void, Learning> {
  const betweenPeople = sessionsBetweenPeople(material.episodes);
  const bars = material.bars ?? BAR;
  const names = new Set(material.episodes.flatMap(({ speaker }) => firstName(speaker) ?? []));
  const items = new Map<string, Item<Draft>>();
  const rules = new Map<string, Item<string>>();
  const last = new Map<string, { readonly said: Draft; readonly label: string }>();
  for (const episode of material.episodes) {
    if (teachesNothing(episode)) continue;
    const speaker = personOf(episode);
    const setting: Setting = {
      speaker,
      day: episode.day,
      betweenPeople: betweenPeople.has(episode.session ?? ""),
      names,
    };
    const turn = `${episode.session ?? ""}\n${speaker?.subject ?? ""}`;
    const before = last.get(turn);
    const toAgent = !setting.betweenPeople && episode.trust === "user";
    const read = toAgent
      ? reader.read(withoutPasted(episode.text).words).filter(isWholeIn(episode.text)).map(asTold)
      : [];
    const { sure, hints } = reader.kept(read, bars);
    const reading = withoutDoubtful(readEpisode(episode, setting, before?.said), read);
    const told = withoutHalves(reading, sure);
    for (const [at, said] of told.drafts.entries())
      add(
        items,
        said,
        said.needsPrevious && at === 0 && before !== undefined ? [before.label, episode.label] : [episode.label],
      );
    const known = [...material.facts, ...[...items.values()].map(({ of }) => of)];
    const changes = changesIn(read, known);
    const isNew = besides(told);
    const isNoChange = ({ at, text }: Read) => !changes.some(({ from }) => from.at >= at && from.at < at + text.length);
    for (const kept of sure.filter((one) => isNew(one, "more") && isNoChange(one))) {
      if (isFact(kept)) add(items, fileFact(kept, speaker?.subject ?? "user"), [episode.label], foundBy(kept));
      else addRule(rules, fileRule(kept), episode.label, foundBy(kept));
    }
    for (const { draft, from } of changes) add(items, draft, [episode.label], foundBy(from));
    for (const kept of hints.filter((one) => isNew(one) && isNoChange(one)))
      hear(items, rules, kept, speaker?.subject ?? "user", episode.label);
    const said = reading.drafts.at(-1);
    if (said === undefined) last.delete(turn);
    else last.set(turn, { said, label: episode.label });
    for (const { made: rule } of told.rules) addRule(rules, rule, episode.label, PATTERNS);
    yield;
  }
  return answerOf(material, withoutParts([...items.values()]), [...rules.values()]);
}

/** "Ada explores a move to Porto" goes into "Ada explores a move to Porto, for its schools", which is filed under more words. */
function withoutParts(items: readonly Item<Draft>[]): Item<Draft>[] {
  // What says the same and more stands right behind it; the widest come first.
  const sorted = items
    .map((item) => ({ item, key: `${normaliseKey(item.of.subject)}\n${bare(item.of)}` }))
    .toSorted((a, b) => (a.key < b.key ? 1 : -1));
  const whole = new Map<Item<Draft>, Item<Draft>>();
  for (const [at, { item, key }] of sorted.entries()) {
    const wider = sorted
      .slice(Math.max(0, at - MOST_WIDER), at)
      .findLast((other) => other.key.startsWith(key) && goesInto(item.of, other.item.of, other.key.slice(key.length)));
    if (wider !== undefined) whole.set(item, whole.get(wider.item) ?? wider.item);
  }
  if (whole.size === 0) return [...items];
  const said = new Map<Item<Draft>, readonly string[]>();
  for (const [part, into] of whole) said.set(into, [...(said.get(into) ?? []), ...part.episodes]);
  return items
    .filter((item) => !whole.has(item))
    .map((item) => ({ ...item, episodes: (said.get(item) ?? []).reduce(cited, item.episodes) }));
}

const MOST_WIDER = 8;
const bare = ({ content }: Draft): string => content.toLowerCase().replace(/\.$/, "");
const headOf = ({ predicate }: Draft): string => predicate.split(":", 1)[0] ?? "";
/** "Tea" is not part of "tea towels", but of "tea with milk". */
const goesInto = (part: Draft, into: Draft, rest: string): boolean =>
  rest === "" ||
  (headOf(part) === headOf(into) &&
    /^(?:,| (?:for|in|on|at|with|to|from|since|by|and|as|before|around|near|during|because|so|after)\b)/.test(rest));

function addRule(rules: Map<string, Item<string>>, rule: string, label: string, learned: Learned): void {
  const key = contentKey(rule);
  rules.set(key, { of: rule, episodes: cited(rules.get(key)?.episodes ?? [], label), learned });
}

function hear(
  items: Map<string, Item<Draft>>,
  rules: Map<string, Item<string>>,
  kept: Read,
  speaker: string,
  label: string,
): void {
  const learned = foundBy(kept);
  const episodes = [label];
  if (isFact(kept)) {
    const of = fileFact(kept, speaker);
    const same = (before: Draft) => saysAllOf(before.content, of.content) || saysAllOf(of.content, before.content);
    addHint(items, keyOfFact(of.subject, of.predicate), { of, episodes, learned }, same);
  } else {
    const of = fileRule(kept);
    addHint(rules, contentKey(of), { of, episodes, learned }, () => true);
  }
}

/** "I've never been to a workshop" tells an agent nothing to do. */
const asTold = (said: Read): Read =>
  said.kind === "rule" && /^i(?:'ve| have|'d| had| was)\b/i.test(said.text) ? { ...said, kind: "fact" } : said;

/** A sentence out of which something pasted was taken says less than it did, or something else. */
function isWholeIn(message: string): (said: Read) => boolean {
  const said = flat(message);
  return ({ text }) => said.includes(flat(text));
}

const flat = (text: string): string => text.replace(/\s+/g, " ");

const isFact = (read: Read): read is Read & { readonly kind: FactKind } => read.kind !== "rule";

function answerOf(material: Material, items: readonly Item<Draft>[], rules: readonly Item<string>[]) {
  const known = new Map<string, FactShown>(
    material.facts.map((fact) => [keyOfFact(fact.subject, fact.predicate), fact]),
  );
  const knownRules = new Map(material.rules.map((rule) => [contentKey(rule.content), rule.label]));
  const facts: { readonly fact: LearnedFact; readonly learned: Learned }[] = [];
  const confirmations: Answer["confirmations"] = [];
  for (const item of items) {
    const same = known.get(keyOfFact(item.of.subject, item.of.predicate));
    if (same !== undefined && saysAllOf(same.content, item.of.content)) {
      confirmations.push({ id: same.label, episodes: [...item.episodes] });
      continue;
    }
    const over = item.of.ends.flatMap((predicate) => known.get(keyOfFact(item.of.subject, predicate))?.label ?? []);
    facts.push({ fact: learnedFact(item, over[0] ?? null), learned: item.learned });
  }
  const fresh: { readonly rule: LearnedRule; readonly learned: Learned }[] = [];
  for (const { of: content, episodes, learned } of rules) {
    const label = knownRules.get(contentKey(content));
    if (label === undefined)
      fresh.push({ rule: { content, scope: "own", tags: [], episodes: [...episodes] }, learned });
    else confirmations.push({ id: label, episodes: [...episodes] });
  }
  const told = { facts: mostImportant(facts), rules: surest(fresh) };
  return {
    answer: {
      facts: told.facts.map(({ fact }) => fact),
      rules: told.rules.map(({ rule }) => rule),
      confirmations: confirmations.slice(0, MOST.confirmations),
    },
    found: { facts: told.facts.map(({ learned }) => learned), rules: told.rules.map(({ learned }) => learned) },
  };
}

/** When there are too many, hints are left out first. */
function surest<T extends { readonly learned: Learned }>(rules: readonly T[]): T[] {
  if (rules.length <= MOST.rules) return [...rules];
  return rules
    .toSorted((a, b) => Number(a.learned.hint ?? false) - Number(b.learned.hint ?? false))
    .slice(0, MOST.rules);
}
