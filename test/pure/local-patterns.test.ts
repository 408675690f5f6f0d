/** Every row of the local extractor's tables reads its own example, and its look-alikes teach nothing. */
import { describe, expect, test } from "vitest";
import { readClause, type Setting } from "../../src/engine/adapters/extractor/local/clauses.ts";
import { DATES, findDate } from "../../src/engine/adapters/extractor/local/patterns/dates.ts";
import { NO_EVENTS } from "../../src/engine/adapters/extractor/local/patterns/events.ts";
import { ADDITIONS, CORRECTIONS } from "../../src/engine/adapters/extractor/local/patterns/follow-ups.ts";
import { NOT_A_GOAL, NOT_UNDER_WAY } from "../../src/engine/adapters/extractor/local/patterns/pursuits.ts";
import { OF_OTHERS, OF_SPEAKER } from "../../src/engine/adapters/extractor/local/patterns/subjects.ts";
import { readEpisode } from "../../src/engine/adapters/extractor/local/read.ts";
import { named } from "../../src/engine/adapters/extractor/local/subject.ts";
import type { Example, Row } from "../../src/engine/adapters/extractor/local/table.ts";
import { FACT_TABLES, RULE_TABLES } from "../../src/engine/adapters/extractor/local/tables.ts";
import { episode } from "../support/material.ts";

const DAY = "2026-03-11";
const TO_AGENT: Setting = {
  speaker: { subject: "user", name: "The user" },
  day: DAY,
  betweenPeople: false,
  names: new Set(),
};
const AMONG_PEOPLE: Setting = { ...TO_AGENT, speaker: { subject: "Ada", name: "Ada" }, betweenPeople: true };

type AnyRow = Pick<Row<never, unknown>, "name" | "example" | "gives" | "betweenPeople" | "also" | "not">;

/** What is learned from a text, with the row that found it. */
function read(text: string, betweenPeople?: true): { row: string; gives: string }[] {
  const setting = betweenPeople === true ? AMONG_PEOPLE : TO_AGENT;
  const { drafts, rules } = readEpisode(episode("e1", text, { day: DAY }), setting, undefined);
  return [
    ...drafts.map(({ row, predicate, content }) => ({ row, gives: `${predicate} = ${content}` })),
    ...rules.map(({ row, made }) => ({ row, gives: made })),
  ];
}

const examplesOf = (row: AnyRow): readonly Example[] => [row, ...(row.also ?? [])];
const tables: readonly { kind: string; rows: readonly AnyRow[] }[] = [
  ...FACT_TABLES,
  ...RULE_TABLES,
  CORRECTIONS,
  ADDITIONS,
];
const rows = tables.flatMap(({ kind, rows: all }) => all.map((row) => ({ id: `${kind}/${row.name}`, row })));

describe("tables of facts and rules", () => {
  test.each(rows)("$id reads its examples", ({ id, row }) => {
    for (const { example, gives, betweenPeople } of examplesOf(row)) {
      const all = read(example, betweenPeople);
      const own = all.filter((one) => one.row === id).map((one) => one.gives);
      expect({ example, own, all }).toEqual({ example, own: [gives].flat(), all });
    }
  });

  test("each look-alike teaches nothing", () => {
    const refusals = [...NO_EVENTS, ...NOT_UNDER_WAY, ...NOT_A_GOAL].map(({ example }) => example);
    const lookAlikes = rows.flatMap(({ row }) => row.not ?? []);
    for (const example of [...refusals, ...lookAlikes])
      expect({ example, all: read(example) }).toEqual({ example, all: [] });
  });

  test("no row, and no example, is there twice", () => {
    const ids = rows.map(({ id }) => id);
    const examples = rows.flatMap(({ row }) => [...examplesOf(row).map(({ example }) => example), ...(row.not ?? [])]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(examples.filter((one, at) => examples.indexOf(one) !== at)).toEqual([]);
  });
});

describe("subjects of clauses", () => {
  test.each([...OF_SPEAKER, ...OF_OTHERS])("$name", (row) => {
    for (const { example, gives } of examplesOf(row)) {
      const clause = readClause(example, TO_AGENT);
      expect(clause === undefined ? undefined : `${named(clause)}: ${clause.rest}`).toBe(gives);
      const first = [...OF_SPEAKER, ...OF_OTHERS].find(({ pattern }) => pattern.test(example));
      expect(first?.name).toBe(row.name);
    }
    for (const example of row.not ?? []) expect(readClause(example, TO_AGENT)).toBeUndefined();
  });
});

describe("dates", () => {
  test.each(DATES)("$name", (row) => {
    expect(findDate(row.example, DAY)?.span(row.future === true ? "future" : "past")?.words).toBe(row.gives);
    expect(DATES.find(({ pattern }) => pattern.test(row.example))?.name).toBe(row.name);
    for (const example of row.not ?? []) expect(findDate(example, DAY)).toBeUndefined();
  });
});
