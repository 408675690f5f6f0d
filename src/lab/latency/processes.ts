/** Measures real processes on the built store: time to the first answer, memory, and what the local socket adds. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { OwnerClient } from "../../daemon/line/client.ts";
import type { OwnerNote } from "../../daemon/owner/owner-file.ts";
import { MemoryError, unavailable } from "../../engine/domain/errors.ts";
import { type Report, round, spread } from "../figures.ts";
import { callThrough, openMcpLine, type Program, shakeHands } from "../mcp-line.ts";
import { inputsOf, KINDS } from "../measure.ts";

/** Milliseconds from the start of `butler call memory_search …` to its end. */
export async function timeCommand(program: Program, query: string): Promise<number> {
  const started = performance.now();
  const input = JSON.stringify({ query, limit: 5 });
  const child = start(program, ["call", "memory_search", "--butler", program.butler, "--json", input]);
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const code = await new Promise<number | null>((done) => child.once("close", done));
  if (code !== 0) throw unavailable(`butler call ended with ${code}: ${said.trim()}`);
  return performance.now() - started;
}

const start = (program: Program, words: readonly string[]): ChildProcess =>
  spawn(program.command, [...program.args, ...words], { env: program.env, stdio: ["pipe", "pipe", "pipe"] });

export async function measureSocket(
  client: OwnerClient,
  owner: OwnerNote,
  butler: string,
  queries: number,
  seed: number,
) {
  const socket: Record<string, Report["socket"][string]> = {};
  for (const [index, kind] of KINDS.filter(({ name }) => !/keyword|semantic/.test(name)).entries()) {
    const times: number[] = [];
    const before = cpuMs(owner.pid);
    for (const input of inputsOf(kind, queries, seed + index)) {
      const started = performance.now();
      const outcome = await client.invoke(butler, { tool: kind.tool, input });
      times.push(performance.now() - started);
      if (!outcome.ok) throw new MemoryError(outcome.error.code, `${kind.tool}: ${outcome.error.message}`);
    }
    const after = cpuMs(owner.pid);
    socket[kind.name] = {
      ...spread(times),
      cpu_ms: before === null || after === null ? null : round((after - before) / times.length),
    };
  }
  return socket;
}

/** Starts `butler mcp`, calls a tool as an agent does, and reads its memory. */
export async function weighProxy(
  program: Program,
  query: string,
): Promise<{ resident: number | null; unshared: number | null }> {
  const line = openMcpLine(program);
  try {
    await shakeHands(line);
    await callThrough(line, "memory_search", { query });
    return { resident: residentMb(line.pid), unshared: unsharedMb(line.pid) };
  } finally {
    await line.close();
  }
}

/** Where /proc is missing these are unknown, not zero. */
export const residentMb = (pid: number) => fieldMb(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m);
const unsharedMb = (pid: number) => fieldMb(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m);

function fieldMb(file: string, pattern: RegExp): number | null {
  const kilobytes = pattern.exec(readProc(file) ?? "")?.[1];
  return kilobytes === undefined ? null : Math.round((Number(kilobytes) * 1024) / 1e6);
}

/** Fields 14 and 15 of stat, in ticks of 10 ms; the name in field 2 may hold spaces. */
export function cpuMs(pid: number): number | null {
  const fields = readProc(`/proc/${pid}/stat`)?.split(") ")[1]?.split(" ");
  return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * 10;
}

function readProc(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Not Linux, or a process of another user.
    return undefined;
  }
}
