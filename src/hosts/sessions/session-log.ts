/**
 * The log of sessions: one JSON line an event, in the logs of the home. It is for people and nothing depends on it, so a fault of the log
 * never fails a session.
 */
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../../daemon/home.ts";
import type { Policy } from "../../engine/domain/redaction/policy.ts";
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

/** The first prompt of a session whose start brought none: a hook is handed the prompt after it. */
export interface SessionAsked {
  readonly id: string;
  readonly key?: string;
  readonly at: string;
  /** In the log without secrets, and cut. */
  readonly prompt: string;
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

/** Memories that a session was given. Their text is not kept here: what is forgotten later must not stay readable in a log. */
export interface SessionTold {
  readonly id: string;
  readonly key?: string;
  readonly at: string;
  readonly ids: readonly string[];
  readonly tokens: number;
}

export type SessionLogEvent =
  | { readonly started: SessionStarted }
  | { readonly asked: SessionAsked }
  | { readonly told: SessionTold }
  | { readonly ended: SessionEnded };

const LIMIT_BYTES = 5 * 1024 * 1024;
const PROMPT_LENGTH = 200;
/** Secrets are looked for in this much of a prompt: more than is kept, so that none is cut in two. */
const PROMPT_READ = 4_000;
const FIELD_LENGTH = 1_000;
/** Of tools, or of memories that were told at once. */
const LONGEST_LIST = 100;

export const sessionLogFile = (home: Home) => join(home.logs, "sessions.jsonl");

/** `policy`: what else is taken out of a prompt, as the settings of its butler say. */
export function noteSession(home: Home, event: SessionLogEvent, policy?: Policy): void {
  try {
    const [name, noted] = Object.entries(event)[0] ?? [];
    const line = { [String(name)]: "prompt" in noted ? kept(noted, policy) : trimmed(noted) };
    mkdirSync(home.logs, { recursive: true, mode: 0o700 });
    rotate(sessionLogFile(home));
    append(sessionLogFile(home), `${JSON.stringify(line)}\n`);
  } catch {
    // A full disk, or a home that cannot be written, does not end the session.
  }
}

function kept<T extends { readonly prompt?: string }>(noted: T, policy: Policy | undefined): T {
  const { prompt } = noted;
  if (prompt === undefined) return trimmed(noted);
  const own = redact(withoutPrivate(prompt).text.slice(0, PROMPT_READ)).text;
  const flat = (policy === undefined ? own : redact(own, policy).text).replace(/\s+/g, " ").trim();
  return { ...trimmed(noted), prompt: clip(flat, PROMPT_LENGTH) };
}

/** Cuts every field: only a small line is written by one system call. */
function trimmed<T extends object>(event: T): T {
  const fields = Object.entries(event).map(([name, value]) => {
    if (typeof value === "string") return [name, clip(withoutSecret(name, value), FIELD_LENGTH)];
    return [name, Array.isArray(value) ? value.slice(0, LONGEST_LIST).map((one) => clip(String(one), 100)) : value];
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
