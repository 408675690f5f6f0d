import { homeAt } from "../../daemon/home.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { readSessions, type Session } from "../../hosts/sessions/read-sessions.ts";
import { type Context, readOptions } from "../program/command.ts";

export const usage = `butler sessions [--limit <n>] [--butler <name>] [--json]

Sessions of agents with the memory of this home, the newest first: those that butler run started and those of installed hooks.
MEMORY is what a session started with: used, empty (nothing was known), off, or why there was none.`;

const LIMIT = 20;

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, {
    limit: { type: "string" },
    butler: { type: "string" },
    json: { type: "boolean" },
  });
  const limit = readLimit(values.limit);
  const all = readSessions(homeAt(environment.home), Number.POSITIVE_INFINITY);
  const { butler } = values;
  const sessions = all.filter((session) => butler === undefined || session.butler === butler).slice(0, limit);
  if (values.json) say(JSON.stringify({ sessions }, null, 2));
  else if (sessions.length === 0) say("No session has run yet.");
  else for (const line of table(sessions)) say(line);
  return 0;
}

function table(sessions: readonly Session[]): string[] {
  const head = ["WHEN", "BUTLER", "AGENT", "PROJECT", "STATE", "SECONDS", "MEMORY", "EPISODES", "PROMPT"];
  const rows = sessions.map((session) => [
    session.at.slice(0, 16).replace("T", " "),
    session.butler,
    session.agent,
    session.project ?? "-",
    session.exit_code === undefined || session.exit_code === 0
      ? session.state
      : `${session.state} (${session.exit_code})`,
    session.duration_ms === undefined ? "-" : (session.duration_ms / 1_000).toFixed(1),
    short(session.memory, 40),
    session.episodes === undefined ? "-" : String(session.episodes),
    short(session.prompt ?? "", 60),
  ]);
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

const short = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw invalid("limit", `--limit is "${text}"; it must be a number from 1 to 10000.`);
}
