/** What was said may stand in files of the home beside the store: exchanges that wait, the beginnings of sessions, logs. */
import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Home, readIfThere, writePrivate } from "../../daemon/home.ts";
import { isMissing } from "../../engine/domain/errors.ts";
import { isRecord } from "../../engine/domain/record.ts";
import { failedFolder, filesIn } from "../hooks/spool/files.ts";
import { sessionLogFile } from "../sessions/session-log.ts";
import { sessionIdOf } from "../transcripts/episodes.ts";

export interface Traces {
  /** As episodes name them. */
  readonly sessions: readonly string[];
  /** Of memories that are erased. */
  readonly ids: readonly string[];
  /** Of a subject: text that names it. */
  names(text: string): boolean;
}

export interface TracesGone {
  /** Exchanges that waited to be stored, or could not be. */
  readonly spool: number;
  /** Beginnings of sessions. */
  readonly session_log: number;
  /** Lines of the owner's log. */
  readonly owner_log: number;
}

export function eraseTraces(home: Home, traces: Traces): TracesGone {
  return {
    spool: [home.spool, failedFolder(home)].reduce((sum, folder) => sum + eraseWaiting(folder, traces), 0),
    session_log: eachOf(sessionLogFile(home), (file) => erasePrompts(file, traces)),
    owner_log: eachOf(home.ownerLog, (file) => eraseLines(file, traces)),
  };
}

/** A log and the one before it. */
const eachOf = (file: string, work: (file: string) => number): number => work(file) + work(`${file}.1`);

function eraseWaiting(folder: string, { sessions, names }: Traces): number {
  const rows = filesIn(folder).filter((name) => name.endsWith(".row.json"));
  const gone = rows.filter((name) => {
    const text = readIfThere(join(folder, name)) ?? "";
    const row = recordIn(recordIn(text)?.row);
    return names(text) || (typeof row?.session_id === "string" && sessions.includes(row.session_id));
  });
  for (const name of gone) rmSync(join(folder, name), { force: true });
  return gone.length;
}

function recordIn(value: unknown): Record<string, unknown> | undefined {
  if (isRecord(value)) return value;
  try {
    const parsed: unknown = typeof value === "string" ? JSON.parse(value) : undefined;
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    // A file that was cut off: it is recognised by its words alone.
    return undefined;
  }
}

/** The line stays: that there was a session is no secret, and `butler sessions` counts it. */
function erasePrompts(file: string, { sessions, names }: Traces): number {
  const text = readIfThere(file);
  if (text === undefined) return 0;
  let gone = 0;
  const lines = text.split("\n").flatMap((line) => {
    const event = recordIn(line);
    const noted = recordIn(event?.started) ?? recordIn(event?.asked);
    if (noted?.prompt === undefined) return [line];
    const said = typeof noted.id === "string" && sessions.includes(sessionIdOf(noted.id));
    if (!said && !names(String(noted.prompt))) return [line];
    gone += 1;
    const { prompt: _, ...rest } = noted;
    return event?.started === undefined ? [] : [JSON.stringify({ ...event, started: rest })];
  });
  if (gone > 0) writePrivate(file, lines.join("\n"));
  return gone;
}

/** Rewritten in place: a running owner has it open, and goes on at its end. */
function eraseLines(file: string, { sessions, ids, names }: Traces): number {
  const text = readIfThere(file) ?? "";
  const needles = [...sessions, ...ids];
  const lines = text.split("\n");
  const kept = lines.filter((line) => !names(line) && !needles.some((needle) => line.includes(needle)));
  if (kept.length === lines.length) return 0;
  const handle = openSync(file, "r+");
  try {
    // What the owner has written meanwhile stands behind what was read.
    const since = readFileSync(file, "utf8").slice(text.length);
    ftruncateSync(handle, 0);
    writeSync(handle, kept.join("\n") + since, 0);
  } catch (error) {
    if (!isMissing(error)) throw error;
  } finally {
    closeSync(handle);
  }
  return lines.length - kept.length;
}
