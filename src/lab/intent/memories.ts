/**
 * Generates, from a seed, memories of persons and projects, and prompts that each have one right answer among them. Every answer
 * has neighbours: memories of the other types about the same subject and topic, and the same topic of other subjects.
 */

import type { MemoryType } from "../../engine/domain/memory-types.ts";
import type { Intent } from "../../engine/domain/ranking/intent.ts";
import { type Pick, picker } from "../sentences.ts";
import { PEOPLE, PROJECTS } from "../vocabulary.ts";
import { IDENTITY, type Matter, PREFERENCE } from "./person.ts";
import { PROCEDURE } from "./project.ts";

export const ASKED = ["identity", "preference", "procedure", "event"] as const satisfies readonly Intent[];
export type AskedIntent = (typeof ASKED)[number];

interface Told {
  /** Identifies the memory until the store has given it an id. */
  readonly key: string;
  readonly content: string;
  /** Days before the questions are asked. */
  readonly age: number;
}

export interface FactTold extends Told {
  readonly type: "fact";
  readonly subject: string;
  readonly predicate: string;
  readonly importance: number;
  readonly permanence: "stable" | "standard";
}

export interface RuleTold extends Told {
  readonly type: "rule";
  /** Whether the rule has been marked helpful often enough to be established. */
  readonly established: boolean;
}

export interface EpisodeTold extends Told {
  readonly type: "episode";
  readonly importance: number;
}

export type MemoryTold = FactTold | RuleTold | EpisodeTold;

export interface Prompt {
  readonly intent: AskedIntent;
  readonly text: string;
  /** The key of the one right memory. */
  readonly answer: string;
}

export interface World {
  readonly memories: readonly MemoryTold[];
  readonly prompts: readonly Prompt[];
}

/** A person or a project, and one of its topics. */
interface Cell {
  readonly intent: Exclude<AskedIntent, "event">;
  readonly subject: string;
  readonly matter: Matter;
  readonly words: Readonly<Record<string, string>>;
  readonly key: string;
}

const SEED = 20_260_701;
/** Half of a subject's ten topics are asked for, so every five prompts of an intent need one more subject. */
const ASKED_OF_SUBJECT = 5;
export const MOST_PROMPTS = ASKED_OF_SUBJECT * Math.min(PEOPLE.length, PROJECTS.length);

const OLDEST_DAYS = 60;
const PROFILE_IMPORTANCE = 8;

/** 28 memories for each prompt of an intent: 8 facts, 4 rules, 16 episodes. */
export function worldOf(promptsOfIntent: number): World {
  const p = picker(SEED);
  const subjects = Math.ceil(promptsOfIntent / ASKED_OF_SUBJECT);
  const people = PEOPLE.slice(0, subjects);
  const cells = {
    identity: cellsOf("identity", people, IDENTITY),
    preference: cellsOf("preference", people, PREFERENCE),
    procedure: cellsOf("procedure", PROJECTS.slice(0, subjects), PROCEDURE),
  };
  const all = Object.values(cells).flat();
  const chosen = (of: readonly Cell[]) => shuffled(of, p).slice(0, promptsOfIntent);
  const asked = [...chosen(cells.identity), ...chosen(cells.preference), ...chosen(cells.procedure)];
  const events = chosen(all);
  const isAsked = new Set(asked);
  // Profile facts are in every block without routing, so no prompt asks for one.
  const profile = new Set(
    people.flatMap((who) => cells.identity.find((c) => c.subject === who && !isAsked.has(c)) ?? []),
  );
  return {
    memories: all.flatMap((cell) => memoriesOf(cell, isAsked.has(cell), profile.has(cell), p)),
    prompts: [
      ...asked.map(
        (cell, at): Prompt => ({
          intent: cell.intent,
          text: wordingOf(cell.matter.asks, at, cell),
          answer: `${cell.key} ${cell.intent === "procedure" ? "rule" : "fact"} 0`,
        }),
      ),
      ...events.map(
        (cell, at): Prompt => ({
          intent: "event",
          text: wordingOf(cell.matter.eventAsks, at, cell),
          answer: `${cell.key} episode 0`,
        }),
      ),
    ],
  };
}

function cellsOf(intent: Cell["intent"], subjects: readonly string[], matters: readonly Matter[]): Cell[] {
  return subjects.flatMap((subject, row) =>
    matters.map((matter, column) => {
      const value = matter.values[(row * 3 + column) % matter.values.length] ?? "";
      const other = PEOPLE[(row + column) % Math.min(10, PEOPLE.length)] ?? "";
      return {
        intent,
        subject,
        matter,
        words: { who: subject, what: subject, value, other },
        key: `${intent} ${subject} ${column}`,
      };
    }),
  );
}

const filled = (template: string, { words }: Cell): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => words[name] ?? "");

const wordingOf = (wordings: readonly string[], at: number, cell: Cell): string =>
  filled(wordings[at % wordings.length] ?? "", cell);

function memoriesOf(cell: Cell, asked: boolean, profile: boolean, p: Pick): MemoryTold[] {
  const { matter, key, intent, subject } = cell;
  const told = (type: MemoryType, at: number, template: string, age: number) => ({
    key: `${key} ${type} ${at}`,
    content: filled(template, cell),
    age,
  });
  const project = intent === "procedure";
  return [
    ...matter.facts.map(
      ({ predicate, content }, at): FactTold => ({
        ...told("fact", at, content, p.number(OLDEST_DAYS)),
        type: "fact",
        subject: project ? `project ${subject}` : subject,
        predicate,
        importance: profile ? PROFILE_IMPORTANCE : importanceOf(p),
        permanence: intent === "identity" ? "stable" : "standard",
      }),
    ),
    ...(project || asked
      ? [
          {
            ...told("rule", 0, matter.rule, p.number(OLDEST_DAYS)),
            type: "rule",
            established: p.chance(0.1),
          } satisfies RuleTold,
        ]
      : []),
    ...matter.episodes.map(
      (content, at): EpisodeTold => ({
        // More episodes of the last days than of the first: older ones have expired.
        ...told("episode", at, `${content}.`, Math.min(p.number(OLDEST_DAYS), p.number(OLDEST_DAYS))),
        type: "episode",
        importance: importanceOf(p),
      }),
    ),
  ];
}

/** Most agents leave importance out, which makes it 5. */
const importanceOf = (p: Pick): number => (p.chance(0.5) ? 5 : 3 + p.number(4));

function shuffled<T>(items: readonly T[], p: Pick): T[] {
  return items
    .map((item) => ({ item, at: p.number(1 << 30) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
