/** What the store of `butler bench pages` holds, decided before anything is written: a year of one person's memory, the same in every run. */
import { DAY_MS } from "../../engine/domain/lifecycle/decay.ts";
import { distinct, factOf, type Pick, picker } from "../sentences.ts";

export interface Sizes {
  readonly facts: number;
  readonly rules: number;
  readonly episodes: number;
  readonly events: number;
}

/** The bench lives on this day: a store that was kept is as old in every run. */
export const NOW = new Date("2026-05-01T18:00:00Z");
const YEAR_MS = 365 * DAY_MS;
const SEED = 20_260_516;

/** The time of one of `count` things that are spread evenly over the year. */
export const timeOf = (index: number, count: number): Date =>
  new Date(NOW.getTime() - YEAR_MS + Math.floor(((index + 0.5) / Math.max(1, count)) * (YEAR_MS - 60_000)));

export const BUTLER = "pages";
const PROJECTS = ["ledger", "atlas", "beacon", "harbour", "quill", "meridian"].map((name) => `github.com/acme/${name}`);
export const PROJECT = PROJECTS[0] ?? "";
export const SCOPES = ["global", BUTLER, ...PROJECTS.map((project) => `${BUTLER}/${project}`)];

/** 40 % global, 40 % the butler's, the rest in projects. */
export function scopeOf(p: Pick): string {
  if (p.chance(0.4)) return "global";
  return p.chance(0.67) ? BUTLER : (SCOPES[2 + p.number(PROJECTS.length)] ?? BUTLER);
}

export const TAGS = ["work", "home", "travel", "tools", "people", "money", "health", "plans"];
export const READERS = ["patterns", "reader-1", "anthropic claude-haiku"];

export interface PlannedFact {
  readonly scope: string;
  readonly subject: string;
  readonly predicate: string;
  readonly content: string;
  /** The number of the fact that it took the place of. */
  readonly before: number | undefined;
  /** The number of the fact that took its place. */
  after: number | undefined;
}

/** Every fifth takes the place of an earlier one. Few subjects have many facts, many have few: Zipf's law. */
export function planFacts(count: number): PlannedFact[] {
  const p = picker(SEED);
  const subjects = subjectsOf(p, Math.max(10, Math.round(count / 20)));
  const keys = new Set<string>();
  const heads: number[] = [];
  const facts: PlannedFact[] = [];
  while (facts.length < count) {
    const { predicate, content } = factOf(p);
    const replaced = heads.length > 0 && p.chance(0.2) ? p.number(heads.length) : undefined;
    const before = replaced === undefined ? undefined : heads[replaced];
    const old = before === undefined ? undefined : facts[before];
    if (old !== undefined && replaced !== undefined) {
      old.after = facts.length;
      heads[replaced] = facts.length;
      facts.push({ ...old, content, before, after: undefined });
      continue;
    }
    const made = {
      scope: scopeOf(p),
      subject: p.of(subjects),
      predicate,
      content,
      before: undefined,
      after: undefined,
    };
    const key = `${made.scope}\n${made.subject}\n${predicate}`.toLowerCase();
    if (keys.has(key)) continue;
    keys.add(key);
    heads.push(facts.length);
    facts.push(made);
  }
  return facts;
}

const subjectsOf = (p: Pick, count: number): string[] => {
  const names = distinct(count, () => factOf(p).subject);
  return Array.from({ length: count }, (_, nth) => names[nth] ?? `team ${nth + 1} of ${names[nth % names.length]}`);
};
