import { randomUUID } from "node:crypto";
import type { OwnerClient } from "../../daemon/line/client.ts";
import { renderError } from "../../doors/cli/render.ts";
import { type ExitCode, exitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import type { Failure, Outcome } from "../../engine/tools/outcome.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { historyTable, listTable, reportLines, type ShownJob, type ShownRun } from "../words/jobs.ts";
import { waitingLine } from "../words/progress.ts";

export const usage = `butler job list [--butler <name>] [--json]
butler job run <job> [--butler <name>] [--dry-run] [--json]
butler job history [--job <job>] [--limit <n>] [--butler <name>] [--json]

Jobs are what a memory does by itself: forgetting, promoting, cleaning. list shows when each ran and when it runs next;
run does it now, with --dry-run it only says what would change; history shows what ran and how it went.
Schedules stand in butler.toml under [butler.schedule].`;

const HISTORY_LIMIT = 20;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const [verb, ...rest] = args;
  const client = ownerClient(context.environment);
  try {
    if (verb === "list") return await list(rest, client, context);
    if (verb === "run") return await runJob(rest, client, context);
    if (verb === "history") return await history(rest, client, context);
  } finally {
    client.close();
  }
  throw invalid("arguments", verb === undefined ? usage : `butler job has no "${verb}": list, run or history.`);
}

async function list(args: readonly string[], client: OwnerClient, context: Context): Promise<ExitCode> {
  const { values } = readOptions(args, { butler: { type: "string" }, json: { type: "boolean" } });
  const { butler } = values;
  const outcome = await client.jobs({ ask: "list", ...(butler === undefined ? {} : { butler }) });
  return show(outcome, values.json, context, (answer) => listTable(answer.jobs as ShownJob[]));
}

async function history(args: readonly string[], client: OwnerClient, context: Context): Promise<ExitCode> {
  const { values } = readOptions(args, {
    butler: { type: "string" },
    job: { type: "string" },
    limit: { type: "string" },
    json: { type: "boolean" },
  });
  const { job } = values;
  const limit = readLimit(values.limit);
  const butler = await chooseButler(client, values.butler);
  const outcome = await client.jobs({ ask: "history", butler, limit, ...(job === undefined ? {} : { job }) });
  return show(outcome, values.json, context, (answer) => historyTable(answer.runs as ShownRun[]));
}

async function runJob(args: readonly string[], client: OwnerClient, context: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(
    args,
    { butler: { type: "string" }, "dry-run": { type: "boolean" }, json: { type: "boolean" } },
    true,
  );
  const [job, ...more] = positionals;
  if (job === undefined || more.length > 0)
    throw invalid("job", "Which job? butler job run <job>; butler job list shows them.");
  const butler = await chooseButler(client, values.butler);
  const { now } = context.environment;
  const request = {
    ask: "run",
    butler,
    job,
    dry_run: values["dry-run"] ?? false,
    ticket: randomUUID(),
    ...(now === undefined ? {} : { now }),
  } as const;
  const waiting = waitingLine(`${job} is running`);
  let outcome = await client.jobs(request);
  while (outcome.ok && outcome.answer.state === "running") outcome = await client.jobs(request);
  waiting.done();
  const shown = show(outcome, values.json, context, (answer) => reportLines(answer as typeof answer & ShownRun));
  return outcome.ok && outcome.answer.state !== "done" ? 1 : shown;
}

function show(
  outcome: Outcome,
  json: boolean | undefined,
  context: Context,
  words: (answer: Record<string, unknown>) => string[],
): ExitCode {
  if (!outcome.ok) return refuse(outcome.error, json === true, context);
  if (json) context.say(JSON.stringify(outcome.answer, null, 2));
  else for (const line of words(outcome.answer)) context.say(line);
  return 0;
}

function refuse(error: Failure, json: boolean, { environment, say, note }: Context): ExitCode {
  const options = { json, colour: environment.colour && process.stderr.isTTY === true };
  if (json) say(renderError(error, options));
  else note(renderError(error, options));
  return exitCode(error.code);
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return HISTORY_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit;
  throw invalid("limit", `--limit is "${text}"; it must be a number from 1 to 1000.`);
}
