/**
 * Believable memories from a seed: the same seed gives the same sentences on every machine. Words follow Zipf's law, and
 * every sentence carries the ticket numbers, files and dates that make real memories distinct.
 */
import * as v from "./vocabulary.ts";

export interface Pick {
  /** A number from 0 up to, not including, `below`. */
  number(below: number): number;
  /** Early entries come more often than late ones. */
  of(list: readonly string[]): string;
  chance(share: number): boolean;
}

/** Mulberry32: 32 bits of state, good enough for words. */
export function picker(seed: number): Pick {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    number: (below) => Math.floor(next() * below),
    // The inverse of the harmonic sum, near enough: ranks grow exponentially with a uniform number.
    of: (list) => list[Math.min(list.length - 1, Math.floor((list.length + 1) ** next()) - 1)] ?? "",
    chance: (share) => next() < share,
  };
}

const ticket = (p: Pick) => `${p.of(v.PROJECTS).slice(0, 3).toUpperCase()}-${100 + p.number(9_900)}`;
const file = (p: Pick) => `src/${p.of(v.PROJECTS).toLowerCase()}/${p.of(v.THINGS).replaceAll(" ", "-")}.ts`;
const date = (p: Pick) =>
  `2026-${String(1 + p.number(12)).padStart(2, "0")}-${String(1 + p.number(28)).padStart(2, "0")}`;
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const EPISODES: readonly ((p: Pick) => string)[] = [
  (p) =>
    `${p.of(v.PEOPLE)} ${p.of(v.PAST)} the ${p.of(v.THINGS)} of ${p.of(v.PROJECTS)} (${ticket(p)}) because of ${p.of(v.CAUSES)}; ${p.of(v.OUTCOMES)}.`,
  (p) =>
    `In the meeting about ${p.of(v.PROJECTS)} on ${date(p)} ${p.of(v.PEOPLE)} and ${p.of(v.PEOPLE)} ${p.of(v.PAST)} the ${p.of(v.THINGS)}, and ${p.of(v.OUTCOMES)}.`,
  (p) =>
    `Changed ${file(p)} for ${ticket(p)}: the ${p.of(v.THINGS)} failed after ${2 + p.number(90)} minutes with ${p.of(v.CAUSES)}, ${p.of(v.OUTCOMES)}.`,
  (p) =>
    `${p.of(v.PEOPLE)} wrote from ${p.of(v.PLACES)} that the ${p.of(v.THINGS)} needs ${p.of(v.THINGS)} before ${date(p)}; otherwise ${p.of(v.OUTCOMES)}.`,
  (p) =>
    `The ${p.of(v.THINGS)} of ${p.of(v.PROJECTS)} took ${10 + p.number(900)} ms instead of ${5 + p.number(80)}; ${p.of(v.PEOPLE)} found ${p.of(v.CAUSES)} in ${file(p)}.`,
];

export const episodeText = (p: Pick): string =>
  p.of(v.PEOPLE) && (EPISODES[p.number(EPISODES.length)] as (p: Pick) => string)(p);

export function factOf(p: Pick): { subject: string; predicate: string; content: string } {
  const who = p.of(v.PEOPLE);
  if (p.chance(0.3)) {
    const topic = p.of(v.TOPICS);
    return {
      subject: `${who} ${p.of(v.PEOPLE)}`,
      predicate: `likes:${topic} ${ticket(p)}`,
      content: `${who} likes ${topic} since the days of ${p.of(v.PROJECTS)}.`,
    };
  }
  const trait = p.of(v.TRAITS);
  const subject = p.chance(0.5) ? `${who} in ${p.of(v.PLACES)}` : `project ${p.of(v.PROJECTS)}`;
  return {
    subject,
    predicate: `${trait}:${ticket(p)}`,
    content: `${trait} the ${p.of(v.THINGS)} of ${p.of(v.PROJECTS)}, last seen in ${file(p)}.`,
  };
}

export const ruleText = (p: Pick): string =>
  `${capital(p.of(v.SITUATIONS))} of ${p.of(v.PROJECTS)}, ${p.of(v.ADVICE)} and ${p.of(v.ADVICE)}; see ${ticket(p)}.`;

/** Some name a person, as people do when they ask what somebody said. */
export const queryText = (p: Pick): string =>
  [
    `${p.of(v.QUESTIONS)} the ${p.of(v.THINGS)} of ${p.of(v.PROJECTS)}`,
    p.chance(0.4) ? ` and ${p.of(v.CAUSES)}` : "",
    p.chance(0.3) ? `, as ${p.of(v.PEOPLE)} said` : "",
    p.chance(0.2) ? ` ${ticket(p)}` : "",
  ].join("");

export const promptText = (p: Pick): string =>
  `${p.of(v.PEOPLE)} asks: please look into the ${p.of(v.THINGS)} of ${p.of(v.PROJECTS)}, it fails with ${p.of(v.CAUSES)}. Start with ${file(p)}, keep ${p.of(v.PEOPLE)} informed, and ${p.of(v.ADVICE)}.`;

/** `count` sentences, no two alike. */
export function distinct<T>(count: number, make: () => T, keyOf: (made: T) => string = String): T[] {
  const seen = new Map<string, T>();
  for (let tries = 0; seen.size < count && tries < count * 50; tries++) {
    const made = make();
    seen.set(keyOf(made), made);
  }
  return [...seen.values()];
}
