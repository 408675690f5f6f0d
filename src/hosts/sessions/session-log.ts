/**
 * The log of sessions: one JSON line an event, in the logs of the home. It is for people and nothing depends on it, so a fault of the log
 * never fails a session.
 */
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../daemon/home.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { redact } from "../../engine/domain/redaction/redact.ts";
import { withoutPrivate } from "../../engine/domain/text/private.ts";
import { clip } from "../../engine/domain/text/text.ts";
import { safeId } from "../../engine/memory/privacy.ts";

export interface SessionStarted {
  readonly id: string;
  /** Distinguishes sessions to which different callers gave the same id. */
  readonly key?: string;
  readonly butler: string;
  readonly agent: string;
  readonly kind: "run" | "hook";
  readonly folder: string;
  readonly project?: string;
  /** In the log without secrets, and cut. */
  readonly prompt?: string;
  readonly at: string;
  /** "used", "empty", or why there was none. */
  readonly memory: string;
}

export interface SessionEnded {
  readonly id: string;
  readonly key?: string;
  readonly at: string;
  readonly state: "done" | "failed";
  readonly exit_code?: number;
  readonly episodes?: number;
  readonly tools?: readonly string[];
  readonly cost_usd?: number;
  readonly duration_ms?: number;
}

export type SessionLogEvent = { readonly started: SessionStarted } | { readonly ended: SessionEnded };

export interface Session extends SessionStarted, Omit<SessionEnded, "at" | "state"> {
  /** `lost`: it began more than a day ago and its end was not logged. */
  readonly state: "running" | "done" | "failed" | "lost";
  readonly ended_at?: string;
}

const LIMIT_BYTES = 5 * 1024 * 1024;
const PROMPT_LENGTH = 200;
/** Secrets are looked for in this much of a prompt: more than is kept, so that none is cut in two. */
const PROMPT_READ = 4_000;
const FIELD_LENGTH = 1_000;
const MOST_TOOLS = 100;
const LOST_MS = 24 * 60 * 60 * 1_000;

export const sessionLogFile = (home: Home) => join(home.logs, "sessions.jsonl");

export function noteSession(home: Home, event: SessionLogEvent): void {
  try {
    const line = "started" in event ? { started: kept(event.started) } : { ended: trimmed(event.ended) };
    mkdirSync(home.logs, { recursive: true, mode: 0o700 });
    rotate(sessionLogFile(home));
    append(sessionLogFile(home), `${JSON.stringify(line)}\n`);
  } catch {
    // A full disk, or a home that cannot be written, does not end the session.
  }
}

function kept(started: SessionStarted): SessionStarted {
  const { prompt } = started;
  const flat =
    prompt === undefined
      ? undefined
      : redact(withoutPrivate(prompt).text.slice(0, PROMPT_READ)).text.replace(/\s+/g, " ").trim();
  return { ...trimmed(started), ...(flat === undefined ? {} : { prompt: clip(flat, PROMPT_LENGTH) }) };
}

/** Cuts every field: only a small line is written by one system call. */
function trimmed<T extends object>(event: T): T {
  const fields = Object.entries(event).map(([name, value]) => {
    if (typeof value === "string") return [name, clip(withoutSecret(name, value), FIELD_LENGTH)];
    return [name, Array.isArray(value) ? value.slice(0, MOST_TOOLS).map((one) => clip(String(one), 100)) : value];
  });
  return Object.fromEntries(fields) as T;
}

/** Secrets in these fields are replaced by a hash, so that the same id stays the same. */
const IDS = new Set(["id", "key", "project"]);
const withoutSecret = (name: string, value: string) =>
  IDS.has(name) ? safeId(value.slice(0, PROMPT_READ)) : redact(value.slice(0, PROMPT_READ)).text;

/** Opened for appending and written at once, so that lines of several processes never mix. */
function append(file: string, text: string): void {
  const descriptor = openSync(file, "a", 0o600);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Two processes may find the file too large at the same moment. The file that was renamed is measured again: the second process has renamed the
 * new file, and appends its lines again.
 */
function rotate(file: string): void {
  if (sizeOf(file) <= LIMIT_BYTES) return;
  const taken = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    renameSync(file, taken);
  } catch {
    return;
  }
  if (sizeOf(taken) > LIMIT_BYTES) {
    renameSync(taken, `${file}.1`);
    return;
  }
  append(file, readFileSync(taken, "utf8"));
  rmSync(taken);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The newest first. Lines that cannot be read are left out. */
export function readSessions(home: Home, limit: number, now: Date = systemClock.now()): Session[] {
  const file = sessionLogFile(home);
  const sessions = new Map<string, Session>();
  for (const line of [...linesOf(`${file}.1`), ...linesOf(file)]) {
    const event = eventOf(line);
    if (event === undefined) continue;
    if ("started" in event) {
      const { started } = event;
      const name = started.key ?? started.id;
      sessions.delete(name);
      sessions.set(name, { ...started, state: isOld(started.at, now) ? "lost" : "running" });
    } else {
      const { at, ...ended } = event.ended;
      const name = ended.key ?? ended.id;
      const known = sessions.get(name);
      // Without a start: that was rotated away.
      if (known) sessions.set(name, { ...known, ...ended, ended_at: at });
    }
  }
  const newest = [...sessions.values()].reverse().sort((left, right) => Date.parse(right.at) - Date.parse(left.at));
  return newest.slice(0, Math.max(0, limit));
}

const isOld = (at: string, now: Date) => now.getTime() - Date.parse(at) > LOST_MS;

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** A line that was cut off when its writer died is followed by the next one without a line break. */
function eventOf(line: string): SessionLogEvent | undefined {
  const starts = [0, line.lastIndexOf('{"started":'), line.lastIndexOf('{"ended":')];
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

function isEvent(value: unknown): value is SessionLogEvent {
  if (typeof value !== "object" || value === null) return false;
  if ("started" in value)
    return (
      hasTexts(value.started, ["id", "butler", "agent", "kind", "folder", "at", "memory"]) && isTimed(value.started)
    );
  return "ended" in value && hasTexts(value.ended, ["id", "at", "state"]) && isTimed(value.ended);
}

const isTimed = (value: unknown) => !Number.isNaN(Date.parse(String((value as { at: string }).at)));

const hasTexts = (value: unknown, names: readonly string[]) =>
  typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "string");
