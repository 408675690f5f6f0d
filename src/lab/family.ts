/** A process with those that it started, such as the one with the model: what they take is taken for its sake. */
import { readdirSync, readFileSync } from "node:fs";
import { cpuMs, residentMb } from "./latency/processes.ts";

/** Where /proc is missing a process is alone. */
export function familyOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
    const children = lists.join(" ").split(/\s+/).filter(Boolean).map(Number);
    return [pid, ...children.flatMap(familyOf)];
  } catch {
    // Not Linux, or a thread that ended meanwhile.
    return [pid];
  }
}

const sum = (figures: readonly (number | null)[]): number | null =>
  figures[0] === null ? null : figures.reduce<number>((total, figure) => total + (figure ?? 0), 0);

/** Of this process; without its children where they cannot be known. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return familyCpuMs(process.pid) ?? (user + system) / 1_000;
}

export const familyCpuMs = (pid: number) => sum(familyOf(pid).map(cpuMs));
export const familyResidentMb = (pid: number) => sum(familyOf(pid).map(residentMb));
