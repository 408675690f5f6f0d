/** One session for people: what it was told and what came of it. */
import { painter } from "../../doors/cli/render.ts";
import { shortId } from "../../engine/domain/short-id.ts";
import { MEMORY_ID } from "../log/ask-stream.ts";
import type { Happening } from "../log/happenings.ts";
import type { SessionReport } from "../log/session-report.ts";
import { asideOf, beganWith, counted, oneLine } from "./log.ts";

export interface SessionStyle {
  readonly colour: boolean;
  readonly width: number;
  readonly zone?: string | undefined;
}

const TYPE = "episode".length;
const NAME = 8;

type Seen = { readonly type: string; readonly state: string; readonly text?: string | undefined };

/** A memory in `width` columns; undefined when it is gone or cannot be seen. */
export function memoryLine(id: string, memory: Seen | undefined, width: number): string {
  const lead = `${(memory?.type ?? "").padEnd(TYPE)}  ${MEMORY_ID.test(id) ? shortId(id) : oneLine(id, 36)}  `;
  if (memory === undefined) return `${lead}(gone)`;
  const { state, text } = memory;
  if (text === undefined) return `${lead}(forgotten since)`;
  return `${lead}${oneLine(state === "active" ? text : `(${state}) ${text}`, Math.max(20, width - lead.length))}`;
}

export function sessionWords(report: SessionReport, { colour, width, zone }: SessionStyle): string[] {
  const { session, told, stored, learned, why } = report;
  const paint = painter(colour);
  const time = (at: string) => timeOf(at, zone);
  const about: [string, string | undefined][] = [
    ["butler", session.butler],
    ["project", session.project],
    ["folder", session.folder],
    ["began", `${time(session.at)}, ${beganWith(session.memory)}`],
    ["ended", session.ended_at === undefined ? undefined : time(session.ended_at)],
    ["prompt", session.prompt],
  ];
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", paint("bold", title), ...lines];
  return [
    `${paint("bold", oneLine(session.agent, 20))} ${oneLine(session.id, width - 30)}  ${session.state}`,
    ...about.flatMap(([name, value]) =>
      value === undefined ? [] : [`  ${paint("dim", name.padEnd(NAME))} ${oneLine(value, width - NAME - 3)}`],
    ),
    ...told.flatMap(({ at, tokens, memories }) =>
      section(
        `Told at ${time(at).slice(-8)}: ${counted(memories.length, "memory")}, ${tokens} tokens`,
        memories.map(({ id, memory }) => `  ${memoryLine(id, memory, width - 2)}`),
      ),
    ),
    ...section(
      `Stored: ${counted(stored.length, "exchange")}`,
      stored.map((one) => happeningLine(one, width)),
    ),
    ...section(
      `Learned: ${counted(learned.length, "memory")}`,
      learned.map((one) => happeningLine(one, width)),
    ),
    ...(why === undefined ? nothing(report) : ["", `Its memories cannot be shown: ${oneLine(why, width)}`]),
  ];
}

const nothing = ({ told, stored, learned }: SessionReport): string[] =>
  told.length + stored.length + learned.length === 0 ? ["", "Nothing was told, stored or learned."] : [];

function happeningLine(happening: Happening, width: number): string {
  const { id = "", type = "", state, text, was } = happening;
  const aside = asideOf(happening);
  const said = was === undefined || text === undefined ? text : `${text} (was ${was})`;
  const seen = state === undefined ? undefined : { type, state, text: said };
  const line = `  ${memoryLine(id, seen, width - 4 - aside.length)}`;
  return aside === "" ? line : `${line}  ${aside}`;
}

const timeOf = (at: string, zone: string | undefined): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone: zone });
