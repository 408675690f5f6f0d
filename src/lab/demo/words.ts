/** The text of the demonstration: 100 columns, colours only when asked for. */
import { clip } from "../../engine/domain/text/text.ts";
import type { ToolAnswer } from "../../engine/tools/index.ts";
import type { Answer } from "./story.ts";

export const COLUMNS = 100;

export type Paint = (style: keyof typeof STYLES, text: string) => string;
const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35 } as const;

export const painter = (colour: boolean): Paint =>
  colour ? (style, text) => `\u001b[${STYLES[style]}m${text}\u001b[0m` : (_style, text) => text;

/** Breaks at spaces; later lines are indented like the first one's text. */
export function wrap(text: string, indent: string, width = COLUMNS): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    if (line.length + word.length + 1 > width && line.trim() !== "") {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

export const title = (text: string, paint: Paint) =>
  `\n${paint("bold", text)}\n${paint("dim", "─".repeat(Math.min(COLUMNS, text.length)))}`;

const day = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
export const dayName = (at: Date) => day.format(at);
export const dateOf = (text: unknown) => String(text).slice(0, 10);

/** One line for one call: its kind, its text, its result. */
export function callLine(tool: string, input: Answer, answer: Answer, paint: Paint): string | undefined {
  const line = (kind: string, style: Parameters<Paint>[0], text: string, result: string) => {
    const room = COLUMNS - 14 - result.length - 2;
    return `  ${paint(style, kind.padEnd(10))}  ${clip(text, room).padEnd(room)}  ${paint("dim", result)}`;
  };
  const redactions = (answer.redactions ?? []) as readonly { kind: string; count: number }[];
  switch (tool) {
    case "memory_store_episode": {
      const taken = redactions.map(({ kind }) => `${kind} taken out`).join(", ");
      return line(
        "episode",
        "green",
        String(input.content),
        answer.duplicate === true ? "already there" : taken || "stored",
      );
    }
    case "memory_store_fact":
      return line("fact", "blue", `${input.subject} / ${input.predicate}: ${input.content}`, String(answer.status));
    case "memory_store_rule":
      return line("rule", "magenta", String(input.content), String(answer.maturity));
    case "memory_mark_helpful":
      return line("+ helpful", "green", String(input.note), standing(answer));
    case "memory_mark_harmful":
      return line("- harmful", "red", String(input.reason), standing(answer));
    case "memory_forget":
      return line("forget", "yellow", String(input.reason), String(answer.state));
    case "memory_confirm":
      return line("confirm", "blue", "Ada still has to avoid peanuts", String(answer.state));
    default:
      return undefined;
  }
}

function standing(answer: Answer): string {
  const { previous_maturity: before, maturity: after, effectiveness } = answer;
  const level = String(after).replace("anti_pattern", "warning");
  return before === after ? `${level}, ${Number(effectiveness).toFixed(2)}` : `now ${level}`;
}

export function foundLines(results: ToolAnswer<"memory_search">["results"], paint: Paint): string[] {
  return results.map((result) => {
    const text =
      result.subject === undefined ? result.content : `${result.subject} / ${result.predicate}: ${result.content}`;
    const bar = "█".repeat(Math.max(1, Math.round(result.score * 12))).padEnd(12);
    const sure = `confidence ${result.effective_confidence.toFixed(2)}`;
    return `  ${result.score.toFixed(2)} ${paint("blue", bar)} ${result.type.padEnd(8)} ${clip(text, 52).padEnd(52)} ${paint("dim", sure)}`;
  });
}
