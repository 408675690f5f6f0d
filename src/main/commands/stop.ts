import { homeAt } from "../../daemon/home.ts";
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { type Context, readOptions } from "../program/command.ts";

export const usage = `butler stop [--json]

Stops the process that owns the memory of this home: calls under way are finished, stores are closed.`;

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, { json: { type: "boolean" } });
  const stopped = await stopOwner(homeAt(environment.home));
  if (values.json) say(JSON.stringify({ stopped: stopped !== undefined, ...(stopped ? { pid: stopped.pid } : {}) }));
  else say(stopped ? `Stopped (process ${stopped.pid}).` : "Nothing was running.");
  return 0;
}
