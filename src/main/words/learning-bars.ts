/** How sure the reader must be, and why, as lines for a terminal; and the examples as lines of a corpus. Pure. */
import { neutralLine } from "../../engine/domain/text/neutral.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { ToolAnswer } from "../../engine/tools/index.ts";

export type LearningShown = ToolAnswer<"memory_learning">;
type Bar = LearningShown["bars"][number];
type Example = LearningShown["examples"][number];

const percent = (share: number): string => `${Math.round(100 * share)} %`;
const counted = (n: number, what: string): string => `${n} ${n === 1 ? what : `${what}s`}`;

function movedWords({ shipped, bar, examples }: Bar): string {
  if (examples === 0) return "as shipped";
  const moved = Math.round(100 * (bar - shipped));
  const by = counted(examples, "example");
  if (moved === 0) return `as shipped: ${by} for and against`;
  return moved > 0 ? `keeps less, after ${by}` : `keeps more, after ${by}`;
}

const WORDS: Readonly<Record<string, string>> = {
  forgotten: "was forgotten",
  harmful: "did harm",
  edited: "was corrected",
  confirmed: "was confirmed",
  restored: "was brought back",
  helpful: "helped",
};

function exampleLine({ kind, judgement, judged_at, sureness, text }: Example): string {
  const sure = sureness === undefined ? "" : `, read with ${percent(sureness)}`;
  const said = text === undefined ? "(not shown: it was forgotten)" : `“${clip(neutralLine(text), 90)}”`;
  return `  ${judged_at.slice(0, 10)}  ${kind} ${said} ${WORDS[judgement] ?? neutralLine(judgement)}${sure}`;
}

export function learningWords({ butler, reader, since, bars, examples }: LearningShown): string[] {
  const rows = bars.map((bar) => [bar.kind, percent(bar.shipped), percent(bar.bar), movedWords(bar)]);
  const all = [["KIND", "SHIPPED", "NOW", ""], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const total = bars.reduce((sum, bar) => sum + bar.examples, 0);
  return [
    `${neutralLine(butler)} keeps a sentence when the reader is at least so sure that it is worth keeping:`,
    ...all.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd()),
    ...(reader === "local"
      ? []
      : [`These bars are not used now: ${reader === "none" ? "nobody" : neutralLine(reader)} reads the episodes.`]),
    ...(since === undefined ? [] : [`Reset on ${since.slice(0, 10)}; what was done before does not count.`]),
    ...(total === 0
      ? ["Nothing that the reader learned was forgotten, corrected, marked or confirmed yet."]
      : [
          `Moved by (${examples.length} of ${total}, the latest first):`,
          ...examples.map(exampleLine),
          "butler learning reset starts again from the shipped bars.",
        ]),
  ];
}

export const resetWords = ({ butler, reset }: LearningShown): string[] => [
  reset
    ? `${neutralLine(butler)} starts again from the shipped bars. Its memories stay as they are.`
    : `Nothing to reset: no example has moved the bars of ${neutralLine(butler)}.`,
];

/**
 * As `corpus/README.md` describes them. Each example is one sentence, not the message it was said in: nobody has judged the rest of
 * that message. An edit says neither that the sentence was worth keeping nor that it was not.
 */
export function corpusLines({ bars, examples }: LearningShown): { readonly lines: string[]; readonly left: number } {
  const lines = examples.flatMap(({ text, kind, judgement }) => {
    if (text === undefined || judgement === "edited") return [];
    const unwanted = judgement === "forgotten" || judgement === "harmful";
    return [JSON.stringify(unwanted ? { text, keep: [], like: judgement } : { text, keep: [{ part: text, kind }] })];
  });
  return { lines, left: bars.reduce((sum, bar) => sum + bar.examples, 0) - lines.length };
}
