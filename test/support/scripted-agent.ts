/**
 * An agent on the PATH that writes down how it was started and does what its script says: answers, fails, hangs, leaves processes behind,
 * writes a transcript as Claude Code does, calls the MCP server that it was given.
 */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { PATIENCE } from "./patience.ts";

export interface Step {
  /** What it answers; a JSON result for a `claude`, plain words otherwise. */
  readonly result?: string;
  readonly isError?: boolean;
  readonly code?: number;
  /** Printed word for word, in the place of a result. */
  readonly raw?: string;
  readonly stderr?: string;
  /** Written as a transcript where Claude Code keeps them: one entry an exchange. */
  readonly transcript?: readonly { readonly prompt?: string; readonly tool?: string; readonly answer: string }[];
  /** Called over MCP; what comes back stands in the record. */
  readonly call?: { readonly tool: string; readonly input: Record<string, unknown> };
  /** Never ends by itself; `stubborn` does not listen to SIGTERM either. */
  readonly hang?: "polite" | "stubborn";
  /** Leaves a process behind that would live on. */
  readonly stray?: boolean;
}

/** How it was started, as it has seen it. */
export interface Start {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: string;
  readonly system: string;
  readonly mcp: { readonly mcpServers: Readonly<Record<string, { command: string; args: string[] }>> } | null;
  /** Modes of the files that were handed over. */
  readonly modes: readonly number[];
  readonly pid: number;
  readonly child?: number;
  readonly called?: { readonly result?: { readonly isError?: boolean; readonly structuredContent?: unknown } };
}

const source = (folder: string) => `#!${process.execPath}
const fs = require("node:fs");
const path = require("node:path");
const crypto = require("node:crypto");
const { spawn } = require("node:child_process");
const folder = ${JSON.stringify(folder)};
const steps = JSON.parse(fs.readFileSync(folder + "/steps.json", "utf8"));
const nth = fs.readdirSync(folder + "/starts").filter((name) => name.endsWith(".json")).length;
const step = steps[Math.min(nth, steps.length - 1)];
const argv = process.argv.slice(2);
const { env } = process;
const flag = (name) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
const read = (file) => (file ? fs.readFileSync(file, "utf8") : undefined);
const stdin = fs.readFileSync(0, "utf8");
const files = [env.BUTLER_SYSTEM_FILE, env.BUTLER_MCP_CONFIG, flag("--append-system-prompt-file")].filter(Boolean);
const system =
  flag("--append-system-prompt") ?? read(flag("--append-system-prompt-file")) ?? read(env.BUTLER_SYSTEM_FILE) ?? "";
const mcp = JSON.parse(flag("--mcp-config") ?? read(env.BUTLER_MCP_CONFIG) ?? "null");
const modes = files.map((file) => fs.statSync(file).mode & 0o777);
const living = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
const child =
  step.stray || step.hang ? spawn(process.execPath, ["-e", living], { stdio: "inherit" }).pid : undefined;
const start = { argv, env, cwd: process.cwd(), stdin, system, mcp, modes, pid: process.pid, child };
const keep = (more) => {
  const place = folder + "/starts/" + String(nth).padStart(4, "0");
  fs.writeFileSync(place + ".new", JSON.stringify({ ...start, ...more }));
  fs.renameSync(place + ".new", place + ".json");
};
const session = crypto.randomUUID();

function transcribe() {
  const kept = path.join(env.CLAUDE_CONFIG_DIR || path.join(env.HOME, ".claude"), "projects", "-some-place");
  fs.mkdirSync(kept, { recursive: true });
  const common = () => ({ uuid: crypto.randomUUID(), sessionId: session, cwd: process.cwd(),
    timestamp: new Date().toISOString(), version: "2.1.197", isSidechain: false, userType: "external" });
  const lines = step.transcript.flatMap(({ prompt = stdin, tool, answer }, place) => {
    const said = (content, more = {}) => ({ type: "assistant", ...common(),
      message: { id: "msg_" + place + (more.part ?? ""), type: "message", role: "assistant", model: "m", content, usage: {} } });
    const use = { type: "tool_use", id: "toolu_" + place, name: tool, input: { command: "npm test" } };
    const back = [{ type: "tool_result", tool_use_id: "toolu_" + place, content: "all green" }];
    return [
      { type: "user", ...common(), parentUuid: null, message: { role: "user", content: prompt } },
      ...(tool ? [said([use], { part: "a" }), { type: "user", ...common(), message: { role: "user", content: back } }] : []),
      said([{ type: "text", text: answer }], { part: "b" }),
    ];
  });
  fs.writeFileSync(path.join(kept, session + ".jsonl"), lines.map((line) => JSON.stringify(line) + "\\n").join(""));
}

function callTool() {
  const { command, args, env: more } = mcp.mcpServers.memory;
  const server = spawn(command, args, { env: { ...env, ...more }, stdio: ["pipe", "pipe", "inherit"] });
  const tell = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const about = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "scripted", version: "1" } };
  let text = "";
  return new Promise((done) => {
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const lines = text.split("\\n");
      text = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        if (message.id === 1) {
          tell({ method: "notifications/initialized" });
          tell({ id: 2, method: "tools/call", params: { name: step.call.tool, arguments: step.call.input } });
        }
        if (message.id === 2) {
          server.stdin.end();
          server.once("exit", () => done(message));
        }
      }
    });
    tell({ id: 1, method: "initialize", params: about });
  });
}

async function main() {
  if (step.hang === "stubborn") for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});
  keep({});
  if (step.stderr) fs.writeSync(2, step.stderr);
  if (step.hang) return setInterval(() => {}, 1000);
  if (step.call) keep({ called: await callTool() });
  if (step.transcript) transcribe();
  const claude = path.basename(process.argv[1]) === "claude";
  const result = step.result ?? step.transcript?.at(-1)?.answer ?? "done";
  const printed = { type: "result", subtype: "success", is_error: step.isError ?? false, result, session_id: session,
    num_turns: 1, stop_reason: "end_turn", total_cost_usd: 0.0125, usage: { input_tokens: 9, output_tokens: 3 } };
  // Large answers must be out before the end.
  process.stdout.write(step.raw ?? (claude ? JSON.stringify(printed) : result) + "\\n", () => process.exit(step.code ?? 0));
}
void main();
`;

