import { type Home, homeAt } from "../../daemon/home.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid, notFound } from "../../engine/domain/errors.ts";
import { neutralLine } from "../../engine/domain/text/neutral.ts";
import { findSessions, readSessions, type Session, type SessionRecord } from "../../hosts/sessions/read-sessions.ts";
import { sessionReport } from "../log/session-report.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { type Context, readOptions } from "../program/command.ts";
import { sessionWords } from "../words/session.ts";

export const usage = `butler sessions [--limit <n>] [--butler <name>] [--json]
butler sessions show <id> [--json]

Sessions of agents with the memory of this home, the newest first: those that butler run started and those of installed hooks.
MEMORY is what a session started with: used, empty (nothing was known), off, or why there was none.
show tells of one session, by its id or how that begins, what it was told, what was stored of it and what was learned from it;
memories that were forgotten meanwhile are shown as forgotten.`;

const LIMIT = 20;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  if (args[0] === "show") return show(args.slice(1), context);
  const { environment, say } = context;
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

async function show(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, { json: { type: "boolean" } }, true);
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0)
    throw invalid("id", "Which session? butler sessions show <id>; butler sessions --json lists them.");
  const record = theSession(homeAt(environment.home), id);
  const client = ownerClient(environment);
  try {
    const report = await sessionReport(client, record);
    const terminal = process.stdout.isTTY === true;
    const style = { colour: environment.colour && terminal, width: Math.max(60, process.stdout.columns ?? 140) };
    if (values.json) say(JSON.stringify(report, null, 2));
    else for (const line of sessionWords(report, style)) say(line);
    return report.why === undefined ? 0 : 1;
  } finally {
    client.close();
  }
}

function theSession(home: Home, beginning: string): SessionRecord {
  const [found, ...more] = findSessions(home, beginning);
  if (found === undefined)
    throw notFound(`There is no session "${beginning}" in the log; butler sessions shows those that are.`);
  if (more.length === 0) return found;
  const names = [found, ...more].map(({ session: { id, key, agent } }) => `${agent} ${key ?? id}`);
  throw invalid("id", `"${beginning}" means several sessions: ${names.slice(0, 5).join(", ")}.`);
}

function table(sessions: readonly Session[]): string[] {
  const head = ["WHEN", "SESSION", "BUTLER", "AGENT", "PROJECT", "STATE", "SECONDS", "MEMORY", "EPISODES", "PROMPT"];
  const rows = sessions.map((session) => [
    session.at.slice(0, 16).replace("T", " "),
    session.id.slice(0, 8),
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
  // Agents choose their ids, and prompts hold anything.
  const all = [head, ...rows.map((row) => row.map(neutralLine))];
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
