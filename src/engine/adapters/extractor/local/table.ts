/**
 * Sentence forms as data: a row is a pattern, an example of it that the test reads, and what is made of a match. A new form of a
 * sentence is a new row in one of the files under `patterns`.
 */
import type { Clause, Draft } from "./draft.ts";

/** The whole match and its groups; a group that took no part is empty. */
export type Groups = readonly [whole: string, a: string, b: string, c: string, d: string, e: string];

export interface Example {
  /** Said by the user to the agent on Wednesday, 11 March 2026. */
  readonly example: string;
  /** What the row makes of it: `predicate = content` of each fact, or the rule. */
  readonly gives: string | readonly string[];
  /** The example is said by Ada to another person instead. */
  readonly betweenPeople?: true;
}

export interface Row<From, To> extends Example {
  /** Unique in its table. */
  readonly name: string;
  readonly pattern: RegExp;
  readonly also?: readonly Example[];
  /** Look-alikes from which nothing is learned. */
  readonly not?: readonly string[];
  /** `undefined` when the words only look like this form: the rows after it are tried. */
  readonly make: (said: Groups, from: From) => To | undefined;
}

export function groupsOf([whole, a = "", b = "", c = "", d = "", e = ""]: RegExpExecArray): Groups {
  return [whole, a, b, c, d, e];
}

/** What the first row that reads the text makes of it. */
export function find<From, To>(
  rows: readonly Row<From, To>[],
  text: string,
  from: From,
): { readonly row: string; readonly made: To } | undefined {
  for (const row of rows) {
    const match = row.pattern.exec(text);
    if (match === null) continue;
    const made = row.make(groupsOf(match), from);
    if (made !== undefined) return { row: row.name, made };
  }
  return undefined;
}

/** A row that makes `[]` has understood the clause and found nothing to keep: no later row of its table is tried. */
export type FactRow = Row<Clause, readonly Draft[]>;

export interface Table {
  readonly kind: string;
  readonly applies: (clause: Clause) => boolean;
  /** What the patterns are matched against, if not the clause after its subject. */
  readonly text?: (clause: Clause) => string;
  readonly rows: readonly FactRow[];
}

export interface RuleTable {
  readonly kind: string;
  readonly rows: readonly Row<string, string>[];
}

/** A draft and the row that found it, as `kind/name`. */
export interface Found extends Draft {
  readonly row: string;
}

export const foundBy = (row: string, drafts: readonly Draft[]): readonly Found[] =>
  drafts.map((draft) => ({ ...draft, row }));

export function readTable({ kind, applies, text, rows }: Table, clause: Clause): readonly Found[] {
  if (!applies(clause)) return [];
  const found = find(rows, text === undefined ? clause.rest : text(clause), clause);
  return found === undefined ? [] : foundBy(`${kind}/${found.row}`, found.made);
}

/** A verb or an object that is not worth keeping although the clause has the form of a row. */
export interface Refusal {
  readonly verb?: RegExp;
  readonly object?: RegExp;
  /** The objects that are kept nevertheless. */
  readonly unless?: RegExp;
  /** Refused only when said to an agent: there it names a step of the work. */
  readonly toAgent?: true;
  readonly example: string;
}

export const refused = (refusals: readonly Refusal[], verb: string, object: string, clause: Clause): boolean =>
  refusals.some(
    (one) =>
      !(one.toAgent === true && clause.betweenPeople) &&
      one.verb?.test(verb) !== false &&
      one.object?.test(object) !== false &&
      one.unless?.test(object) !== true,
  );
