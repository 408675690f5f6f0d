/** Filling a block of text under a hard token budget, section by section. Pure: the tokenizer comes as a function. */
import { clip } from "../text/text.ts";

export interface Section<T> {
  readonly name: string;
  readonly heading: string;
  /** Share of the budget; what earlier sections left unused is added to it. */
  readonly quota: number;
  /** Best first. The lowest ranked are the ones that are dropped. */
  readonly items: readonly Line<T>[];
}

export interface Line<T> {
  readonly line: string;
  readonly item: T;
  /** What it says: a line whose key an earlier section has shown is not shown again. */
  readonly key: string;
  /** Its name among what other lines tell. */
  readonly name?: string | undefined;
  /** Names of lines that need not be shown after this one: what it was learned from. */
  readonly tells?: readonly string[] | undefined;
  /** Of the line, where they were counted. */
  readonly tokens?: number | undefined;
  /** Of the line in a list of the other form, where they were counted. */
  readonly listedTokens?: number | undefined;
}

/** Whether an earlier line has said it. */
export const isSaid = <T>({ key, name }: Line<T>, told: { has(key: string): boolean }): boolean =>
  told.has(key) || (name !== undefined && told.has(name));

export interface Filled<T> {
  readonly name: string;
  readonly items: readonly T[];
  readonly dropped: number;
}

export interface Block<T> {
  readonly text: string;
  readonly tokens: number;
  readonly sections: readonly Filled<T>[];
}

interface Kept<T> {
  readonly section: Section<T>;
  readonly kept: Line<T>[];
  readonly offered: number;
  /** Tokens of the heading and the lines. */
  readonly used: number;
}

/** The lines of a section that a block shows. */
export interface Shown {
  readonly heading: string;
  readonly lines: readonly Pick<Line<unknown>, "line" | "listedTokens">[];
}

/** Counts a block in a form that escapes quotes. */
export type OtherForm = (text: string, sections: readonly Shown[]) => number;

const NEAR = 64;

/**
 * Every line ends with one newline and starts with a visible character that is no slash: the tokenizers always break there,
 * so counts of lines add up (a property test holds them to it). Where the budget is to hold for another form too, the text is shortened
 * from its end until that fits.
 */
export function fillBudget<T>(
  frame: { readonly head: string; readonly tail: string },
  sections: readonly Section<T>[],
  budget: number,
  count: (text: string) => number,
  otherForm?: OtherForm,
): Block<T> {
  const frameTokens = count(frame.head) + count(frame.tail);
  const kept: Kept<T>[] = [];
  const told = new Set<string>();
  let carried = 0;
  for (const section of sections) {
    const allowance = carried + Math.floor(section.quota * Math.max(0, budget - frameTokens));
    const offered = section.items.filter((line) => !isSaid(line, told));
    const heading = count(section.heading);
    const filled = fillLines(offered, allowance - heading, count);
    const used = filled.kept.length === 0 ? 0 : filled.used + heading;
    carried = allowance - used;
    for (const { key, tells } of filled.kept) {
      told.add(key);
      if (tells !== undefined) for (const said of tells) told.add(said);
    }
    kept.push({ section, kept: filled.kept, offered: offered.length, used });
  }
  let text = render(frame, kept);
  let tokens = text === "" ? 0 : frameTokens + kept.reduce((sum, { used }) => sum + used, 0);
  if (otherForm !== undefined && tokens + mostEscapes(text) > budget - NEAR) {
    const whole = text;
    const shown = kept.map(({ section: { heading }, kept: lines }) => ({ heading, lines }));
    while (text !== "" && otherForm(text, shown) > budget && dropLast(kept)) text = render(frame, kept);
    if (text !== whole) tokens = count(text);
  }
  if (tokens > budget || text === "") return empty(sections);
  return {
    text,
    tokens,
    sections: kept.map(({ section, kept: lines, offered }) => ({
      name: section.name,
      items: lines.map((line) => line.item),
      dropped: offered - lines.length,
    })),
  };
}

/** Tokens by which quotes, backslashes and the marks around a line can make the other form longer. */
function mostEscapes(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || code === NEWLINE) marks += 1;
  }
  return 2 * marks;
}

const QUOTE = 34;
const BACKSLASH = 92;
const NEWLINE = 10;

/**
 * In order, until one does not fit: nothing is shown that ranks below what is left out. A line that the whole section could not
 * hold is cut to half of it, so that it neither goes missing nor hides everything after it.
 */
export function fillLines<T>(
  lines: readonly Line<T>[],
  room: number,
  count: (text: string) => number,
): { readonly kept: Line<T>[]; readonly used: number; readonly ended: Line<T> | undefined } {
  const kept: Line<T>[] = [];
  let used = 0;
  for (const line of lines) {
    const most = Math.min(Math.floor(room / 2), room - used);
    const whole = line.tokens ?? count(line.line);
    const shown = whole <= room ? line : shortened(line, cut(line.line, most, count));
    const cost = whole <= room ? whole : count(shown.line);
    if (shown.line === "" || used + cost > room) return { kept, used, ended: line };
    kept.push(shown);
    used += cost;
  }
  return { kept, used, ended: undefined };
}

const shortened = <T>({ item, key, name, tells }: Line<T>, line: string): Line<T> => ({ line, item, key, name, tells });

/** Fewer characters of a line tell nothing. */
const LEAST_CUT = 16;

/** As much of a line as so many tokens hold, with its mark and its newline; empty when that is next to nothing. */
function cut(line: string, most: number, count: (text: string) => number): string {
  const shown = (chars: number) => `${clip(line.trimEnd(), chars)}\n`;
  let [fits, over] = [0, line.length];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (count(shown(middle)) <= most) fits = middle;
    else over = middle;
  }
  return fits < LEAST_CUT ? "" : shown(fits);
}

/** No memories: no block at all, rather than an empty frame that costs tokens in every prompt. */
function render<T>(frame: { head: string; tail: string }, kept: readonly Kept<T>[]): string {
  const parts = kept.flatMap(({ section, kept: lines }) =>
    lines.length === 0 ? [] : [section.heading, ...lines.map((line) => line.line)],
  );
  return parts.length === 0 ? "" : frame.head + parts.join("") + frame.tail;
}

function dropLast<T>(kept: readonly Kept<T>[]): boolean {
  const last = kept.findLast((section) => section.kept.length > 0);
  return last?.kept.pop() !== undefined;
}

function empty<T>(sections: readonly Section<T>[]): Block<T> {
  return {
    text: "",
    tokens: 0,
    sections: sections.map((section) => ({ name: section.name, items: [], dropped: section.items.length })),
  };
}
