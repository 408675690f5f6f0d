/** The lines of `butler log`: a heading for each session, and one line for what happened in it. Whatever a memory says stays in its line. */
import { type Paint, painter } from "../../doors/cli/render.ts";
import { factSentence } from "../../engine/domain/fact.ts";
import { neutralLine } from "../../engine/domain/text/neutral.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { Happening } from "../log/happenings.ts";

export interface LogStyle {
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  /** Several butlers: each heading names its own. */
  readonly several: boolean;
  /** Undefined: that of the machine. */
  readonly zone?: string | undefined;
}

/** Remembers what the last line stood under. */
export interface LogWriter {
  lines(happening: Happening): string[];
  /** A line below the last happening, in as many columns as it is given. */
  below(text: (width: number) => string): string;
}

const VERB = 10;
/** A line keeps this many columns for what was said, and the rest goes without. */
const LEAST_TEXT = 25;
const INDENT = "  ";
const TIME = "00:00:00  ";
const BELOW = INDENT.length + TIME.length + 2;

export function logWriter(style: LogStyle): LogWriter {
  const paint = painter(style.colour);
  let day: string | undefined;
  let heading: string | undefined;
  return {
    lines(happening) {
      const lines: string[] = [];
      const today = dayOf(happening.at, style.zone);
      if (today !== day) lines.push(...(day === undefined ? [] : [""]), paint("dim", today));
      const under = headingOf(happening, style.several, paint);
      if (under !== heading || today !== day) lines.push(...(today === day ? [""] : []), under);
      day = today;
      heading = under;
      lines.push(lineOf(happening, style, paint));
      return lines;
    },
    below: (text) => `${" ".repeat(BELOW)}${text(style.width - BELOW)}`,
  };
}

/** Enough of a session's id to name it on the command line. */
const shortSession = (id: string): string => neutralLine(id.slice(0, id.startsWith("stdio-") ? 14 : 8));

function headingOf(happening: Happening, several: boolean, paint: Paint): string {
  const { butler, session, agent, project, by } = happening;
  const who = session === undefined ? actorOf(by) : `${word(agent ?? "session", 20)} ${shortSession(session)}`;
  const about = [several ? word(butler, 40) : undefined, project === undefined ? undefined : word(project, 60)];
  return [paint("bold", who), ...about.filter((part) => part !== undefined).map((part) => paint("dim", part))].join(
    "  ",
  );
}

function actorOf(by = ""): string {
  if (by === "local") return "you, on the command line";
  if (by.startsWith("job:")) return `job ${word(by.slice(4), 40)}`;
  return by === "agent" ? "an agent" : word(by, 40);
}

type Style = Parameters<Paint>[0];
const COLOURS: Readonly<Record<string, Style>> = {
  learned: "green",
  changed: "yellow",
  doubted: "yellow",
  "is a warning now": "yellow",
  forgotten: "red",
  failed: "red",
  "gave up": "red",
  told: "blue",
};

function lineOf(happening: Happening, { width, zone }: LogStyle, paint: Paint): string {
  const { at, what, type } = happening;
  const time = timeOf(at, zone);
  const verb = word(what, 20).padEnd(VERB);
  const kind = type === undefined || type === "episode" ? "" : `${type} `;
  const room = width - INDENT.length - TIME.length - verb.length - 1 - kind.length;
  const known = asideOf(happening);
  const aside = room - known.length - 2 < LEAST_TEXT ? "" : known;
  const text = bodyOf(happening, aside === "" ? room : room - aside.length - 2);
  const colour = COLOURS[what];
  const painted = colour === undefined ? verb : paint(colour, verb);
  const line = `${INDENT}${paint("dim", time)}  ${painted} ${paint("dim", kind)}${text}`;
  return (aside === "" ? line : `${line}  ${paint("dim", aside)}`).trimEnd();
}

function bodyOf(happening: Happening, width: number): string {
  const { what, type, count, text, was, state, note, tokens } = happening;
  if (what === "told") return `${counted(count ?? 0, "memory")}, ${tokens ?? 0} tokens`;
  if (what === "began") return oneLine(beganWith(note ?? ""), width);
  if (what === "ended") return oneLine(note ?? "", width);
  if (count !== undefined) return counted(count, type === "episode" ? "exchange" : (type ?? "memory"));
  if (text === undefined) return state === "retracted" ? "(forgotten since)" : "(gone)";
  const said = type === "fact" ? factSentence(text) : text;
  if (was === undefined || width < 2 * LEAST_TEXT) return oneLine(said, width);
  // Of a fact with the same subject and predicate only the value is told.
  const key = text.slice(0, text.indexOf(": ") + 2);
  const before = oneLine(was.startsWith(key) ? was.slice(key.length) : was, Math.floor(width / 3));
  return `${oneLine(said, width - before.length - 7)} (was ${before})`;
}

/** What a session started with, as the log of sessions has it. */
export function beganWith(memory: string): string {
  if (memory === "used") return "with memory";
  if (memory === "off") return "memory is off";
  return memory === "empty" ? "nothing was known" : `without memory: ${memory}`;
}

const SAID: Readonly<Record<string, string>> = {
  user: "you said so",
  agent: "an agent said so",
  tool: "a tool's output",
  imported: "imported",
};

/** Who said it, by whom it was read, and where it went. */
export function asideOf({ what, trust, reader, sureness, hint, note, count, by, type }: Happening): string {
  if (["began", "ended", "told", "failed"].includes(what) || count !== undefined) return "";
  const said = trust === undefined || type === "episode" ? undefined : SAID[trust];
  const read = reader === undefined ? undefined : `read by ${word(reader.split(" ")[0] ?? "", 20)}`;
  const job = by?.startsWith("job:") && reader === undefined ? `job ${word(by.slice(4), 20)}` : undefined;
  const parts = ["learned", "changed", "confirmed", "doubted"].includes(what)
    ? [said, read, what === "learned" ? surenessWords(sureness, hint) : undefined]
    : [note && word(note, 40), job];
  return parts.filter((part) => part !== undefined && part !== "").join(" · ");
}

function surenessWords(sureness: number | undefined, hint: boolean | undefined): string | undefined {
  if (sureness === undefined) return undefined;
  return `${hint ? "a hint, " : ""}${Math.round(100 * sureness)} % sure`;
}

export const counted = (n: number, noun: string): string =>
  `${n} ${n === 1 ? noun : noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;

/** Signs that take two columns: a line that wraps could look like another one. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** What others have written, in one line of at most `width` columns. */
export function oneLine(value: string, width: number): string {
  let left = width;
  let line = "";
  for (const letter of neutralLine(clip(value, 8 * Math.max(1, width)))) {
    const columns = WIDE.test(letter) ? 2 : 1;
    // The last column is for the ellipsis, unless nothing follows.
    if (left < columns) return `${[...line].slice(0, -1).join("")}…`;
    left -= columns;
    line += letter;
  }
  return line;
}

const word = (value: string, longest: number): string => oneLine(value, longest);

function dayOf(at: string, zone: string | undefined): string {
  const options = { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: zone } as const;
  return new Date(at).toLocaleDateString("en-GB", options);
}

function timeOf(at: string, zone: string | undefined): string {
  return new Date(at).toLocaleTimeString("en-GB", { hour12: false, timeZone: zone });
}
