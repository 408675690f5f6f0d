/** Transcripts made by hand, with invented content. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Exchange, readExchanges, type TranscriptAgent } from "../../src/hosts/transcripts/read.ts";

export type Row = Record<string, unknown>;

let serial = 0;
const COMMON = {
  sessionId: "5e551011-0000-4000-8000-000000000001",
  cwd: "/home/dev/shop",
  isSidechain: false,
  version: "2.1.325",
};
const stamp = () => new Date(Date.UTC(2026, 4, 1, 9, 0, serial)).toISOString();

/** Lines of Claude Code. */
export const claude = {
  user: (content: unknown, more: Row = {}): Row => ({
    ...{ ...COMMON, type: "user", uuid: `u${++serial}`, timestamp: stamp() },
    ...{ message: { role: "user", content }, ...more },
  }),
  says: (text: string, more: Row = {}): Row => claude.block({ type: "text", text }, more),
  block: (block: Row, more: Row = {}): Row => ({
    ...{ ...COMMON, type: "assistant", uuid: `a${++serial}`, timestamp: stamp() },
    ...{ message: { id: `msg_${serial}`, role: "assistant", model: "m", content: [block] }, ...more },
  }),
  uses: (id: string, name: string, input: Row = {}): Row => claude.block({ type: "tool_use", id, name, input }),
  result: (id: string, content: unknown, more: Row = {}, line: Row = {}): Row =>
    claude.user([{ type: "tool_result", tool_use_id: id, content, ...more }], { toolUseResult: "…", ...line }),
};

/** Lines of Codex. */
export const codex = {
  meta: (more: Row = {}): Row =>
    codex.line("session_meta", {
      ...{ id: "0199aaaa-0000-7000-8000-000000000001", timestamp: "2026-05-01T09:00:00.000Z", cwd: "/home/dev/shop" },
      ...{ originator: "codex_cli_rs", cli_version: "0.60.0", source: "cli", ...more },
    }),
  line: (type: string, payload: Row): Row => ({
    timestamp: `2026-05-01T09:${String(++serial % 60).padStart(2, "0")}:00.000Z`,
    type,
    payload,
  }),
  item: (payload: Row): Row => codex.line("response_item", payload),
  message: (role: string, text: string): Row => ({
    ...{ type: "message", role },
    content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
  }),
  /** As it is recorded: for the model, and as what was typed. */
  asks: (text: string): Row[] => [
    codex.item(codex.message("user", text)),
    codex.line("event_msg", { type: "user_message", message: text, images: [] }),
  ],
  says: (text: string): Row[] => [
    codex.line("event_msg", { type: "agent_message", message: text }),
    codex.item(codex.message("assistant", text)),
  ],
  runs: (id: string, command: unknown, output: unknown, name = "shell"): Row[] => [
    codex.item({ type: "function_call", name, arguments: JSON.stringify({ command }), call_id: id }),
    codex.item({ type: "function_call_output", call_id: id, output }),
  ],
};

export const jsonl = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** In a folder that is gone afterwards. */
export async function inFile<T>(content: string | Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "transcript-"));
  try {
    const path = join(folder, "transcript.jsonl");
    writeFileSync(path, content);
    return await use(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface How {
  readonly from?: number;
  readonly final?: boolean;
  readonly signal?: AbortSignal;
}

export async function all(
  agent: TranscriptAgent,
  path: string,
  { final = true, ...how }: How = {},
): Promise<Exchange[]> {
  const found: Exchange[] = [];
  for await (const exchange of readExchanges({ agent, path, final, ...how })) found.push(exchange);
  return found;
}

export const read = (agent: TranscriptAgent, content: string | Uint8Array, how: How = {}): Promise<Exchange[]> =>
  inFile(content, (path) => all(agent, path, how));

export const contents = async (agent: TranscriptAgent, rows: readonly Row[]): Promise<string[]> =>
  (await read(agent, jsonl(rows))).map(({ content }) => content);
