/** What the memory knew, as tables: facts by subject, rules, what was replaced, and hints. */
import type { Week } from "../../src/lab/everyday/week/script.ts";
import { cell, dayName, isTrueAt, quoted, table } from "./page-words.ts";
import type { KnownMemory } from "./records.ts";

const isLive = ({ state, hint }: KnownMemory): boolean => state === "active" && !hint;

export function factLines(week: Week, known: readonly KnownMemory[], after: number): string[] {
  const facts = known.filter((one) => one.type === "fact" && isLive(one));
  const subjects = [...new Set(facts.map(({ subject = "" }) => subject))].sort(bySubject);
  return subjects.flatMap((subject) => [
    `### ${TITLES[subject] ?? `About ${cell(subject)}`}`,
    "",
    ...table(HEADS),
    ...facts.filter((one) => one.subject === subject).map((one) => rowOf(week, one, after)),
    "",
  ]);
}

export function ruleLines(week: Week, known: readonly KnownMemory[], after: number): string[] {
  const rules = known.filter((one) => one.type === "rule" && isLive(one));
  return rules.length === 0
    ? []
    : ["### Rules", "", ...table(HEADS), ...rules.map((one) => rowOf(week, one, after)), ""];
}

export function replacedLines(known: readonly KnownMemory[]): string[] {
  const replaced = known.filter(({ state, hint }) => state === "superseded" && !hint);
  const rows = replaced.map((one) => `| ${cell(one.text)} | ${daysOf(one)} | ${cell(one.replacedBy ?? "")} |`);
  return [
    "### What was replaced",
    "",
    ...(rows.length === 0 ? ["Nothing."] : [...table(["it was", "said on", "now it is"]), ...rows]),
    "",
  ];
}

export function hintLines(known: readonly KnownMemory[]): string[] {
  const hints = known.filter(({ state, hint }) => hint && state !== "superseded");
  const sure = ({ sureness }: KnownMemory) => (sureness === undefined ? "" : sureness.toFixed(2));
  const rows = hints.map((one) => `| ${cell(one.text)} | ${daysOf(one)} | ${sure(one)} |`);
  return [
    "### Hints, which nobody is told",
    "",
    "Sentences of which the reader was not sure enough; one that is said again is learned.",
    "",
    ...(rows.length === 0 ? ["None."] : [...table(["hint", "said on", "how sure"]), ...rows]),
    "",
  ];
}

const TITLES: Readonly<Record<string, string>> = { user: "About the person", project: "About the project" };
const ORDER = ["user", "project"];
const HEADS = ["what it knows", "said on", "in the words", "worth"];

/** The person, the project, then everybody and everything else by name. */
function bySubject(a: string, b: string): number {
  const place = (one: string) => (ORDER.includes(one) ? ORDER.indexOf(one) : ORDER.length);
  return place(a) - place(b) || (a < b ? -1 : 1);
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

const daysOf = ({ sources }: KnownMemory): string => [...new Set(sources.map(({ day }) => dayName(day)))].join(", ");

function rowOf(week: Week, one: KnownMemory, after: number): string {
  const [source] = one.sources;
  const same = source !== undefined && plain(source.said) === plain(one.text);
  const words = source === undefined ? "" : same ? "the same" : `“${quoted(source.said, 160)}”`;
  return `| ${cell(one.text)} | ${daysOf(one)} | ${words} | ${worthOf(week, one, after)} |`;
}

function worthOf({ worth }: Week, { text }: KnownMemory, after: number): string {
  const said = worth.filter(({ matches }) => matches.test(text));
  if (said.some((one) => isTrueAt(one, after))) return "**yes**";
  return said.length > 0 ? "**outdated**" : "*no*";
}
