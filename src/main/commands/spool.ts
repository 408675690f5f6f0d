import { homeAt } from "../../daemon/home.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { failedFolder } from "../../hosts/hooks/spool/files.ts";
import { retryFailed } from "../../hosts/hooks/spool/rows.ts";
import { type Problem, spoolState } from "../../hosts/hooks/spool/state.ts";
import { type Context, readOptions } from "../program/command.ts";

export const usage = `butler spool [retry] [--json]

What agents said and the owner has not stored: what waits, what failed and is tried again, and what was put aside after nine attempts
or because it can never be stored, each with the code of its failure. What was put aside is kept for 30 days as files in the home's
spool/failed. When the cause is gone, retry lets the owner store it again, within a minute.`;

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, { json: { type: "boolean" } }, true);
  const [word, ...more] = positionals;
  if ((word !== undefined && word !== "retry") || more.length > 0) throw invalid("arguments", usage);
  const home = homeAt(environment.home);
  if (word === "retry") {
    const retried = retryFailed(home);
    say(
      values.json ? JSON.stringify({ retried }) : `${retried} exchanges wait again; the owner looks within a minute.`,
    );
    return 0;
  }
  const state = spoolState(home);
  if (values.json) {
    say(JSON.stringify(state, null, 2));
    return 0;
  }
  say(`${state.waiting} exchanges wait to be stored.`);
  for (const problem of state.troubled) say(`${wordsOf(problem)}; tried again at ${problem.retry_at}`);
  for (const problem of state.failed) say(`${wordsOf(problem)}; put aside in ${failedFolder(home)}`);
  return 0;
}

const wordsOf = ({ what, name, butler = "unknown", code, attempts, said_at }: Problem): string =>
  `${what} ${name} of butler ${butler}${said_at === undefined ? "" : `, said at ${said_at}`}: ${code} (${attempts} attempts)`;
