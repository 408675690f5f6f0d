/** Reads transcripts as exchanges: in chunks, from any byte on, in memory that does not grow with the file. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { claudeCode, isClaudeLine } from "./claude-code.ts";
import { codex, isCodexLine } from "./codex.ts";
import { collecting } from "./collect.ts";
import { type Json, jsonOf, linesOf, objectIn, textIn, timeIn } from "./lines.ts";
import type { LineReader, Step } from "./step.ts";

export const TRANSCRIPT_AGENTS = ["claude-code", "codex"] as const;
export type TranscriptAgent = (typeof TRANSCRIPT_AGENTS)[number];

export const isTranscriptAgent = (agent: string): agent is TranscriptAgent =>
  TRANSCRIPT_AGENTS.some((known) => known === agent);

export interface Exchange {
  /** Stable within its session: the id of the prompt's line, or its position. */
  readonly key: string;
  /** ISO time of the prompt. */
  readonly at: string;
  readonly content: string;
  /** Tools that were used, and `correction`, `failure`, `decision`. */
  readonly tags: readonly string[];
  /** The byte after its last line, where a later reading goes on. */
  readonly next: number;
}

export interface ReadOptions {
  readonly agent: TranscriptAgent;
  readonly path: string;
  readonly from?: number;
  /** The turn is over: the last exchange is complete. */
  readonly final: boolean;
  readonly signal?: AbortSignal;
  /** Called for each exchange that cannot be read: it is left out, and the others are read. */
  spoiled?(): void;
}

export interface TranscriptHead {
  readonly session: string;
  readonly folder: string | undefined;
  readonly started: string | undefined;
  readonly agent: TranscriptAgent;
}

/** Throws only when the file cannot be read. When aborted it ends early, without the exchange it was reading. */
export async function* readExchanges(options: ReadOptions): AsyncGenerator<Exchange> {
  const { agent, path, from, final, signal } = options;
  const head = await readHead(agent, path);
  if (head === undefined || (await isOfSubagent(agent, path))) return;
  const reader = agent === "codex" ? codex(head.folder) : claudeCode(head.folder);
  const wanted = agent === "codex" ? isCodexLine : isClaudeLine;
  const collected = collecting(head.started ?? (await stat(path)).mtime.toISOString(), options.spoiled);
  for await (const line of linesOf({ path, wanted, signal, ...(from === undefined ? {} : { from }) })) {
    const json = jsonOf(line.text);
    if (json === undefined) continue;
    for (const step of stepsOf(reader, json, line.start)) {
      const over = collected.add(step, line.end);
      if (over !== undefined) yield over;
    }
  }
  const last = final && !signal?.aborted ? collected.last() : undefined;
  if (last !== undefined) yield last;
}

/** A line that makes its reader fail counts as a command, so that what follows is not taken for an answer to the prompt before. */
function stepsOf(reader: LineReader, line: Json, position: number): readonly Step[] {
  try {
    return reader(line, position);
  } catch {
    return [{ kind: "command" }];
  }
}

const HEAD_LINES = 200;
const HEAD_BYTES = 8 * 1024 * 1024;

/** Reads the first lines only. Undefined: this is no transcript of that agent. */
export async function readHead(agent: TranscriptAgent, path: string): Promise<TranscriptHead | undefined> {
  let session = "";
  let folder: string | undefined;
  let started: string | undefined;
  let lines = 0;
  for await (const { text, end } of linesOf({ path, to: HEAD_BYTES })) {
    const json = jsonOf(text);
    const told = json === undefined ? undefined : agent === "codex" ? codexHead(json, path) : claudeHead(json);
    session ||= told?.session ?? "";
    folder ??= told?.folder;
    started ??= told?.started;
    const known = session !== "" && folder !== undefined && started !== undefined;
    if (known || ++lines >= HEAD_LINES || end > HEAD_BYTES) break;
  }
  return session === "" ? undefined : { session, folder, started, agent };
}

interface Told {
  readonly session?: string;
  readonly folder: string | undefined;
  readonly started: string | undefined;
}

function claudeHead(line: Json): Told {
  return { session: textIn(line.sessionId), folder: textIn(line.cwd) || undefined, started: timeIn(line.timestamp) };
}

const IN_NAME = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i;
const CODEX_TYPES = new Set("session_meta response_item event_msg turn_context compacted".split(" "));
const ITEM_TYPES = new Set("message function_call function_call_output reasoning local_shell_call".split(" "));

function codexHead(line: Json, path: string): Told {
  const payload = objectIn(line.payload);
  const inside = line.type === "session_meta" || line.type === "turn_context" ? payload : line;
  const folder = textIn(inside.cwd) || undefined;
  const started = timeIn(payload.timestamp) ?? timeIn(line.timestamp);
  if (line.type === "session_meta") return { session: textIn(payload.id), folder, started };
  const named = IN_NAME.exec(basename(path))?.[1] ?? "";
  if (CODEX_TYPES.has(textIn(line.type)) && "payload" in line) return { session: named, folder, started };
  // Older files begin with `{id, timestamp, instructions}`, and their lines are the items themselves.
  if (line.type === undefined && textIn(line.id) !== "" && started !== undefined && line.sessionId === undefined)
    return { session: textIn(line.id), folder, started };
  const item = ITEM_TYPES.has(textIn(line.type)) && line.sessionId === undefined && line.uuid === undefined;
  return { session: item ? named : "", folder: environmentFolder(line), started };
}

/** The folder of an old rollout, which only its text holds. */
function environmentFolder(line: Json): string | undefined {
  if (line.type !== "message" || line.role !== "user") return undefined;
  const text = JSON.stringify(line.content) ?? "";
  return /<cwd>([^<]+)<\/cwd>/.exec(text)?.[1]?.trim();
}

/** A sub-agent of Codex has a transcript of its own; its result is in the main one. */
async function isOfSubagent(agent: TranscriptAgent, path: string): Promise<boolean> {
  if (agent !== "codex") return false;
  for await (const { text } of linesOf({ path, to: HEAD_BYTES })) {
    const json = jsonOf(text);
    if (json === undefined) continue;
    const { source, thread_source } = objectIn(json.payload);
    return (
      thread_source === "subagent" ||
      /subagent/i.test(typeof source === "string" ? source : Object.keys(objectIn(source)).join())
    );
  }
  return false;
}
