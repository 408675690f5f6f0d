/** Answers and errors for people at a terminal. It returns strings; whether there is a terminal with colours is for the caller to know. */
import { isRecord } from "../../engine/domain/record.ts";
import { neutral, neutralLine } from "../../engine/domain/text/neutral.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { Tool } from "../../engine/tools/define.ts";
import type { Failure } from "../../engine/tools/outcome.ts";
import { hint, wireFailure } from "../failures.ts";

export interface RenderOptions {
  /** The exact answer as JSON, nothing else. */
  readonly json: boolean;
  readonly colour: boolean;
  /** For ages; without it none are shown. */
  readonly now?: Date;
  /** Columns; default 100. */
  readonly width?: number;
}

type Row = Readonly<Record<string, unknown>>;
export type Paint = (style: keyof typeof STYLES, text: string) => string;

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35 } as const;

export function renderAnswer(tool: Tool, answer: Row, options: RenderOptions): string {
  if (options.json) return JSON.stringify(answer, null, 2);
  const paint = painter(options.colour);
  const body = words(tool, answer, options, paint);
  const degraded = degradedNote(answer.degraded);
  return degraded === undefined ? body : `${body}\n${paint("yellow", `! ${degraded}`)}`;
}

export function renderError(failure: Failure, options: RenderOptions): string {
  if (options.json) return JSON.stringify({ error: wireFailure(failure) }, null, 2);
  const paint = painter(options.colour);
  const field = failure.field === undefined || failure.message.includes(failure.field) ? "" : ` (${failure.field})`;
  return `${paint("red", "✗")} ${plain(failure.message)}${field}\n  ${paint("dim", hint(failure.code))}`;
}

function words(tool: Tool, answer: Row, options: RenderOptions, paint: Paint): string {
  if (tool.name === "memory_context" && typeof answer.text === "string") {
    return answer.text.trim() === "" ? "Nothing is remembered that fits." : plain(answer.text);
  }
  if (Array.isArray(answer.results) && (tool.name === "memory_search" || tool.name === "memory_recall")) {
    const rows = answer.results.filter(isRecord);
    if (rows.length === 0) return "Nothing found. Other words may help: search looks for meaning and for words.";
    return rows.map((row, at) => found(row, at + 1, options, paint)).join("\n");
  }
  if (tool.name === "memory_stats") return stats(answer, paint);
  const text = neutral(tool.text({ ...answer }));
  return tool.effect === "read" ? text : `${paint("green", "✓")} ${text}`;
}

const TYPE_STYLE: Readonly<Record<string, keyof typeof STYLES>> = { fact: "blue", rule: "magenta", episode: "green" };

/** Two lines for each memory: what it says, and its scores. */
function found(row: Row, place: number, options: RenderOptions, paint: Paint): string {
  const type = text(row.type) ?? "memory";
  const head = `${String(place).padStart(2)}  ${type.padEnd(7)}  `;
  const about = text(row.subject) !== undefined ? `${text(row.subject)} · ${text(row.predicate) ?? "is"}: ` : "";
  const content = oneLine(`${about}${text(row.content) ?? ""}`, (options.width ?? 100) - head.length);
  const details = [
    labelled("score", row.score),
    labelled("confidence", row.effective_confidence),
    text(row.trust) && `trust ${text(row.trust)}${row.corroborated === false ? ", unconfirmed" : ""}`,
    typeof row.importance === "number" ? `importance ${round(row.importance)}` : undefined,
    text(row.maturity) ?? text(row.tier),
    age(row, options.now),
    text(row.id),
  ].filter((part) => part !== undefined);
  const painted = head.replace(type, paint(TYPE_STYLE[type] ?? "bold", type));
  return `${painted}${content}\n${" ".repeat(head.length)}${paint("dim", details.join(" · "))}`;
}

