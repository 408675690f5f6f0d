/** Real `butler` processes on throw-away homes. Needs `npm run build`; everything started here is ended by `cleanUp`. */

import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { inject } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { type OwnerNote, readOwnerNote } from "../../src/daemon/owner/owner-file.ts";
import { TEST_MODEL_CACHE } from "./model.ts";
import { PatientClient } from "./patient-client.ts";
import { SLOW_TIME } from "./slow-time.ts";
import { WHOLE } from "./whole-answers.ts";

const BUTLER = fileURLToPath(new URL("../../dist/main/butler.js", import.meta.url));

export type Variables = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const homes: string[] = [];
const clients: Client[] = [];
const children = new Set<ChildProcess>();

export function emptyHome(): string {
  const home = mkdtempSync(join(tmpdir(), "bh-"));
  homes.push(home);
  return home;
}

/** A home whose embedded store was created once in a run and is copied: a first start takes seconds. */
export async function seededHome(): Promise<string> {
  const home = emptyHome();
  cpSync(await seedOfRun(), home, { recursive: true });
  return home;
}

/** The test file that comes first makes it; of two at once, the one that is done first. */
async function seedOfRun(): Promise<string> {
  const seed = join(inject("seeds"), "home");
  if (existsSync(seed)) return seed;
  const fresh = mkdtempSync(join(inject("seeds"), "m-"));
  homes.push(fresh);
  let made = await butler(fresh, ["stats"]);
  // A first start has a limit of its own, which the busiest machine may pass.
  for (let tries = 1; made.code !== 0 && tries < 5; tries++) made = await butler(fresh, ["stats"]);
  if (made.code !== 0) {
    const log = homeAt(fresh).ownerLog;
    throw new Error(`no home could be made: ${made.stderr}\n${existsSync(log) ? readFileSync(log, "utf8") : "no log"}`);
  }
  await butler(fresh, ["stop"]);
  try {
    renameSync(fresh, seed);
  } catch (error) {
    if (!existsSync(seed)) throw error;
  }
  return seed;
}

/** Nothing of the developer's own set-up reaches the processes under test. */
export function variablesFor(home: string, more: Variables): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return {
    PATH,
    HOME,
    BUTLER_HOME: home,
    BUTLER_MODEL_DIR: TEST_MODEL_CACHE,
    // Commands of one test find the same owner, however slow the machine is; `cleanUp` ends it.
    BUTLER_IDLE_SECONDS: "30",
    BUTLER_PORT: "0",
    NO_COLOR: "1",
    ...SLOW_TIME,
    ...more,
  };
}

function start(home: string, args: readonly string[], more: Variables): ChildProcess {
  const child = spawn(process.execPath, [BUTLER, ...args], {
    env: variablesFor(home, more),
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Runs a command to its end. */
export async function butler(home: string, args: readonly string[], more: Variables = {}): Promise<Ended> {
  return ended(start(home, args, more));
}

function ended(child: ChildProcess): Promise<Ended> {
  return new Promise((done) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.once("close", (code) => done({ code, stdout, stderr }));
  });
}

/** Begins a command, which may be killed on its way. */
export function begin(home: string, args: readonly string[], more: Variables = {}) {
  const child = start(home, args, more);
  return { child, ended: ended(child) };
}

export interface Up {
  readonly child: ChildProcess;
  readonly address: string;
  readonly ended: Promise<Ended>;
}

/** `butler up --json`; resolves when it says that it is ready, rejects with its words when it ends first. */
export function up(home: string, args: readonly string[] = [], more: Variables = {}): Promise<Up> {
  const child = start(home, ["up", "--json", ...args], more);
  const end = ended(child);
  return new Promise((done, failed) => {
    let said = "";
    child.stdout?.on("data", (chunk: string) => {
      said += chunk;
      if (!said.includes("\n")) return;
      const note = JSON.parse(said) as OwnerNote & { error?: unknown };
      if (note.error === undefined) done({ child, address: note.address ?? "", ended: end });
    });
    void end.then(({ stdout, stderr }) => failed(new Error(`${stdout}${stderr}`)));
  });
}

export interface Agent {
  call(tool: string, input: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** What an agent does: starts `butler mcp` and speaks MCP with it over stdio. */
export async function agent(home: string, more: Variables = {}, args?: readonly string[]): Promise<Agent> {
  const client = await mcpClient(home, more, args);
  return {
    async call(tool, input) {
      const result = await client.callTool({ name: tool, arguments: input, _meta: WHOLE });
      if (result.isError) throw new Error(JSON.stringify(result.content));
      return result.structuredContent as Record<string, unknown>;
    },
    close: () => client.close(),
  };
}

/** The client of such an agent. */
export async function mcpClient(
  home: string,
  more: Variables = {},
  args: readonly string[] = ["--butler", "general"],
): Promise<Client> {
  const client = new PatientClient({ name: "test-agent", version: "1.0.0" });
  clients.push(client);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BUTLER, "mcp", ...args],
      env: variablesFor(home, more),
      stderr: "inherit",
    }),
  );
  return client;
}

export const ownerNote = (home: string): OwnerNote | undefined => readOwnerNote(homeAt(home));

/** Every process whose environment names this home (Linux). */
export function processesOf(home: string): number[] {
  const mark = `BUTLER_HOME=${home}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => environOf(name).includes(mark))
    .map(Number);
}

/** The processes that another one has started (Linux). */
export function childrenOf(parent: number): number[] {
  const threads = `/proc/${parent}/task`;
  return readdirSync(threads).flatMap((thread) =>
    readFileSync(`${threads}/${thread}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  );
}

function environOf(pid: string): string {
  try {
    return `${readFileSync(`/proc/${pid}/environ`, "utf8")}\0`;
  } catch {
    // It ended while we looked, or is another user's.
    return "";
  }
}

export const canListProcesses = existsSync("/proc/self/environ");

export async function cleanUp(): Promise<void> {
  await Promise.allSettled(clients.splice(0).map((client) => client.close()));
  for (const child of children) child.kill("SIGKILL");
  for (const home of homes.splice(0)) {
    if (canListProcesses) for (const pid of processesOf(home)) process.kill(pid, "SIGKILL");
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
