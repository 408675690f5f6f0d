/** Filling a block of text under a hard token budget, section by section. Pure: the tokenizer comes as a function. */
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
}

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

const NEAR = 64;

/**
 * Every line ends with one newline and starts with a visible character that is no slash: the tokenizers always break there,
 * so counts of lines add up (a property test holds them to it). Only near the budget is the whole text counted once more,
 * which takes 2 ms, and shortened from its end until it fits.
 */
export function fillBudget<T>(
  frame: { readonly head: string; readonly tail: string },
  sections: readonly Section<T>[],
  budget: number,
  count: (text: string) => number,
): Block<T> {
  const frameTokens = count(frame.head) + count(frame.tail);
  const kept: Kept<T>[] = [];
  const told = new Set<string>();
  let carried = 0;
  for (const section of sections) {
    const allowance = carried + Math.floor(section.quota * Math.max(0, budget - frameTokens));
    const offered = section.items.filter((line) => !told.has(line.key));
    const filled = fillSection(section.heading, offered, allowance, count);
    carried = allowance - filled.used;
    for (const line of filled.kept) told.add(line.key);
    kept.push({ section, kept: filled.kept, offered: offered.length, used: filled.used });
  }
  let text = render(frame, kept);
  let tokens = text === "" ? 0 : frameTokens + kept.reduce((sum, { used }) => sum + used, 0);
  if (tokens > budget - NEAR) tokens = count(text);
  while (tokens > budget && dropLast(kept)) {
    text = render(frame, kept);
    tokens = count(text);
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

/** A line too long for the whole section is passed over: in first place it would hide everything after it. */
function fillSection<T>(
  heading: string,
  lines: readonly Line<T>[],
  allowance: number,
  count: (text: string) => number,
) {
  const room = allowance - count(heading);
  const kept: Line<T>[] = [];
  let used = 0;
  for (const line of lines) {
    const cost = count(line.line);
    if (cost > room) continue;
    if (used + cost > room) break;
    kept.push(line);
    used += cost;
  }
  return { kept, used: kept.length === 0 ? 0 : used + allowance - room };
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
