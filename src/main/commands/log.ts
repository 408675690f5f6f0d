import { type Home, homeAt } from "../../daemon/home.ts";
import type { OwnerClient } from "../../daemon/line/client.ts";
import { findOwner } from "../../daemon/owner/start-owner.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { findSessions } from "../../hosts/sessions/read-sessions.ts";
import type { Environment } from "../environment.ts";
import { askStream } from "../log/ask-stream.ts";
import { type Happening, together } from "../log/happenings.ts";
import { type LogReader, logReader } from "../log/log-reader.ts";
import { readSince } from "../log/since.ts";
import { watchHome } from "../log/watch.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chosenProject } from "../program/choose-project.ts";
import { type Context, readOptions } from "../program/command.ts";
import { logWriter } from "../words/log.ts";
import { memoryLine } from "../words/session.ts";

export const usage = `butler log [--no-follow] [--limit <n>] [--since <time>] [--session <id>] [--project auto|<key>] [--butler <name>]
           [--verbose] [--json]

What was remembered, by session: when one began and what it was told, what was stored, learned, changed, confirmed, forgotten.
On a terminal it goes on with what happens next, until Ctrl-C; --no-follow ends after the past, --follow goes on elsewhere too.
--since takes a time (2026-05-01, 2026-05-01T09:30) or an age (30m, 2h, 7d); --session the id of a session or how it begins;
--verbose also shows the memories that a session was told; --json prints one JSON object a line.
Following asks nobody while nothing happens, and starts no owner; --limit 0 shows nothing of the past.`;

const LIMIT = 20;

const OPTIONS = {
  follow: { type: "boolean" },
  "no-follow": { type: "boolean" },
  limit: { type: "string" },
  since: { type: "string" },
  session: { type: "string" },
  project: { type: "string" },
  butler: { type: "string" },
  verbose: { type: "boolean" },
  json: { type: "boolean" },
} as const;

interface Shown {
  readonly client: OwnerClient;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly lines: ReturnType<typeof logWriter>;
  say(line: string): void;
}

export async function run(args: readonly string[], { environment, say, note }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, OPTIONS);
  const home = homeAt(environment.home);
  const now = environment.now === undefined ? systemClock.now() : new Date(environment.now);
  const limit = readLimit(values.limit, values.since);
  const filter = {
    butler: values.butler,
    session: values.session === undefined ? undefined : wholeSession(home, values.session),
    project: values.project === undefined ? undefined : chosenProject(values.project, environment),
    since: readSince(values.since, now),
  };
  const terminal = process.stdout.isTTY === true;
  const follows = values["no-follow"] !== true && (values.follow ?? terminal);
  const reader = logReader({ home, filter, now, note });
  const client = ownerClient(environment);
  try {
    const butlers = limit === 0 ? await runningButlers(home, client) : (await client.butlers()).map(({ name }) => name);
    const asked = butlers.filter((name) => filter.butler === undefined || name === filter.butler);
    if (filter.butler !== undefined && limit > 0 && asked.length === 0)
      throw invalid("butler", `There is no butler "${filter.butler}"; there is ${butlers.join(", ")}.`);
    const shown: Shown = {
      client,
      say,
      verbose: values.verbose ?? false,
      json: values.json ?? false,
      lines: logWriter({
        colour: environment.colour && terminal,
        width: Math.max(60, process.stdout.columns ?? 120),
        several: butlers.length > 1,
      }),
    };
    // With --limit 0 only the place is found where following begins.
    const before = await reader.past(client, asked, Math.max(1, limit));
    await show(shown, limit === 0 ? [] : before);
    if (limit > 0 && before.length === 0 && !shown.json) note("Nothing has happened yet.");
    if (follows) await follow({ home, environment, reader, shown, note });
    return 0;
  } finally {
    client.close();
  }
}

/** Nothing of the past is wanted, so no owner is started for it. */
async function runningButlers(home: Home, client: OwnerClient): Promise<string[]> {
  if ((await findOwner(home, 2_000)) === undefined) return [];
  return (await client.butlers()).map(({ name }) => name);
}

interface Following {
  readonly home: Home;
  readonly environment: Environment;
  readonly reader: LogReader;
  readonly shown: Shown;
  note(line: string): void;
}

async function follow({ home, environment, reader, shown, note }: Following): Promise<void> {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  // An owner that has gone is not started again only because somebody looks.
  const client = ownerClient({ ...environment, autostart: false });
  const watch = watchHome(home, stopped.signal);
  if ((await findOwner(home, 2_000).catch(() => undefined)) === undefined)
    note("No owner is running; what happens is shown when one does.");
  try {
    for (let woken = await watch.next(); woken !== undefined; woken = await watch.next())
      await show({ ...shown, client }, await reader.next(client, woken.butlers));
  } finally {
    watch.close();
    client.close();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}

async function show({ client, verbose, json, lines, say }: Shown, happenings: readonly Happening[]): Promise<void> {
  for (const happening of json || verbose ? happenings : together(happenings)) {
    if (json) say(JSON.stringify(happening));
    else for (const line of lines.lines(happening)) say(line);
    if (!verbose || json || happening.ids === undefined) continue;
    const told = await askStream(client, happening.butler, { ids: happening.ids });
    const seen = new Map("failure" in told ? [] : told.events.map(({ entity_id, memory }) => [entity_id, memory]));
    for (const id of happening.ids) say(lines.below((width) => memoryLine(id, seen.get(id), width)));
  }
}

/** A session that is not in the log any more must be named whole. */
function wholeSession(home: Home, beginning: string): string {
  const ids = [...new Set(findSessions(home, beginning).map(({ session }) => session.id))];
  if (ids.length > 1)
    throw invalid("session", `"${beginning}" begins several sessions: ${ids.slice(0, 5).join(", ")}.`);
  return ids[0] ?? beginning;
}

function readLimit(text: string | undefined, since: string | undefined): number {
  if (text === undefined) return since === undefined ? LIMIT : Number.MAX_SAFE_INTEGER;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 0 && limit <= 1_000) return limit;
  throw invalid("limit", `--limit is "${text}"; it must be a number from 0 to 1000.`);
}
