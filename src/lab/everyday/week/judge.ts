/**
 * How a reader judges the lines of an opening. Useful: it says something that is worth knowing, is true at that time, and that no line before
 * it in the same opening has said. Harmful: all that it says that was ever worth knowing is not true any more. Useless: everything else
 * (greetings, orders that were carried out, questions that were answered, raw output, what was said a line before).
 */
import type { Opening } from "./live.ts";
import type { Week, Worth } from "./script.ts";

export type Verdict = "useful" | "useless" | "harmful";

export interface JudgedLine {
  readonly line: string;
  readonly verdict: Verdict;
}

export interface JudgedOpening extends Opening {
  readonly lines: readonly JudgedLine[];
  /** How many of the things that were worth telling at that time it tells. */
  readonly tells: number;
  readonly worth: number;
}

export interface Shares {
  readonly openings: number;
  readonly lines: number;
  readonly useful: number;
  readonly useless: number;
  readonly harmful: number;
  /** Tokens of one opening, on average over those that say anything. */
  readonly tokens: number;
  /** Share of what was worth telling that was told, over all openings. */
  readonly told: number;
}

export function judge({ worth }: Week, opening: Opening): JudgedOpening {
  const isTrue = ({ from, until }: Worth) => from < opening.session && opening.session <= until;
  const told = new Set<Worth>();
  const lines = opening.text
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line): JudgedLine => {
      const said = worth.filter(({ matches, from }) => from < opening.session && matches.test(line));
      const news = said.filter((one) => isTrue(one) && !told.has(one));
      for (const one of news) told.add(one);
      if (news.length > 0) return { line, verdict: "useful" };
      return { line, verdict: said.length > 0 && !said.some(isTrue) ? "harmful" : "useless" };
    });
  return { ...opening, lines, tells: told.size, worth: worth.filter(isTrue).length };
}

export function sharesOf(judged: readonly JudgedOpening[]): Shares {
  const lines = judged.flatMap((opening) => opening.lines);
  const count = (verdict: Verdict) => lines.filter((line) => line.verdict === verdict).length;
  const saying = judged.filter(({ text }) => text !== "");
  const sum = (of: (opening: JudgedOpening) => number) => saying.reduce((all, opening) => all + of(opening), 0);
  return {
    ...{ openings: judged.length, lines: lines.length },
    ...{ useful: count("useful"), useless: count("useless"), harmful: count("harmful") },
    tokens: Math.round(sum(({ tokens }) => tokens) / Math.max(1, saying.length)),
    told:
      sum(({ tells }) => tells) /
      Math.max(
        1,
        sum((opening) => opening.worth),
      ),
  };
}
