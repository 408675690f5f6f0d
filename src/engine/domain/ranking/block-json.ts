/**
 * A context block as JSON: the same lines under the names of their sections. Some clients hand their model this form and not the text, so it
 * is no longer than the text, and the budget holds for it too.
 */
import { fitJson, type Json, textSize } from "../text/fit-json.ts";
import type { Shown } from "./budget.ts";

/** Of an empty block, where the budget has room for a sentence. */
export const NOTHING = "Nothing remembered for this yet.";
const ROOM_FOR_A_SENTENCE = 16;

/** The block as a model reads it; a budget holds for the words that stand for an empty one, too. */
export const blockText = (text: string, budget: number): string =>
  text !== "" ? text : budget < ROOM_FOR_A_SENTENCE ? "None" : NOTHING;

export function blockJson(text: string, budget: number): Record<string, Json> {
  if (text === "") return budget < ROOM_FOR_A_SENTENCE ? {} : { memories: [] };
  const sections: Record<string, string[]> = {};
  const note: string[] = [];
  let lines = note;
  // Its first and last line are the tag around it.
  for (const line of text.trimEnd().split("\n").slice(1, -1)) {
    if (line.startsWith("# ")) {
      lines = [];
      sections[nameOf(line)] = lines;
    } else lines.push(saidIn(line));
  }
  return fitJson({ note: note.join(" "), ...sections }, text.length);
}

const nameOf = (heading: string): string => heading.slice(2).toLowerCase();
const saidIn = (line: string): string => (line.startsWith("- ") ? line.slice(2) : line);

/** The line of a block as one of a list's strings, another behind it: without the quote before it, with that of the next one. */
export const listed = (line: string): string => `${escaped(line)}","`;

const withoutEnd = (line: string): string => line.slice(0, -1);
const escaped = (line: string): string => JSON.stringify(saidIn(withoutEnd(line))).slice(1, -1);

/**
 * Tokens of this form from those of its lines: the tokenizers break between two strings of a list, the second of which begins with a letter or a
 * digit. `head` is what stands before the sections of the text, `length` that of the text; undefined where some of it has to be left out.
 */
export function countJson(
  head: string,
  sections: readonly Shown[],
  length: number,
  count: (text: string) => number,
): number | undefined {
  // What is between two such places.
  let part = `{"note":${JSON.stringify(head.trimEnd().split("\n").slice(1).join(" "))}`;
  let size = part.length + 1;
  let tokens = 0;
  for (const { heading, lines } of sections) {
    if (lines.length === 0) continue;
    const opens = `,${JSON.stringify(nameOf(withoutEnd(heading)))}:["`;
    part += opens;
    size += opens.length;
    for (let at = 0; at < lines.length; at++) {
      const { line, listedTokens } = lines[at] as Shown["lines"][number];
      const next = lines[at + 1]?.line;
      size += textSize(saidIn(withoutEnd(line))) + (next === undefined ? 0 : 1);
      if (next !== undefined && BEGINS_PLAINLY.test(next)) {
        tokens += part === "" && listedTokens !== undefined ? listedTokens : count(part + listed(line));
        part = "";
      } else part += next === undefined ? `${escaped(line)}"]` : listed(line);
    }
  }
  return size > length ? undefined : tokens + count(`${part}}`);
}

const BEGINS_PLAINLY = /^- [A-Za-z0-9]/;