function age(row: Row, now: Date | undefined): string | undefined {
  const born = text(row.occurred_at) ?? text(row.created_at);
  if (now === undefined || born === undefined) return undefined;
  const days = Math.floor((now.getTime() - Date.parse(born)) / 86_400_000);
  if (Number.isNaN(days)) return undefined;
  if (days < 1) return "today";
  if (days < 60) return days === 1 ? "1 day old" : `${days} days old`;
  return days < 730 ? `${Math.round(days / 30.4)} months old` : `${Math.round(days / 365.25)} years old`;
}

/** Sections of numbers become small tables; groups of counts get bars, so that proportions are seen at once. */
function stats(answer: Row, paint: Paint): string {
  const single = Object.entries(answer).filter(([name, value]) => !isRecord(value) && isFigure(name, value));
  const sections = Object.entries(answer).flatMap(([name, value]) =>
    name !== "degraded" && isRecord(value) ? [section(name, value, paint)] : [],
  );
  return [
    ...sections,
    ...(single.length > 0 ? [single.map(([name, value]) => figure(name, value, "")).join("\n")] : []),
  ].join("\n\n");
}

function section(name: string, value: Row, paint: Paint): string {
  const lines = [`${paint("bold", label(name))}${typeof value.total === "number" ? `  ${value.total}` : ""}`];
  for (const [key, part] of Object.entries(value)) {
    if (key === "total") continue;
    const counts = countsOf(part);
    if (counts !== undefined) lines.push(`  ${paint("dim", label(key))}`, ...bars(counts, paint));
    else if (isFigure(key, part)) lines.push(figure(key, part, "  "));
  }
  return lines.join("\n");
}

function countsOf(part: unknown): [string, number][] | undefined {
  if (Array.isArray(part)) {
    if (part.every((item) => typeof item === "number")) {
      return part.map((count, at) => [`${round(at / part.length)}–${round((at + 1) / part.length)}`, count]);
    }
    return undefined;
  }
  if (!isRecord(part)) return undefined;
  const entries = Object.entries(part).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  return entries.length > 0 ? entries : undefined;
}

function bars(counts: readonly [string, number][], paint: Paint): string[] {
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const width = Math.max(...counts.map(([name]) => name.length));
  return counts.map(([name, count]) => {
    const filled = count <= 0 ? 0 : Math.max(1, Math.round((count / most) * 20));
    return `    ${name.replaceAll("_", " ").padEnd(width)}  ${paint("blue", "█".repeat(filled))}${filled > 0 ? " " : ""}${round(count)}`;
  });
}

/** `null` means that it could not be counted. */
function figure(name: string, value: unknown, indent: string): string {
  const shown = value === null ? "unknown" : typeof value === "number" ? round(value) : plain(String(value));
  return `${indent}${label(name).padEnd(20)}  ${shown}`;
}

function isFigure(name: string, value: unknown): boolean {
  return name !== "degraded" && (value === null || ["number", "string", "boolean"].includes(typeof value));
}

function degradedNote(degraded: unknown): string | undefined {
  if (degraded === undefined || degraded === null || degraded === false) return undefined;
  if (typeof degraded === "string") return plain(degraded);
  if (Array.isArray(degraded)) return degraded.length > 0 ? plain(degraded.join("; ")) : undefined;
  return isRecord(degraded) && typeof degraded.reason === "string"
    ? plain(degraded.reason)
    : "Answered with less than usual.";
}

export function painter(colour: boolean): Paint {
  return colour ? (style, value) => `\u001b[${STYLES[style]}m${value}\u001b[0m` : (_style, value) => value;
}

/** A terminal must not obey control characters. Memories go through `neutral` instead, because agents read terminals too. */
function plain(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
  return value.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function oneLine(value: string, width: number): string {
  const letters = [...neutralLine(clip(value, 8 * width))];
  return letters.length > width ? `${letters.slice(0, Math.max(1, width - 1)).join("")}…` : letters.join("");
}

const labelled = (name: string, value: unknown) =>
  typeof value === "number" ? `${name} ${value.toFixed(2)}` : undefined;
const label = (name: string) => name.replace(/^by_/, "by ").replaceAll("_", " ");
const round = (value: number) => String(Math.round(value * 100) / 100);
const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