export interface ScriptedAgent {
  /** To be put on the PATH. */
  readonly bin: string;
  readonly path: string;
  plan(...steps: readonly Step[]): void;
  starts(): readonly Start[];
  /** Resolves when it has been started this often. */
  started(times?: number): Promise<Start>;
  close(): void;
}

export function scriptedAgent(name = "claude"): ScriptedAgent {
  const folder = mkdtempSync(join(tmpdir(), "butler-agent-"));
  const bin = join(folder, "bin");
  const kept = join(folder, "starts");
  mkdirSync(bin);
  writeFileSync(join(bin, name), source(folder), { mode: 0o755 });
  // Whatever package.json lies above the folder of temporary files.
  writeFileSync(join(bin, "package.json"), '{"type":"commonjs"}');
  const starts = () =>
    !existsSync(kept)
      ? []
      : readdirSync(kept)
          .filter((file) => file.endsWith(".json"))
          .sort()
          .map((file) => JSON.parse(readFileSync(join(kept, file), "utf8")) as Start);
  return {
    bin,
    path: join(bin, name),
    plan(...steps) {
      rmSync(kept, { recursive: true, force: true });
      mkdirSync(kept);
      writeFileSync(join(folder, "steps.json"), JSON.stringify(steps));
    },
    starts,
    async started(times = 1) {
      for (;;) {
        const last = starts()[times - 1];
        if (last) return last;
        await new Promise((done) => setTimeout(done, 20));
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Also false for a process that has ended and was not buried yet. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** A process that was killed takes a moment to be gone. */
export const gone = (...pids: readonly number[]) =>
  vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { ...PATIENCE, interval: 20 });
