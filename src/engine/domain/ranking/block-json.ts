/**
 * A context block as JSON: the same lines under the names of their sections. Some clients hand their model this form and not the text, so it
 * is no longer than the text, and the budget holds for it too.
 */
import { fitJson, type Json } from "../text/fit-json.ts";

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
      const name = line.slice(2).toLowerCase();
      lines = [];
      sections[name] = lines;
    } else lines.push(line.startsWith("- ") ? line.slice(2) : line);
  }
  return fitJson({ note: note.join(" "), ...sections }, text.length);
}
