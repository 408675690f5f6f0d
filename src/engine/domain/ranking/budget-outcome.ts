/** What became of one line when sections were filled under a budget: the same walk as `fillBudget`, with its reasons kept. */
import { fillBudget, fillLines, isSaid, type OtherForm, type Section } from "./budget.ts";

interface Offered {
  readonly section: string;
  /** Its position among the lines offered to the section, from 1, and how many those were. */
  readonly place: number;
  readonly of: number;
  /** Tokens that the line takes, and that the section has for all its lines. */
  readonly needs: number;
  readonly room: number;
}

export type Outcome<T> =
  | (Offered & { readonly kind: "shown" })
  | (Offered & { readonly kind: "too long" | "cut" })
  | (Offered & { readonly kind: "no room"; readonly left: number })
  /** It would have fitted, but the list ends with the first line that does not. */
  | (Offered & { readonly kind: "behind"; readonly left: number; readonly behind: T })
  | { readonly kind: "said"; readonly section: string; readonly by: T; readonly in: string };

/** One for each section that the line was meant for, in their order. */
export function outcomesOf<T>(
  frame: { readonly head: string; readonly tail: string },
  sections: readonly Section<T>[],
  budget: number,
  count: (text: string) => number,
  isWanted: (item: T) => boolean,
  otherForm?: OtherForm,
): Outcome<T>[] {
  const block = fillBudget(frame, sections, budget, count, otherForm);
  const shares = Math.max(0, budget - count(frame.head) - count(frame.tail));
  const told = new Map<string, { by: T; in: string }>();
  const outcomes: Outcome<T>[] = [];
  let carried = 0;
  sections.forEach((section, index) => {
    const allowance = carried + Math.floor(section.quota * shares);
    const room = allowance - count(section.heading);
    const wanted = section.items.find(({ item }) => isWanted(item));
    const offered = section.items.filter((line) => !isSaid(line, told));
    const { kept, used, ended } = fillLines(offered, room, count);
    carried = allowance - (kept.length === 0 ? 0 : used + allowance - room);
    const said = wanted && (told.get(wanted.key) ?? told.get(wanted.name ?? wanted.key));
    if (wanted !== undefined && said !== undefined) outcomes.push({ kind: "said", section: section.name, ...said });
    else if (wanted !== undefined) {
      const needs = count(wanted.line);
      const place = offered.indexOf(wanted) + 1;
      const at = { section: section.name, place, of: offered.length, needs, room };
      const left = room - used;
      if (block.sections[index]?.items.includes(wanted.item)) outcomes.push({ ...at, kind: "shown" });
      else if (kept.some(({ item }) => item === wanted.item)) outcomes.push({ ...at, kind: "cut" });
      else if (needs > room) outcomes.push({ ...at, kind: "too long" });
      else if (ended === undefined || ended === wanted || needs > left) outcomes.push({ ...at, kind: "no room", left });
      else outcomes.push({ ...at, kind: "behind", left, behind: ended.item });
    }
    for (const { key, tells = [], item } of kept)
      for (const one of [key, ...tells]) told.set(one, { by: item, in: section.name });
  });
  return outcomes;
}
