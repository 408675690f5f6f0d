/** Reads the log of sessions. Lines that cannot be read are left out. */
import { readFileSync } from "node:fs";
import type { Home } from "../../daemon/home.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import {
  type SessionEnded,
  type SessionLogEvent,
  type SessionStarted,
  type SessionTold,
  sessionLogFile,
} from "./session-log.ts";

export interface Session extends SessionStarted, Omit<SessionEnded, "at" | "state"> {
  /** `lost`: it began more than a day ago and its end was not logged. */
  readonly state: "running" | "done" | "failed" | "lost";
  readonly ended_at?: string;
}

type Told = Pick<SessionTold, "at" | "ids" | "tokens">;

export interface SessionRecord {
  readonly session: Session;
  /** What it was given, the first first. */
  readonly told: readonly Told[];
}

const LOST_MS = 24 * 60 * 60 * 1_000;

/** The newest first. */
export function readSessions(home: Home, limit: number, now?: Date): Session[] {
  return readRecords(home, now)
    .map(({ session }) => session)
    .slice(0, Math.max(0, limit));
}

/** The newest first. */
export function readRecords(home: Home, now: Date = systemClock.now()): SessionRecord[] {
  const sessions = new Map<string, SessionRecord>();
  const events = readSessionEvents(home);
  // A session that begins with a prompt is noted with the answer to it.
  const prompts = firstPrompts(events);
  for (const event of events) note(sessions, prompts, event, now);
  return [...sessions.values()]
    .reverse()
    .sort((left, right) => Date.parse(right.session.at) - Date.parse(left.session.at));
}

/** Those whose id begins so, or whose key, where two callers gave theirs the same id. One that is named whole comes alone. */
export function findSessions(home: Home, beginning: string, now?: Date): SessionRecord[] {
  const records = readRecords(home, now);
  const named = (fits: (name: string) => boolean) =>
    records.filter(({ session: { id, key } }) => fits(id) || (key !== undefined && fits(key)));
  const exact = named((name) => name === beginning);
  return exact.length > 0 ? exact : named((name) => name.startsWith(beginning));
}

function firstPrompts(events: readonly SessionLogEvent[]): ReadonlyMap<string, string> {
  const prompts = new Map<string, string>();
  for (const event of events) {
    const noted = "asked" in event ? event.asked : "started" in event ? event.started : undefined;
    if (noted?.prompt !== undefined && !prompts.has(nameOf(noted))) prompts.set(nameOf(noted), noted.prompt);
  }
  return prompts;
}

function note(
  sessions: Map<string, SessionRecord>,
  prompts: ReadonlyMap<string, string>,
  event: SessionLogEvent,
  now: Date,
): void {
  if ("asked" in event) return;
  if ("started" in event) {
    const { started } = event;
    const name = nameOf(started);
    const told = sessions.get(name)?.told ?? [];
    const prompt = started.prompt ?? prompts.get(name);
    const state = isOld(started.at, now) ? "lost" : "running";
    sessions.delete(name);
    sessions.set(name, { session: { ...started, ...(prompt === undefined ? {} : { prompt }), state }, told });
    return;
  }
  const noted = "told" in event ? event.told : event.ended;
  const known = sessions.get(nameOf(noted));
  // Without a start: that was rotated away.
  if (!known) return;
  if ("told" in event) {
    const { at, ids, tokens } = event.told;
    sessions.set(nameOf(noted), { ...known, told: [...known.told, { at, ids, tokens }] });
  } else {
    const { at, ...ended } = event.ended;
    sessions.set(nameOf(noted), { ...known, session: { ...known.session, ...ended, ended_at: at } });
  }
}

/** Sessions of two callers may have one id. */
const nameOf = ({ id, key }: { readonly id: string; readonly key?: string }): string => key ?? id;

const isOld = (at: string, now: Date) => now.getTime() - Date.parse(at) > LOST_MS;

/** In the order in which they were written. */
function readSessionEvents(home: Home): SessionLogEvent[] {
  const file = sessionLogFile(home);
  return [...linesOf(`${file}.1`), ...linesOf(file)].flatMap((line) => sessionEventOf(line) ?? []);
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** A line that was cut off when its writer died is followed by the next one without a line break. */
export function sessionEventOf(line: string): SessionLogEvent | undefined {
  const starts = [0, ...Object.keys(TEXTS).map((name) => line.lastIndexOf(`{"${name}":`))];
  for (const start of starts) {
    if (start === -1) continue;
    try {
      const event: unknown = JSON.parse(line.slice(start));
      if (isEvent(event)) return event;
    } catch {
      // Tries the next position where an event could begin.
    }
  }
  return undefined;
}

/** The fields of each event that must be texts. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  started: ["id", "butler", "agent", "kind", "folder", "at", "memory"],
  asked: ["id", "at", "prompt"],
  told: ["id", "at"],
  ended: ["id", "at", "state"],
};

function isEvent(value: unknown): value is SessionLogEvent {
  if (typeof value !== "object" || value === null) return false;
  const [name, noted] = Object.entries(value)[0] ?? [];
  const texts = name === undefined || !Object.hasOwn(TEXTS, name) ? undefined : TEXTS[name];
  if (texts === undefined || typeof noted !== "object" || noted === null) return false;
  if (!texts.every((field) => typeof noted[field] === "string") || Number.isNaN(Date.parse(noted.at))) return false;
  return name !== "told" || (isTexts(noted.ids) && typeof noted.tokens === "number");
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === "string");
