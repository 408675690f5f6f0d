/** SQL around peers on a server: the upkeep that autovacuum would do a minute later, and what the server's own processes cost. */
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { cpuMs } from "../latency/processes.ts";

export async function tidyDatabase(url: string): Promise<void> {
  const db = await openPostgres({ url, max: 1 });
  try {
    await db.query("vacuum analyze");
  } finally {
    await db.close();
  }
}

export interface ServerCpu {
  readonly byPid: ReadonlyMap<number, number>;
  /** Of all connections since an earlier look; those opened meanwhile count whole. */
  readonly since: number;
}

/** CPU time of the processes behind a database's connections; undefined where they are not on this machine. */
export async function serverCpuMs(url: string | undefined, earlier?: ServerCpu): Promise<ServerCpu | undefined> {
  if (url === undefined) return undefined;
  const db = await openPostgres({ url, max: 1 });
  try {
    const rows = await db.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    const times = rows.map(({ pid }) => [pid, cpuMs(pid)] as const);
    if (times.some(([, ms]) => ms === null)) return undefined;
    const byPid = new Map(times.map(([pid, ms]) => [pid, ms ?? 0]));
    const since = [...byPid].reduce((sum, [pid, ms]) => sum + ms - (earlier?.byPid.get(pid) ?? 0), 0);
    return { byPid, since };
  } finally {
    await db.close();
  }
}
