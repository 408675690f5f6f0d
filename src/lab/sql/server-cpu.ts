/** What a server costs that runs on this machine: its processes are found from the one behind a connection. */
import { readFileSync } from "node:fs";
import type { Sql } from "../../engine/adapters/db/port.ts";
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { familyOf } from "../family.ts";

const TICK_MS = 10;

/** Fields of /proc/<pid>/stat after the name, which may hold spaces; undefined where there is no such process to be seen. */
function statOf(pid: number): { name: string; fields: readonly string[] } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const end = stat.lastIndexOf(")");
    return { name: stat.slice(stat.indexOf("(") + 1, end), fields: stat.slice(end + 2).split(" ") };
  } catch {
    // Not Linux, another machine, or a process that has ended.
    return undefined;
  }
}

const ticks = (fields: readonly string[] | undefined, ...at: readonly number[]) =>
  at.reduce((sum, index) => sum + Number(fields?.[index] ?? 0), 0);

/** CPU time in milliseconds of all processes of the server since its start, those that have ended too; null where it is not on this machine. */
export async function serverCpuMs(sql: Sql): Promise<number | null> {
  const [row] = await sql.query<{ pid: number }>("select pg_backend_pid() as pid");
  const backend = statOf(row?.pid ?? 0);
  const main = Number(backend?.fields[1] ?? 0);
  const server = statOf(main);
  // The number of a process on another machine may be that of any program here.
  if (server?.name !== "postgres" || backend?.name !== "postgres") return null;
  const [, ...children] = familyOf(main);
  const ended = ticks(server.fields, 11, 12, 13, 14);
  return children.reduce((sum, pid) => sum + ticks(statOf(pid)?.fields, 11, 12), ended) * TICK_MS;
}

export async function serverCpuAt(url: string | undefined): Promise<number | null> {
  if (url === undefined) return null;
  const db = await openPostgres({ url, max: 1 });
  try {
    return await serverCpuMs(db);
  } finally {
    await db.close();
  }
}
